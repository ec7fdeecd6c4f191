// The keys of a realm, parsed from the config of its key components.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  X509Certificate,
} from 'node:crypto'
import { findKeyProvider, type KeyProvider, type KeyUse } from '../../kinds/key-providers.ts'

/** OpenSSL's names of curves, by their names in config. */
export const OPENSSL_CURVES: Readonly<Record<string, string>> = {
  'P-256': 'prime256v1',
  'P-384': 'secp384r1',
  'P-521': 'secp521r1',
}
/** Signature algorithms by OpenSSL's name of their curve. */
const EC_ALGORITHMS: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }
/** The size from which RSA keys may sign. RFC 7518, section 3.3. */
const MIN_RSA_BITS = 2048

/** The config of a key component, with secrets in plain text. */
export type KeyComponentConfig = Readonly<Record<string, readonly string[] | undefined>>

/** A component that holds a key of a realm. */
export interface KeyComponent {
  readonly id: string
  readonly version: number
  readonly providerId: string
  readonly config: KeyComponentConfig
}

/** A key of a realm. */
export interface RealmKey {
  /** The id of the component that holds the key. */
  readonly componentId: string
  readonly priority: number
  readonly kid: string
  readonly status: 'ACTIVE' | 'PASSIVE' | 'DISABLED'
  readonly type: KeyProvider['type']
  readonly use: KeyUse
  readonly algorithm: string
  /** Whether the key may sign tokens. Keys that are too short or of an unsupported curve are only listed. */
  readonly canSign: boolean
  /** The private or symmetric key. */
  readonly signingKey: KeyObject
  /** The public or symmetric key. */
  readonly verificationKey: KeyObject
  readonly certificate?: X509Certificate
}

/** Parses a private key in PEM or in base64 of DER; returns undefined for any other text. */
export function parsePrivateKey(text: string): KeyObject | undefined {
  const key = Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    try {
      return createPrivateKey({ key, type, format: 'der' })
    } catch {
      // Try the next format.
    }
  }
  return undefined
}

/** Parses a certificate in PEM or in base64 of DER; returns undefined for any other text. */
export function parseCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64'))
  } catch {
    return undefined
  }
}

/** Returns the key that a component holds; undefined if there is none or it cannot be parsed. */
export function parseRealmKey({ id, providerId, config }: KeyComponent): RealmKey | undefined {
  const provider = findKeyProvider(providerId)
  const text = provider && firstValue(config, provider.secret)
  const signingKey = text && parseSigningKey(provider, text)
  if (!signingKey) return undefined
  const verificationKey = signingKey.type === 'secret' ? signingKey : createPublicKey(signingKey)
  const certificate = parseCertificate(firstValue(config, 'certificate') ?? '')
  const use = (firstValue(config, 'keyUse')?.toLowerCase() as KeyUse | undefined) ?? provider.use
  const isOn = (name: string) => (firstValue(config, name) ?? 'true').toLowerCase() === 'true'
  return {
    componentId: id,
    priority: Number(firstValue(config, 'priority') ?? 0),
    kid: firstValue(config, 'kid') ?? computeKeyId(verificationKey),
    status: isOn('enabled') ? (isOn('active') ? 'ACTIVE' : 'PASSIVE') : 'DISABLED',
    type: provider.type,
    use,
    algorithm: getAlgorithm(provider, config, { use, key: verificationKey }),
    canSign: use === 'sig' && isSigningKey(verificationKey),
    signingKey,
    verificationKey,
    ...(certificate && { certificate }),
  }
}

function parseSigningKey({ type }: KeyProvider, text: string): KeyObject | undefined {
  if (type !== 'OCT') return parsePrivateKey(text)
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length ? createSecretKey(bytes) : undefined
}

/** Keycloak: the default id of a key is the SHA-256 digest of its public key. */
function computeKeyId(key: KeyObject): string {
  const bytes = key.type === 'secret' ? key.export() : key.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(bytes).digest('base64url')
}

function getAlgorithm(
  { type }: KeyProvider,
  config: KeyComponentConfig,
  { use, key }: { readonly use: KeyUse; readonly key: KeyObject },
): string {
  const algorithm = firstValue(config, 'algorithm')
  if (type === 'OKP') return 'EdDSA'
  if (type === 'OCT') return use === 'enc' ? 'AES' : (algorithm ?? 'HS256')
  // Keycloak: the default algorithm of a key agreement key is RS256.
  if (type === 'EC' && use === 'enc') return firstValue(config, 'ecdhAlgorithm') ?? 'RS256'
  if (type === 'EC') return EC_ALGORITHMS[key.asymmetricKeyDetails!.namedCurve!] ?? ''
  return algorithm ?? (use === 'enc' ? 'RSA-OAEP' : 'RS256')
}

/** Whether a key is long enough, and of a supported curve, to sign tokens. */
function isSigningKey(key: KeyObject): boolean {
  if (key.asymmetricKeyType === 'rsa') return key.asymmetricKeyDetails!.modulusLength! >= MIN_RSA_BITS
  return key.asymmetricKeyType !== 'ed448'
}

/** Returns the size in bits, the curve or, for a symmetric key, the size in bytes of a key, as its config names it. */
export function getSizeOrCurve({ type, verificationKey: key }: RealmKey): string {
  if (type === 'OCT') return String(key.symmetricKeySize)
  if (type === 'OKP') return key.asymmetricKeyType === 'ed448' ? 'Ed448' : 'Ed25519'
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails!
  return type === 'RSA'
    ? String(modulusLength)
    : (Object.keys(OPENSSL_CURVES).find((name) => OPENSSL_CURVES[name] === namedCurve) ?? namedCurve!)
}

/** Returns the first value of a setting, trimmed; undefined if it is missing or empty. */
export function firstValue(config: KeyComponentConfig, setting: string): string | undefined {
  return config[setting]?.[0]?.trim() || undefined
}
