// Settings that a realm declares as attributes, as exports of early versions of Keycloak do.
import { listAttributeSettings, readAttributeSettings } from '../../kinds/attribute-settings.ts'
import type { FormatConverter } from './format-converter.ts'

/** Reads attributes that are settings. */
export const attributeSettings: FormatConverter = {
  read(realm, { recordMove, warn }) {
    const converted = readAttributeSettings(realm)
    for (const name of listAttributeSettings(realm)) {
      recordMove([name], ['attributes', name])
      if ((realm[name] ?? null) !== null && realm[name] !== converted[name])
        warn(
          ['attributes', name],
          `attributes.${name} takes precedence over ${name}, as in Keycloak: declare one of them`,
        )
    }
    return converted
  },
  write: (realm) => realm,
}
