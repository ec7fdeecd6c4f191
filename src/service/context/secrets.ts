// The secrets of representations: sealed where they are kept, digests where they are compared, in the clear for who may.
import { assemble, type FlatFields, flatten, isSecret } from '../../kinds/compare.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import type { Vault } from './vault.ts'

/** The flat fields of a live object with its secrets as keyed digests: what may be compared, shown and kept. */
export function digested(vault: Vault, kind: Kind, representation: Representation): FlatFields {
  return mapSecrets(kind, flatten(kind, representation), (secret) => vault.digest(vault.open(secret)))
}

/** The representation with its secrets in the clear. */
export function revealed(vault: Vault, kind: Kind, representation: Representation): Representation {
  return assemble(
    kind,
    mapSecrets(kind, flatten(kind, representation), (secret) => vault.open(secret)),
  )
}

/** Flat fields with their secrets sealed: what may be kept. */
export function sealed(vault: Vault, kind: Kind, flat: FlatFields): FlatFields {
  return mapSecrets(kind, flat, (secret) => vault.seal(secret))
}

/** Flat fields with each secret replaced by what the function makes of it. */
export function mapSecrets(kind: Kind, flat: FlatFields, change: (secret: string) => string): FlatFields {
  return Object.fromEntries(
    Object.entries(flat).map(([path, value]) => [
      path,
      value !== null && isSecret(kind, path) ? changeTexts(value, change) : value,
    ]),
  )
}

/** A text, or each of a list of texts, whose order never matters; what is neither is no secret of this sort. */
export function changeTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string')
  return isList ? (value as string[]).map(change).sort() : value
}
