// The providers of realm keys, with the settings that contain the keys.

/** The type of components with realm keys. */
export const KEY_PROVIDER = 'org.keycloak.keys.KeyProvider'

/** The use of a key: signatures or encryption. */
export type KeyUse = 'sig' | 'enc'

/** A provider of realm keys. */
export interface KeyProvider {
  /** Keycloak: RSA, EC, OKP (Edwards curves) or OCT (a secret). */
  readonly type: 'RSA' | 'EC' | 'OKP' | 'OCT'
  readonly use: KeyUse
  /** The setting with the private key or secret. */
  readonly secret: string
  /** The settings that are generated if they are not set. Keycloak: exports contain these names. */
  readonly generatedSettings: readonly string[]
  /** The setting with the size or curve of the generated key, and its default; absent if the key is not generated. */
  readonly keyParameter?: { readonly setting: string; readonly default: string }
}

const rsa = { type: 'RSA', secret: 'privateKey' } as const
const generatedRsa = {
  ...rsa,
  generatedSettings: ['privateKey', 'certificate'],
  keyParameter: { setting: 'keySize', default: '2048' },
} as const
const secret = { type: 'OCT', secret: 'secret', generatedSettings: ['secret', 'kid'] } as const

const providers: Readonly<Record<string, KeyProvider>> = {
  rsa: { ...rsa, use: 'sig', generatedSettings: ['certificate'] },
  'rsa-enc': { ...rsa, use: 'enc', generatedSettings: ['certificate'] },
  'rsa-generated': { ...generatedRsa, use: 'sig' },
  'rsa-enc-generated': { ...generatedRsa, use: 'enc' },
  'ecdsa-generated': createCurveProvider('EC', 'sig', { prefix: 'ecdsa', defaultCurve: 'P-256' }),
  'ecdh-generated': createCurveProvider('EC', 'enc', { prefix: 'ecdh', defaultCurve: 'P-256' }),
  'eddsa-generated': createCurveProvider('OKP', 'sig', { prefix: 'eddsa', defaultCurve: 'Ed25519' }),
  'hmac-generated': { ...secret, use: 'sig', keyParameter: { setting: 'secretSize', default: '128' } },
  'aes-generated': { ...secret, use: 'enc', keyParameter: { setting: 'secretSize', default: '32' } },
}

function createCurveProvider(
  type: 'EC' | 'OKP',
  use: KeyUse,
  { prefix, defaultCurve }: { readonly prefix: string; readonly defaultCurve: string },
): KeyProvider {
  return {
    type,
    use,
    secret: `${prefix}PrivateKey`,
    generatedSettings: [`${prefix}PrivateKey`, `${prefix}PublicKey`, 'certificate'],
    keyParameter: { setting: `${prefix}EllipticCurveKey`, default: defaultCurve },
  }
}

/** Returns the provider of realm keys with an id; undefined if it is not supported. */
export function findKeyProvider(id: string): KeyProvider | undefined {
  return Object.hasOwn(providers, id) ? providers[id] : undefined
}

/** The settings with private keys and secrets, or with their location. A caller who can read or set them can sign tokens. */
export const keySettings: readonly string[] = [
  ...new Set(Object.values(providers).map(({ secret }) => secret)),
  'keystore',
  'keyAlias',
]

/** The settings that Regent generates for a key, such as its certificate. */
export const generatedKeySettings: readonly string[] = [
  ...new Set(Object.values(providers).flatMap(({ generatedSettings }) => generatedSettings)),
]

/** The settings that belong to a key. With other values, another key is generated, or tokens of this key are refused. */
export const keyDefiningSettings: readonly string[] = [
  ...generatedKeySettings,
  ...new Set(Object.values(providers).flatMap(({ keyParameter }) => keyParameter?.setting ?? [])),
  'algorithm',
]

/** Returns the settings that a component with this provider generates. */
export function listGeneratedSettings(id: string): readonly string[] {
  const provider = findKeyProvider(id)
  return provider?.keyParameter ? provider.generatedSettings : []
}

/** The signature algorithms with a private key. */
export const KEY_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** The signature algorithms with a secret. */
export const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512']

/** All signature algorithms of tokens and assertions. */
export const SIGNING_ALGORITHMS = [...KEY_ALGORITHMS, ...SECRET_ALGORITHMS]

/** The curves of signature algorithms. */
const CURVES: ReadonlyMap<string, string> = new Map([
  ['ES256', 'P-256'],
  ['ES384', 'P-384'],
  ['ES512', 'P-521'],
])

/** Returns the component to create if no key of a realm supports a signature algorithm; undefined if no provider supports it. */
export function findFallbackKeyProvider(
  algorithm: string,
): { providerId: string; config: Record<string, string[]> } | undefined {
  const priority = ['-100']
  const curve = CURVES.get(algorithm)
  if (curve) return { providerId: 'ecdsa-generated', config: { priority, ecdsaEllipticCurveKey: [curve] } }
  if (algorithm === 'EdDSA') return { providerId: 'eddsa-generated', config: { priority } }
  if (/^[RP]S(256|384|512)$/.test(algorithm))
    return { providerId: 'rsa-generated', config: { priority, algorithm: [algorithm] } }
  if (/^HS(256|384|512)$/.test(algorithm))
    return { providerId: 'hmac-generated', config: { priority, algorithm: [algorithm] } }
  return undefined
}
