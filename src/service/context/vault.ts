// Secrets at rest, and keyed digests of secrets, with one key. Digests and sealed texts contain the id of their key.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'

/** The beginning of sealed texts. */
export const SEALED = 'sealed:'

/** Seals and opens secrets. */
export interface Vault {
  /** Identifies the key without revealing anything of it. */
  readonly keyId: string
  /** Returns a text that only this vault opens, and that differs each time. */
  seal(secret: string): string
  /** Returns the secret of a sealed text, and any other text as it is. Throws if the text was sealed with another key. */
  open(sealed: string): string
  /** Returns the same text for the same secret and key: secrets can be compared without being revealed. */
  digest(secret: string): string
  /** Returns a secret for a purpose, 256 bits in base64url; always the same for the same key. */
  derive(purpose: string): string
}

/** Opens a vault with a key of at least 32 bytes, from a file that all replicas share. */
export function openVault(key: Uint8Array): Vault {
  const id = createHash('sha256').update(key).digest('hex').slice(0, 8)
  const deriveKey = (purpose: string) => createSecretKey(Buffer.from(hkdfSync('sha256', key, '', purpose, 32)))
  const sealingKey = deriveKey('regent secrets at rest')
  const digestKey = deriveKey('regent keyed digests')
  return {
    keyId: id,
    seal(secret) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce)
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return `${SEALED}${id}:${Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')}`
    },
    open(sealed) {
      if (!isSealed(sealed)) return sealed
      const [keyId, body] = [getSealingKeyId(sealed), sealed.split(':')[2]]
      if (keyId !== id) throw new Error(`A secret is sealed with the key ${keyId}, but the vault has the key ${id}.`)
      const bytes = Buffer.from(body!, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', sealingKey, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
    },
    derive: (purpose) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32)).toString('base64url'),
    digest: (secret) => `digest:${id}:${createHmac('sha256', digestKey).update(secret).digest('base64url')}`,
  }
}

/** Returns the id of the key with which a text was sealed. */
export function getSealingKeyId(sealed: string): string {
  return sealed.slice(SEALED.length).split(':')[0]!
}

/** Whether the text is a sealed secret. */
export function isSealed(text: string): boolean {
  return text.startsWith(SEALED)
}
