// Secrets that stand in a document as they are, for whoever reads it: neither variables nor hashes.
import { type FlatFields, isSecret } from '../../kinds/compare.ts'
import { isList, type Json } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import type { Path } from '../../lib/position.ts'
import { generatedIn } from '../variables.ts'
import { steps } from './origin.ts'

const NONE: readonly string[] = []

/** The paths of such secrets among stated fields, less those that are left out. `varies`: whether a variable made the text at a path. */
export function literalSecrets(
  kind: Kind,
  fields: FlatFields,
  left: readonly string[],
  varies: (path: Path) => boolean,
): readonly string[] {
  const found = Object.entries(fields).filter(
    ([path, value]) =>
      isSecret(kind, path) && !left.includes(path) && textsIn(value, steps(kind, path)).some((one) => !varies(one)),
  )
  return found.length ? found.map(([path]) => path) : NONE
}

/** Where texts of a secret stand that tell it. */
function textsIn(value: Json, path: Path): Path[] {
  if (typeof value === 'string') {
    const elsewhere = value === '' || value.startsWith('${vault.') || generatedIn(value) !== undefined
    return elsewhere ? [] : [path]
  }
  if (isList(value)) return value.flatMap((one, at) => textsIn(one, [...path, at]))
  if (value === null || typeof value !== 'object') return []
  // A credential: of a password, `secretData` is a hash; of one-time codes it is what they are made from.
  const telling = value.type === 'otp' ? ['value', 'secretData'] : ['value']
  return telling.flatMap((name) => textsIn(value[name] ?? null, [...path, name]))
}
