// Identity providers: whether one is offered at log-in was one of its settings.
import { removeLegacySettings } from '../../kinds/identity-provider.ts'
import { isObject } from '../../kinds/json.ts'
import type { FormatConverter } from './format-converter.ts'

/** The earlier setting as the field that took its place. */
export const identityProviders: FormatConverter = {
  read(realm, { recordMove: moved }) {
    if (!Array.isArray(realm.identityProviders)) return realm
    const providers = realm.identityProviders.map((provider, at) => {
      if (!isObject(provider) || !isObject(provider.config ?? null)) return provider
      const today = removeLegacySettings(provider)
      const place = ['identityProviders', at]
      if (today !== provider) moved([...place, 'hideOnLogin'], [...place, 'config', 'hideOnLoginPage'])
      return today
    })
    return { ...realm, identityProviders: providers }
  },
  write: (realm) => realm,
}
