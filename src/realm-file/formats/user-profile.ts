// The user profile as keycloak-config-cli declares it. Regent has a component.
import { formatComponentPath } from '../../kinds/component.ts'
import { formatUserProfile, PROFILE_SETTING } from '../../kinds/component-config.ts'
import { USER_PROFILE } from '../../kinds/component-types.ts'
import { isList, isObject } from '../../kinds/json.ts'
import { describeType } from '../message-words.ts'
import type { FormatConverter } from './format-converter.ts'

/** Reads a user profile as its component. */
export const userProfile: FormatConverter = {
  read({ userProfile: profile = null, ...realm }, { report, recordMove }) {
    const components = realm.components ?? []
    if (profile === null || !isList(components)) return realm
    if (!isObject(profile)) {
      report(
        ['userProfile'],
        `userProfile must be an object, not ${describeType(profile)}: begin it with "attributes:"`,
      )
      return realm
    }
    recordMove(['components', components.length], ['userProfile'])
    recordMove(['components', components.length, 'config'], ['userProfile'])
    const component = {
      path: formatComponentPath('', { providerType: USER_PROFILE }),
      providerId: 'declarative-user-profile',
      config: { [PROFILE_SETTING]: [formatUserProfile(profile)] },
    }
    return { ...realm, components: [...components, component] }
  },
  write: (realm) => realm,
}
