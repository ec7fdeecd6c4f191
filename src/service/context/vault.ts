// Secrets at rest, and keyed digests of secrets, with one key. A digest and a sealed text carry the id of their key.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'

const SEALED = 'sealed:'

/** Seals and opens secrets. */
export interface Vault {
  /** Tells one key from another, and nothing of it. */
  readonly keyId: string
  /** A text that only this vault opens; each time another one. */
  seal(secret: string): string
  /** The secret of a sealed text; a text that is not sealed is returned as it is. Throws when the key is another one. */
  open(sealed: string): string
  /** The same text for the same secret and key: two secrets can be compared without either being shown. */
  digest(secret: string): string
  /** A secret for that purpose, 256 bits in base64url: always the same for the same key. */
  derive(purpose: string): string
}

/** A vault with the key: 32 bytes or more, from a file that all replicas share. */
export function openVault(key: Uint8Array): Vault {
  const id = createHash('sha256').update(key).digest('hex').slice(0, 8)
  const derive = (purpose: string) => createSecretKey(Buffer.from(hkdfSync('sha256', key, '', purpose, 32)))
  const sealing = derive('regent secrets at rest')
  const digesting = derive('regent keyed digests')
  return {
    keyId: id,
    seal(secret) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce)
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return `${SEALED}${id}:${Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')}`
    },
    open(sealed) {
      if (!isSealed(sealed)) return sealed
      const [keyId, body] = [sealedBy(sealed), sealed.split(':')[2]]
      if (keyId !== id) throw new Error(`a secret was sealed with the key ${keyId}, and the key setting holds ${id}`)
      const bytes = Buffer.from(body!, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
    },
    derive: (purpose) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32)).toString('base64url'),
    digest: (secret) => `digest:${id}:${createHmac('sha256', digesting).update(secret).digest('base64url')}`,
  }
}

/** The id of the key that a sealed text was sealed with. */
export function sealedBy(sealed: string): string {
  return sealed.slice(SEALED.length).split(':')[0]!
}

/** Whether the text is a sealed secret. */
export function isSealed(text: string): boolean {
  return text.startsWith(SEALED)
}
