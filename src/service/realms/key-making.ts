// The keys that components of a realm make for themselves.
import { createPublicKey, generateKeyPair, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { type KeyProvider, keyProvider } from '../../kinds/key-providers.ts'
import { selfSigned } from '../../lib/self-signed.ts'
import { CURVES, first, type KeyComponent, readPrivateKey, type Settings } from './key-reading.ts'

const generate = promisify(generateKeyPair)
/** Keycloak: certificates of keys count from a little earlier, for clocks that are late, and for ten years. */
const EARLIER_MS = 100_000
const YEARS = 10

/** What the component makes for itself of what its settings lack; undefined: nothing. */
export async function makeUp(
  { providerId, settings }: KeyComponent,
  owner: string,
  now: Date,
): Promise<Record<string, string[]> | undefined> {
  const provider = keyProvider(providerId)
  const lacking = provider ? lackingOf(provider, settings) : []
  if (!provider || !lacking.length) return undefined
  const made = provider.type === 'OCT' ? secretOf(provider, settings) : await pairOf(provider, settings, owner, now)
  return made && Object.fromEntries(lacking.map((name) => [name, [made[name]!]]))
}

function lackingOf(provider: KeyProvider, settings: Settings): string[] {
  const certified = provider.type === 'RSA' || first(settings, 'ecGenerateCertificate') === 'true'
  const wanted = provider.made.filter((name) => name !== 'certificate' || certified)
  // A certificate or a public half of another key is worth nothing.
  return first(settings, provider.secret) === undefined && wanted.includes(provider.secret)
    ? wanted
    : wanted.filter((name) => first(settings, name) === undefined)
}

function secretOf({ shape }: KeyProvider, settings: Settings): Record<string, string> {
  const size = Number(first(settings, shape!.setting) ?? shape!.otherwise)
  return { secret: randomBytes(size).toString('base64url'), kid: randomUUID() }
}

async function pairOf(
  { type, secret, shape }: KeyProvider,
  settings: Settings,
  owner: string,
  now: Date,
): Promise<Record<string, string> | undefined> {
  const given = first(settings, secret)
  const privateKey =
    given === undefined
      ? await newPrivateKey(type, first(settings, shape!.setting) ?? shape!.otherwise)
      : readPrivateKey(given)
  if (!privateKey) return undefined
  const publicKey = createPublicKey(privateKey)
  const text = (der: Buffer) => der.toString('base64')
  const certificate = type === 'OKP' ? {} : { certificate: text(certificateFor(owner, { publicKey, privateKey }, now)) }
  // Keycloak: of RSA the private half is kept alone, and in a form of its own.
  if (type === 'RSA') return { [secret]: text(privateKey.export({ type: 'pkcs1', format: 'der' })), ...certificate }
  return {
    [secret]: text(privateKey.export({ type: 'pkcs8', format: 'der' })),
    [secret.replace('Private', 'Public')]: text(publicKey.export({ type: 'spki', format: 'der' })),
    ...certificate,
  }
}

async function newPrivateKey(type: KeyProvider['type'], shape: string): Promise<KeyObject> {
  if (type === 'RSA') return (await generate('rsa', { modulusLength: Number(shape) })).privateKey
  if (type === 'EC') return (await generate('ec', { namedCurve: CURVES[shape]! })).privateKey
  return (await (shape === 'Ed448' ? generate('ed448') : generate('ed25519'))).privateKey
}

/** A new key of RSA with a certificate that it signs for itself, both as base64 of their DER form. */
export async function newCertifiedKey(
  owner: string,
  bits: number,
  now: Date,
): Promise<{ readonly privateKey: string; readonly certificate: string }> {
  const made = await pairOf(keyProvider('rsa-generated')!, { keySize: [String(bits)] }, owner, now)
  return { privateKey: made!.privateKey!, certificate: made!.certificate! }
}

function certificateFor(
  owner: string,
  pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  now: Date,
): Buffer {
  const until = new Date(now)
  until.setUTCFullYear(until.getUTCFullYear() + YEARS)
  return selfSigned(owner, pair, new Date(now.getTime() - EARLIER_MS), until)
}
