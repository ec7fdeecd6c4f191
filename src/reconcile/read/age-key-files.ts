// The keys of age with which a command or server decrypts documents: from files, and from the variables of SOPS.
import { readFile } from 'node:fs/promises'
import { AgeKeyError, type FindAgeKeys, parseAgeKeys } from '../../realm-file/age-keys.ts'

/** The origins of keys. All of them count. */
export interface AgeKeyOrigins {
  /** A key file of age. */
  readonly file?: string | undefined
  /** The variables `SOPS_AGE_KEY`, with keys, and `SOPS_AGE_KEY_FILE`. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Returns a function that reads the keys, again at each call. It throws AgeKeyError for a file that cannot be read or is not valid. */
export function createAgeKeyFinder({ file, env = {} }: AgeKeyOrigins): FindAgeKeys {
  const { SOPS_AGE_KEY: text, SOPS_AGE_KEY_FILE: sopsFile } = env
  return async () => {
    const keys = text ? parseAgeKeys('SOPS_AGE_KEY', text) : []
    for (const path of new Set([file, sopsFile])) if (path) keys.push(...(await readKeyFile(path)))
    return keys
  }
}

async function readKeyFile(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new AgeKeyError(
      `the key file ${path} cannot be read (${error.code}): check --age-key-file and SOPS_AGE_KEY_FILE`,
    )
  })
  const keys = parseAgeKeys(`the key file ${path}`, text)
  if (!keys.length) throw new AgeKeyError(`the key file ${path} has no key: write a line with AGE-SECRET-KEY-…`)
  return keys
}
