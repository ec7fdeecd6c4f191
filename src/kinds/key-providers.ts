// What is known of the providers of realm keys: which keys they hold, and in which settings.

/** Java name of the type of components that hold keys of the realm. */
export const KEY_PROVIDER = 'org.keycloak.keys.KeyProvider'

/** What a key is for: signing, or encrypting. */
export type KeyUse = 'sig' | 'enc'

/** A provider of keys. */
export interface KeyProvider {
  /** Keycloak: RSA, EC, OKP (Edwards curves) or OCT (a secret). */
  readonly type: 'RSA' | 'EC' | 'OKP' | 'OCT'
  readonly use: KeyUse
  /** The setting that holds the secret half, or the secret. */
  readonly secret: string
  /** Settings that a component makes for itself, where it states none. Keycloak: exports carry them, so these names stay. */
  readonly generatedSettings: readonly string[]
  /** The setting that says which key is made, and what holds where it says nothing; absent: the key is given. */
  readonly shape?: { readonly setting: string; readonly otherwise: string }
}

const rsa = { type: 'RSA', secret: 'privateKey' } as const
const generatedRsa = {
  ...rsa,
  generatedSettings: ['privateKey', 'certificate'],
  shape: { setting: 'keySize', otherwise: '2048' },
} as const
const secret = { type: 'OCT', secret: 'secret', generatedSettings: ['secret', 'kid'] } as const

const providers: Readonly<Record<string, KeyProvider>> = {
  rsa: { ...rsa, use: 'sig', generatedSettings: ['certificate'] },
  'rsa-enc': { ...rsa, use: 'enc', generatedSettings: ['certificate'] },
  'rsa-generated': { ...generatedRsa, use: 'sig' },
  'rsa-enc-generated': { ...generatedRsa, use: 'enc' },
  'ecdsa-generated': onCurve('EC', 'sig', 'ecdsa', 'P-256'),
  'ecdh-generated': onCurve('EC', 'enc', 'ecdh', 'P-256'),
  'eddsa-generated': onCurve('OKP', 'sig', 'eddsa', 'Ed25519'),
  'hmac-generated': { ...secret, use: 'sig', shape: { setting: 'secretSize', otherwise: '128' } },
  'aes-generated': { ...secret, use: 'enc', shape: { setting: 'secretSize', otherwise: '32' } },
}

function onCurve(type: 'EC' | 'OKP', use: KeyUse, name: string, otherwise: string): KeyProvider {
  return {
    type,
    use,
    secret: `${name}PrivateKey`,
    generatedSettings: [`${name}PrivateKey`, `${name}PublicKey`, 'certificate'],
    shape: { setting: `${name}EllipticCurveKey`, otherwise },
  }
}

/** The provider of keys of that id; undefined for one that Regent does not have. */
export function findKeyProvider(id: string): KeyProvider | undefined {
  return Object.hasOwn(providers, id) ? providers[id] : undefined
}

/** The settings that hold the secret halves of keys, or say where they are: who knows them can sign whatever they like. */
export const keySettings: readonly string[] = [
  ...new Set(Object.values(providers).map(({ secret }) => secret)),
  'keystore',
  'keyAlias',
]

/** The settings that nobody states: the component makes them for itself. */
export function generatedSettings(id: string): readonly string[] {
  const provider = findKeyProvider(id)
  return provider?.shape ? provider.generatedSettings : []
}

/** Algorithms of private keys. */
export const KEY_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** Algorithms of secrets. */
export const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512']

/** Everything that tokens and assertions are signed with. */
export const SIGNING_ALGORITHMS = [...KEY_ALGORITHMS, ...SECRET_ALGORITHMS]

/** Curves by the algorithms that sign on them. */
const CURVES: ReadonlyMap<string, string> = new Map([
  ['ES256', 'P-256'],
  ['ES384', 'P-384'],
  ['ES512', 'P-521'],
])

/** The component that is made where a realm is to sign with an algorithm that no key of it is for; undefined: nothing signs so. */
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
