// The generation of keys and certificates for the key components of a realm.
import { createPublicKey, generateKeyPair, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { findKeyProvider, type KeyProvider } from '../../kinds/key-providers.ts'
import { createSelfSignedCertificate } from '../../lib/self-signed-certificate.ts'
import {
  firstValue,
  type KeyComponent,
  type KeyComponentConfig,
  OPENSSL_CURVES,
  parsePrivateKey,
} from './realm-keys.ts'

const generate = promisify(generateKeyPair)
/** Keycloak: certificates are valid from a little earlier, for clocks that are slow, and those of realms for ten years. */
const CLOCK_TOLERANCE_MS = 100_000
const VALIDITY_YEARS = 10

/** The common name of a certificate, and the years for which it is valid. */
export interface CertificateValidity {
  readonly owner: string
  readonly now: Date
  readonly years: number
}

/** Generates what the config of a key provider lacks, such as its private key; undefined if it lacks nothing. `owner`: common name of the certificate. */
export async function generateMissingConfig(
  { providerId, config }: KeyComponent,
  owner: string,
  now: Date,
): Promise<Record<string, string[]> | undefined> {
  const provider = findKeyProvider(providerId)
  const missing = provider ? listMissing(provider, config) : []
  if (!provider || !missing.length) return undefined
  const generated =
    provider.type === 'OCT'
      ? generateSecret(provider, config)
      : await generatePair(provider, config, { owner, now, years: VALIDITY_YEARS })
  return generated && Object.fromEntries(missing.map((name) => [name, [generated[name]!]]))
}

function listMissing(provider: KeyProvider, config: KeyComponentConfig): string[] {
  const needsCertificate = provider.type === 'RSA' || firstValue(config, 'ecGenerateCertificate') === 'true'
  const names = provider.generatedSettings.filter((name) => name !== 'certificate' || needsCertificate)
  // With a new private key, an existing certificate or public key is of no use.
  return firstValue(config, provider.secret) === undefined && names.includes(provider.secret)
    ? names
    : names.filter((name) => firstValue(config, name) === undefined)
}

function generateSecret({ keyParameter: shape }: KeyProvider, config: KeyComponentConfig): Record<string, string> {
  const size = Number(firstValue(config, shape!.setting) ?? shape!.default)
  return { secret: randomBytes(size).toString('base64url'), kid: randomUUID() }
}

/** Generates a key pair, or completes an existing private key; undefined if that cannot be parsed. */
async function generatePair(
  { type, secret, keyParameter: shape }: KeyProvider,
  config: KeyComponentConfig,
  validity: CertificateValidity,
): Promise<Record<string, string> | undefined> {
  const existing = firstValue(config, secret)
  const privateKey =
    existing === undefined
      ? await generatePrivateKey(type, firstValue(config, shape!.setting) ?? shape!.default)
      : parsePrivateKey(existing)
  if (!privateKey) return undefined
  const publicKey = createPublicKey(privateKey)
  const text = (der: Buffer) => der.toString('base64')
  const certificate =
    type === 'OKP' ? {} : { certificate: text(createCertificate(validity, { publicKey, privateKey })) }
  // Keycloak: an RSA private key is stored alone, in PKCS #1.
  if (type === 'RSA') return { [secret]: text(privateKey.export({ type: 'pkcs1', format: 'der' })), ...certificate }
  return {
    [secret]: text(privateKey.export({ type: 'pkcs8', format: 'der' })),
    [secret.replace('Private', 'Public')]: text(publicKey.export({ type: 'spki', format: 'der' })),
    ...certificate,
  }
}

async function generatePrivateKey(type: KeyProvider['type'], sizeOrCurve: string): Promise<KeyObject> {
  if (type === 'RSA') return (await generate('rsa', { modulusLength: Number(sizeOrCurve) })).privateKey
  if (type === 'EC') return (await generate('ec', { namedCurve: OPENSSL_CURVES[sizeOrCurve]! })).privateKey
  return (await (sizeOrCurve === 'Ed448' ? generate('ed448') : generate('ed25519'))).privateKey
}

/** Generates an RSA key with a self-signed certificate, both in base64 of DER. */
export async function generateCertifiedKey(
  bits: number,
  validity: CertificateValidity,
): Promise<{ readonly privateKey: string; readonly certificate: string }> {
  const pair = await generatePair(findKeyProvider('rsa-generated')!, { keySize: [String(bits)] }, validity)
  return { privateKey: pair!.privateKey!, certificate: pair!.certificate! }
}

function createCertificate(
  { owner, now, years }: CertificateValidity,
  pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
): Buffer {
  const until = new Date(now)
  until.setUTCFullYear(until.getUTCFullYear() + years)
  return createSelfSignedCertificate({
    name: owner,
    ...pair,
    from: new Date(now.getTime() - CLOCK_TOLERANCE_MS),
    until,
  })
}
