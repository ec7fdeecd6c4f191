// References to secrets in the vault: `${vault.key}` in place of a secret.

import { resolveField } from './compare.ts'
import { isList, type Json } from './json.ts'
import type { Kind } from './kind.ts'

/** Returns the key of a reference to a secret in the vault; undefined for any other text. Keycloak: DefaultVaultTranscriber. */
export function parseVaultReference(text: string): string | undefined {
  return /^\$\{vault\.(.+)\}$/.exec(text)?.[1]
}

/** Returns the references to the vault in the value of a field. A text is one only in fields that are read from the vault. */
export function listVaultReferences(kind: Kind, path: string, value: Json): string[] {
  const { key, field } = resolveField(kind, path)
  const { vaultSecrets } = field
  if (vaultSecrets !== true && (key === undefined || !vaultSecrets?.includes(key))) return []
  const values: readonly Json[] = isList(value) ? value : [value]
  return values.filter((text) => typeof text === 'string').filter((text) => parseVaultReference(text) !== undefined)
}
