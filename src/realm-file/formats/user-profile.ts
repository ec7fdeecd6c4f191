// The user profile as keycloak-config-cli states it: kept it is a component.
import { componentPath } from '../../kinds/component.ts'
import { formatUserProfile, PROFILE_SETTING } from '../../kinds/component-config.ts'
import { USER_PROFILE } from '../../kinds/component-types.ts'
import { isObject, type Json } from '../../kinds/json.ts'
import { describeType } from '../message-words.ts'
import type { FormatConverter } from './format-converter.ts'

/** A user profile as the component that holds it. */
export const userProfile: FormatConverter = {
  read({ userProfile: profile = null, ...realm }, { report, recordMove: moved }) {
    if (profile === null || !Array.isArray(realm.components ?? [])) return realm
    if (!isObject(profile)) {
      report(
        ['userProfile'],
        `userProfile must be an object, not ${describeType(profile)}: begin it with "attributes:"`,
      )
      return realm
    }
    const components = (realm.components ?? []) as Json[]
    moved(['components', components.length], ['userProfile'])
    moved(['components', components.length, 'config'], ['userProfile'])
    const component = {
      path: componentPath('', { providerType: USER_PROFILE }),
      providerId: 'declarative-user-profile',
      config: { [PROFILE_SETTING]: [formatUserProfile(profile)] },
    }
    return { ...realm, components: [...components, component] }
  },
  write: (realm) => realm,
}
