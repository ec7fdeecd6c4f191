// The secrets of representations: sealed in the store, digests in comparisons, in plain text for callers that may see them.
import { type FlatFields, flatten, isSecret, mapRepresentation } from '../../kinds/compare.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import type { Vault } from './vault.ts'

/** Returns the flat fields of a live object with its secrets as keyed digests, which may be compared, shown and stored. */
export function digestSecrets(vault: Vault, kind: Kind, representation: Representation): FlatFields {
  return mapSecrets(kind, flatten(kind, representation), (secret) => vault.digest(vault.open(secret)))
}

/** Returns the representation with its secrets in plain text. */
export function openSecrets(vault: Vault, kind: Kind, representation: Representation): Representation {
  const open = (secret: string) => vault.open(secret)
  return mapRepresentation(kind, representation, (secret) => transformTexts(secret, open))
}

/** Returns flat fields with their secrets sealed, as they are stored. */
export function sealSecrets(vault: Vault, kind: Kind, flat: FlatFields): FlatFields {
  return mapSecrets(kind, flat, (secret) => vault.seal(secret))
}

/** Returns flat fields with the function applied to each secret. */
export function mapSecrets(kind: Kind, flat: FlatFields, transform: (secret: string) => string): FlatFields {
  return Object.fromEntries(
    Object.entries(flat).map(([path, value]) => [
      path,
      value !== null && isSecret(kind, path) ? transformTexts(value, transform) : value,
    ]),
  )
}

/** Applies the function to a text, or to each of a list of texts, which it sorts. Other values are returned as they are. */
export function transformTexts(value: Json, transform: (text: string) => string): Json {
  if (typeof value === 'string') return transform(value)
  const isTextList = Array.isArray(value) && value.every((element) => typeof element === 'string')
  return isTextList ? value.map(transform).sort() : value
}
