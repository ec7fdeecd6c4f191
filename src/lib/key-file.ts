// Public keys in uploaded files: certificates, PEM keys and JSON Web Key Sets.
import { createPublicKey, type JsonWebKey, X509Certificate } from 'node:crypto'

/** A public key from a file. Key and certificate are DER in Base64 without line breaks, but a PEM public key is kept as PEM. */
export interface KeyFile {
  readonly publicKey: string
  readonly certificate?: string
  readonly kid?: string
  /** The complete key set. Its first signing key is the public key. */
  readonly jwks?: string
}

/** Returns the key in the text of a file; undefined if the format is unknown, or the text does not have it. */
export function readKeyFile(format: string, text: string): KeyFile | undefined {
  try {
    return formats.get(format)?.(text)
  } catch {
    return undefined
  }
}

const formats: ReadonlyMap<string, (text: string) => KeyFile> = new Map([
  ['Certificate PEM', readCertificate],
  ['Public Key PEM', readPublicKeyPem],
  ['JSON Web Key Set', readKeySet],
])

function readCertificate(text: string): KeyFile {
  const pem = text.includes('-----BEGIN') ? text : `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`
  const { raw, publicKey } = new X509Certificate(pem)
  return { publicKey: toDer(publicKey), certificate: raw.toString('base64') }
}

function readPublicKeyPem(text: string): KeyFile {
  if (!text.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('The file has no public key.')
  createPublicKey(text)
  return { publicKey: text }
}

function readKeySet(text: string): KeyFile {
  const { keys }: { readonly keys: readonly (JsonWebKey & { use?: string; kid?: string })[] } = JSON.parse(text)
  const key = keys.find(({ use }) => use === 'sig')!
  const publicKey = toDer(createPublicKey({ key, format: 'jwk' }))
  return { publicKey, ...(key.kid !== undefined && { kid: key.kid }), jwks: text }
}

function toDer(key: ReturnType<typeof createPublicKey>): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64')
}
