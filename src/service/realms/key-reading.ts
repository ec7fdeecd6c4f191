// The keys of a realm, as the settings of its components hold them.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  X509Certificate,
} from 'node:crypto'
import { type KeyProvider, type KeyUse, keyProvider } from '../../kinds/key-providers.ts'

/** Curves by their names in settings, as OpenSSL calls them. */
export const CURVES: Readonly<Record<string, string>> = {
  'P-256': 'prime256v1',
  'P-384': 'secp384r1',
  'P-521': 'secp521r1',
}
const ON_CURVE: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }
/** Shorter ones are not signed with: RFC 7518, section 3.3. */
const LEAST_RSA_BITS = 2048

/** Settings of a component, secrets in the clear. */
export type Settings = Readonly<Record<string, readonly string[] | undefined>>

/** A component that holds a key. */
export interface KeyComponent {
  readonly id: string
  readonly version: number
  readonly providerId: string
  readonly settings: Settings
}

/** A key of a realm. */
export interface RealmKey {
  /** Id of the component that holds it. */
  readonly component: string
  readonly priority: number
  readonly kid: string
  readonly status: 'ACTIVE' | 'PASSIVE' | 'DISABLED'
  readonly type: KeyProvider['type']
  readonly use: KeyUse
  readonly algorithm: string
  /** Whether tokens are signed with it: keys that are too short, or of a curve that tokens do not have, are only shown. */
  readonly signs: boolean
  /** What signs, and what verifies. */
  readonly secret: KeyObject
  readonly verifies: KeyObject
  readonly certificate?: X509Certificate
}

/** The private key of a text in PEM, or in base64 alone; undefined where it is none. */
export function readPrivateKey(text: string): KeyObject | undefined {
  const key = Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    try {
      return createPrivateKey({ key, type, format: 'der' })
    } catch {
      // It may be in another form.
    }
  }
  return undefined
}

/** The certificate of a text in PEM, or in base64 alone; undefined where it is none. */
export function readCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64'))
  } catch {
    return undefined
  }
}

/** The key that a component holds; undefined where there is none, or none that can be read. */
export function readKey({ id, providerId, settings }: KeyComponent): RealmKey | undefined {
  const provider = keyProvider(providerId)
  const text = provider && first(settings, provider.secret)
  const secret = text && readSecret(provider, text)
  if (!secret) return undefined
  const verifies = secret.type === 'secret' ? secret : createPublicKey(secret)
  const certificate = readCertificate(first(settings, 'certificate') ?? '')
  const use = (first(settings, 'keyUse')?.toLowerCase() as KeyUse | undefined) ?? provider.use
  const on = (name: string) => (first(settings, name) ?? 'true').toLowerCase() === 'true'
  return {
    component: id,
    priority: Number(first(settings, 'priority') ?? 0),
    kid: first(settings, 'kid') ?? kidOf(verifies),
    status: on('enabled') ? (on('active') ? 'ACTIVE' : 'PASSIVE') : 'DISABLED',
    type: provider.type,
    use,
    algorithm: algorithmOf(provider, settings, use, verifies),
    signs: use === 'sig' && canSign(verifies),
    secret,
    verifies,
    ...(certificate && { certificate }),
  }
}

function readSecret({ type }: KeyProvider, text: string): KeyObject | undefined {
  if (type !== 'OCT') return readPrivateKey(text)
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length ? createSecretKey(bytes) : undefined
}

/** Keycloak: a key is called by the digest of its public half. */
function kidOf(key: KeyObject): string {
  const bytes = key.type === 'secret' ? key.export() : key.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(bytes).digest('base64url')
}

function algorithmOf({ type }: KeyProvider, settings: Settings, use: KeyUse, key: KeyObject): string {
  const stated = first(settings, 'algorithm')
  if (type === 'OKP') return 'EdDSA'
  if (type === 'OCT') return use === 'enc' ? 'AES' : (stated ?? 'HS256')
  // Keycloak: a key for key agreement that says nothing else is said to be for RS256.
  if (type === 'EC' && use === 'enc') return first(settings, 'ecdhAlgorithm') ?? 'RS256'
  if (type === 'EC') return ON_CURVE[key.asymmetricKeyDetails!.namedCurve!] ?? ''
  return stated ?? (use === 'enc' ? 'RSA-OAEP' : 'RS256')
}

function canSign(key: KeyObject): boolean {
  if (key.asymmetricKeyType === 'rsa') return key.asymmetricKeyDetails!.modulusLength! >= LEAST_RSA_BITS
  return key.asymmetricKeyType !== 'ed448'
}

/** Which of the keys that its provider makes this is, in the words of the setting that says so. */
export function shapeOf({ type, verifies }: RealmKey): string {
  if (type === 'OCT') return String(verifies.symmetricKeySize)
  if (type === 'OKP') return verifies.asymmetricKeyType === 'ed448' ? 'Ed448' : 'Ed25519'
  const { modulusLength, namedCurve } = verifies.asymmetricKeyDetails!
  return type === 'RSA'
    ? String(modulusLength)
    : (Object.keys(CURVES).find((one) => CURVES[one] === namedCurve) ?? namedCurve!)
}

/** The first text of a setting; undefined where it is missing or empty. */
export function first(settings: Settings, name: string): string | undefined {
  return settings[name]?.[0]?.trim() || undefined
}
