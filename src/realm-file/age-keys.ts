// Keys of age, which decrypt the data keys of files that SOPS has encrypted.
import type { SopsMetadata } from './sops-metadata.ts'

/** Returns the secret keys of age, `AGE-SECRET-KEY-…`. Called where a file is encrypted. */
export type FindAgeKeys = () => Promise<readonly string[]>

/** A key that cannot be used. The message does not contain it. */
export class AgeKeyError extends Error {}

/**
 * Returns the secret keys in a text, in the format of age's key files: one in a line, with comments. `name`: that of the text in messages.
 * Throws AgeKeyError for any other line.
 */
export function parseAgeKeys(name: string, text: string): string[] {
  return text.split('\n').flatMap((content, index) => {
    const line = content.trim()
    if (line === '' || line.startsWith('#')) return []
    if (/^AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]+$/.test(line)) return [line]
    const kind = line.startsWith('AGE-PLUGIN-')
      ? 'a key of a plugin of age, which is not supported'
      : 'no secret key of age'
    throw new AgeKeyError(`${name}, line ${index + 1}, is ${kind}: write a line with AGE-SECRET-KEY-…`)
  })
}

/** Decrypts the data key of a file. Returns undefined if none of the keys can. Throws AgeKeyError for a key that is not valid. */
export async function decryptDataKey(
  { recipients }: Pick<SopsMetadata, 'recipients'>,
  keys: readonly string[],
): Promise<Uint8Array | undefined> {
  // Loaded on demand, since most files are not encrypted.
  const { armor, Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  for (const key of keys) {
    try {
      decrypter.addIdentity(key)
    } catch {
      throw new AgeKeyError('a secret key of age is not valid: copy it again from the output of age-keygen')
    }
  }
  for (const { encryptedDataKey } of recipients) {
    // Each recipient has a file of its own, which the keys of others cannot decrypt.
    const dataKey = await decryptOne(() => decrypter.decrypt(armor.decode(encryptedDataKey)))
    if (dataKey?.length === DATA_KEY_LENGTH) return dataKey
  }
  return undefined
}

/** Bytes of the key for AES-256. */
const DATA_KEY_LENGTH = 32

const decryptOne = (decrypt: () => Promise<Uint8Array>): Promise<Uint8Array | undefined> =>
  decrypt().catch(() => undefined)
