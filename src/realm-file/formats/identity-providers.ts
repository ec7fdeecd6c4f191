// Identity providers: whether one is hidden on the login page used to be a setting in its config.
import { removeLegacySettings } from '../../kinds/identity-provider.ts'
import { isList, isObject } from '../../kinds/json.ts'
import type { FormatConverter } from './format-converter.ts'

/** Reads the legacy setting as the field `hideOnLogin`. */
export const identityProviders: FormatConverter = {
  read(realm, { recordMove }) {
    if (!isList(realm.identityProviders)) return realm
    const providers = realm.identityProviders.map((provider, at) => {
      if (!isObject(provider) || !isObject(provider.config ?? null)) return provider
      const converted = removeLegacySettings(provider)
      const path = ['identityProviders', at]
      if (converted !== provider) recordMove([...path, 'hideOnLogin'], [...path, 'config', 'hideOnLoginPage'])
      return converted
    })
    return { ...realm, identityProviders: providers }
  },
  write: (realm) => realm,
}
