// Fields with values that other readers must not see: secrets in plain text, and encrypted values of fields that are no secrets.
import { type FlatFields, isSecret } from '../kinds/compare.ts'
import { isList, isObject, type Json } from '../kinds/json.ts'
import type { Kind } from '../kinds/kind.ts'
import { parseVaultReference } from '../kinds/vault-reference.ts'
import type { DocumentPath } from '../lib/source-position.ts'
import { toFieldPath } from './object-origin.ts'
import { transformTextsByPath } from './substitute-variables.ts'
import { parseGeneratedSecret } from './variables.ts'
import type { Document } from './yaml/document.ts'

const NONE: readonly string[] = []

/** Returns the paths of declared secrets that are in plain text. `isFromVariable` returns whether the text at a path comes from a variable. */
export function listLiteralSecrets(
  kind: Kind,
  fields: FlatFields,
  isFromVariable: (path: DocumentPath) => boolean,
): readonly string[] {
  const paths = Object.entries(fields)
    .filter(([path]) => isSecret(kind, path))
    .filter(([path, value]) => listPlainTexts(value, toFieldPath(kind, path)).some((text) => !isFromVariable(text)))
    .map(([path]) => path)
  return paths.length ? paths : NONE
}

/** Returns the paths of declared fields that are no secrets, and whose values are encrypted in the file. */
export function listEncryptedFields(
  kind: Kind,
  fields: FlatFields,
  isEncrypted: (path: DocumentPath) => boolean,
): readonly string[] {
  const paths = Object.keys(fields).filter((path) => !isSecret(kind, path) && isEncrypted(toFieldPath(kind, path)))
  return paths.length ? paths : NONE
}

/** Returns the texts of documents that are encrypted in their files. */
export function listEncryptedTexts(documents: readonly Document[]): ReadonlySet<string> {
  const texts = new Set<string>()
  for (const { value, isEncrypted } of documents)
    if (isEncrypted([]))
      transformTextsByPath(value, (text, path) => {
        if (isEncrypted(path)) texts.add(text)
        return text
      })
  return texts
}

/** Returns the paths of the texts in a secret that reveal it. References to a vault and generated secrets do not. */
function listPlainTexts(value: Json, path: DocumentPath): DocumentPath[] {
  if (typeof value === 'string') {
    const isReference =
      value === '' || parseVaultReference(value) !== undefined || parseGeneratedSecret(value) !== undefined
    return isReference ? [] : [path]
  }
  if (isList(value)) return value.flatMap((element, at) => listPlainTexts(element, [...path, at]))
  if (!isObject(value)) return []
  // A credential: `secretData` is a hash of a password, but the secret of one-time codes in plain text.
  const secretMembers = value.type === 'otp' ? ['value', 'secretData'] : ['value']
  return secretMembers.flatMap((name) => listPlainTexts(value[name] ?? null, [...path, name]))
}
