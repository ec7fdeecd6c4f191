// Identity providers: whether one is offered at log-in was one of its settings.
import { withoutEarlierSettings } from '../../kinds/identity-provider.ts'
import { isObject } from '../form.ts'
import type { Form } from './form.ts'

/** The earlier setting as the field that took its place. */
export const identityProviders: Form = {
  read(realm, { moved }) {
    if (!Array.isArray(realm.identityProviders)) return realm
    const providers = realm.identityProviders.map((provider, at) => {
      if (!isObject(provider) || !isObject(provider.config ?? null)) return provider
      const today = withoutEarlierSettings(provider)
      const place = ['identityProviders', at]
      if (today !== provider) moved([...place, 'hideOnLogin'], [...place, 'config', 'hideOnLoginPage'])
      return today
    })
    return { ...realm, identityProviders: providers }
  },
  write: (realm) => realm,
}
