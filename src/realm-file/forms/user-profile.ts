// The user profile as keycloak-config-cli states it: kept it is a component.
import { componentPath } from '../../kinds/component.ts'
import { PROFILE_SETTING, profileText } from '../../kinds/component-settings.ts'
import { USER_PROFILE } from '../../kinds/component-types.ts'
import type { Json } from '../../kinds/json.ts'
import { isObject } from '../form.ts'
import { found } from '../words.ts'
import type { Form } from './form.ts'

/** A user profile as the component that holds it. */
export const userProfile: Form = {
  read({ userProfile: profile = null, ...realm }, { report, moved }) {
    if (profile === null || !Array.isArray(realm.components ?? [])) return realm
    if (!isObject(profile)) {
      report(['userProfile'], `userProfile must be an object, not ${found(profile)}: begin it with "attributes:"`)
      return realm
    }
    const components = (realm.components ?? []) as Json[]
    moved(['components', components.length], ['userProfile'])
    moved(['components', components.length, 'config'], ['userProfile'])
    const component = {
      path: componentPath('', { providerType: USER_PROFILE }),
      providerId: 'declarative-user-profile',
      config: { [PROFILE_SETTING]: [profileText(profile)] },
    }
    return { ...realm, components: [...components, component] }
  },
  write: (realm) => realm,
}
