// Public keys in the files in which people have them.
import { createPublicKey, type JsonWebKeyInput, X509Certificate } from 'node:crypto'

/** What a file says of a key: Base64 of DER, without line breaks, but a PEM public key as it stands in the file. */
export interface KeyFile {
  readonly publicKey: string
  readonly certificate?: string
  readonly kid?: string
  /** The whole key set that the key is the first signing key of. */
  readonly jwks?: string
}

/** The key in the text of a file; undefined when the text is not of that format, or the format is none of these. */
export function readKeyFile(format: string, text: string): KeyFile | undefined {
  try {
    return formats.get(format)?.(text)
  } catch {
    return undefined
  }
}

const formats: ReadonlyMap<string, (text: string) => KeyFile> = new Map([
  ['Certificate PEM', certificate],
  ['Public Key PEM', publicKeyPem],
  ['JSON Web Key Set', keySet],
])

function certificate(text: string): KeyFile {
  const pem = text.includes('-----BEGIN') ? text : `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`
  const { raw, publicKey } = new X509Certificate(pem)
  return { publicKey: derOf(publicKey), certificate: raw.toString('base64') }
}

function publicKeyPem(text: string): KeyFile {
  if (!text.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('no public key')
  createPublicKey(text)
  return { publicKey: text }
}

function keySet(text: string): KeyFile {
  const { keys } = JSON.parse(text) as { keys: { use?: string; kid?: string }[] }
  const key = keys.find(({ use }) => use === 'sig')!
  const publicKey = derOf(createPublicKey({ key, format: 'jwk' } as JsonWebKeyInput))
  return { publicKey, ...(key.kid !== undefined && { kid: key.kid }), jwks: text }
}

function derOf(key: ReturnType<typeof createPublicKey>): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64')
}
