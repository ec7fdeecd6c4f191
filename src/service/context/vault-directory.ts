// Secrets of realms in files, to which realms refer by `${vault.key}`. Keycloak: FilesPlainTextVaultProvider.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseVaultReference } from '../../kinds/vault-reference.ts'

/** The secrets of realms in a directory. */
export interface VaultDirectory {
  /** Whether there is a directory. */
  readonly isSet: boolean
  /** Returns the content of a file; undefined if the directory has no such file, or it cannot be read. */
  read(fileName: string): Promise<string | undefined>
}

/**
 * Returns the content of a file in a directory; undefined if there is none of that name, or it cannot be read. A name that is not listed is not
 * read: it may be a path, or differ in case from the file of another realm.
 */
export async function readListedFile(directory: string, fileName: string): Promise<Buffer | undefined> {
  try {
    return (await readdir(directory)).includes(fileName) ? await readFile(join(directory, fileName)) : undefined
  } catch {
    return undefined
  }
}

/** Returns the secrets of a directory; none without a directory. A file is read each time, so that it can be replaced. */
export function openVaultDirectory(directory: string | undefined): VaultDirectory {
  return {
    isSet: directory !== undefined,
    async read(fileName) {
      return directory === undefined ? undefined : (await readListedFile(directory, fileName))?.toString('utf8')
    },
  }
}

/**
 * Returns the secret to which a text refers, or the text itself if it is no reference. Only secrets of the realm can be referred to.
 *
 * @throws UnresolvedReference
 */
export async function resolveSecret(vaultDirectory: VaultDirectory, realm: string, text: string): Promise<string> {
  const key = parseVaultReference(text)
  if (key === undefined) return text
  const fileName = toFileName(realm, key)
  const secret = fileName === undefined ? undefined : await vaultDirectory.read(fileName)
  if (secret === undefined) throw new UnresolvedReference(vaultDirectory, realm, key)
  return secret
}

/** A reference to a secret that does not exist, or cannot be read. */
export class UnresolvedReference extends Error {
  override readonly name = 'UnresolvedReference'
  /** Advice for administrators, as a sentence. */
  readonly advice: string

  constructor({ isSet }: VaultDirectory, realm: string, key: string) {
    const advice = advise(toFileName(realm, key), isSet)
    super(`the vault has no secret "${key}" of the realm "${realm}". ${advice}`)
    this.advice = advice
  }
}

function advise(fileName: string | undefined, hasDirectory: boolean): string {
  if (fileName === undefined) return 'Choose a key that does not begin with an underscore and contains no slash.'
  return hasDirectory
    ? `Add the file ${fileName} to the directory of --vault-dir, readable by the server.`
    : `Start the server with --vault-dir, a directory with the file ${fileName}.`
}

/**
 * Returns the name of the file of a secret; undefined if its key cannot be used. Keycloak: the key resolver REALM_UNDERSCORE_KEY.
 *
 * No two realms share a file: underscores are doubled, so that the only odd number of them ends with the separator. Keycloak also accepts a
 * key that begins with an underscore, and reads `a___b` for the key `b` of the realm `a_` as well as for the key `_b` of the realm `a`.
 */
function toFileName(realm: string, key: string): string | undefined {
  if (key.startsWith('_') || /[/\\]/.test(key)) return undefined
  return [realm, key].map((name) => name.replaceAll('_', '__')).join('_')
}
