// The keys of clients in key stores: Java key stores and PKCS#12 files, uploaded and downloaded.
import {
  KEY_STORE_FORMATS,
  KeyStoreError,
  type KeyStoreFormat,
  type KeyStorePasswords,
  type KeyStoreProblem,
  type NewKeyStorePasswords,
} from '../../../lib/key-stores/key-store.ts'
import { failure, type ServiceError } from '../../context/errors.ts'
import { parseCertificate, parsePrivateKey } from '../../realms/realm-keys.ts'
import type { CertificateInfo } from './client-certificates.ts'

/** Keycloak: the formats of key stores. Regent does not have the last one. */
export const KEYCLOAK_FORMATS: readonly string[] = [...KEY_STORE_FORMATS, 'BCFKS']

/** The form of the errors about an alias. */
const NOT_FOUND = { error: 'certificate-not-found' } as const
const PASSWORD_MISSING = { error: 'password-missing' } as const

/** The format and the passwords of a key store to download. */
export interface NewKeyStore {
  readonly format: KeyStoreFormat
  readonly passwords: NewKeyStorePasswords
}

/** A file with a key store that was uploaded. */
export interface KeyStoreUpload {
  readonly format: string
  readonly bytes: Uint8Array
  readonly alias: string | undefined
  readonly passwords: KeyStorePasswords
}

/** Whether Regent reads and writes key stores of the format. */
export const isKeyStoreFormat = (format: string | null | undefined): format is KeyStoreFormat =>
  KEY_STORE_FORMATS.some((supported) => supported === format)

/** Returns the key and the certificate in an uploaded key store. @throws invalid if they cannot be read */
export async function readKeyStoreUpload({
  format,
  bytes,
  alias,
  passwords,
}: KeyStoreUpload): Promise<CertificateInfo> {
  if (!isKeyStoreFormat(format)) throw createProblemError('format')
  if (alias === undefined) throw failure('invalid', 'Pass the alias of the key as keyAlias.', { form: NOT_FOUND })
  // node-forge is loaded by the first upload or download.
  const { readKeyStore } = await import('../../../lib/key-stores/run.ts')
  const entry = await readKeyStore({ format, bytes, alias, passwords }).catch((error: unknown) => {
    throw error instanceof KeyStoreError ? createProblemError(error.problem) : error
  })
  const privateKey = entry.privateKey && toStoredKey(Buffer.from(entry.privateKey).toString('base64'))
  const certificate = entry.certificate && Buffer.from(entry.certificate).toString('base64')
  if (certificate !== undefined && !parseCertificate(certificate)) throw createProblemError('format')
  return { ...(privateKey !== undefined && { privateKey }), ...(certificate !== undefined && { certificate }) }
}

/** Keycloak: RSA keys are stored in PKCS #1, and others in SEC 1. */
function toStoredKey(text: string): string {
  const key = parsePrivateKey(text)
  const type = key?.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1'
  if (key?.asymmetricKeyType !== 'rsa' && key?.asymmetricKeyType !== 'ec') throw createProblemError('format')
  return key.export({ type, format: 'der' }).toString('base64')
}

function createProblemError(problem: KeyStoreProblem): ServiceError {
  const create = (message: string, form: 'error' | typeof NOT_FOUND = 'error') => failure('invalid', message, { form })
  if (problem === 'alias') return create('Certificate or key with given alias not found in the keystore', NOT_FOUND)
  if (problem === 'store password') return create('Password verification failed')
  if (problem === 'characters') return create('The password of a PKCS#12 file may have ASCII characters only')
  if (problem === 'key password') return create('The password of the key is wrong')
  if (problem === 'time') return create('Opening the key store takes too long: use fewer iterations for its password')
  return create('error loading keystore')
}

/**
 * Returns the passwords of a key store to download. `purpose`: the operation, for messages.
 * @throws invalid if one is missing
 */
export function requirePasswords(
  { keyPassword, storePassword }: { readonly [N in keyof NewKeyStorePasswords]?: string | null | undefined },
  purpose: string,
): NewKeyStorePasswords {
  const createError = (owner: string) =>
    failure('invalid', `Need to specify a ${owner} password for jks ${purpose}`, { form: PASSWORD_MISSING })
  if (keyPassword == null) throw createError('key')
  if (storePassword == null) throw createError('store')
  return { keyPassword, storePassword }
}

/** Writes the key and the certificate of a client, and the certificate of the realm, to a key store. */
export async function writeClientKeyStore(
  { format, passwords }: NewKeyStore,
  client: { readonly alias: string; readonly info: CertificateInfo },
  realm: { readonly alias: string; readonly certificate: Uint8Array } | undefined,
): Promise<Uint8Array> {
  const { alias, info } = client
  const certificate = parseCertificate(info.certificate ?? '')?.raw
  const privateKey = parsePrivateKey(info.privateKey ?? '')?.export({ type: 'pkcs8', format: 'der' })
  if (!certificate) throw failure('not_found', 'keypair not generated for client', { form: 'error' })
  const trusted = realm ? [realm] : []
  const { writeKeyStore } = await import('../../../lib/key-stores/run.ts')
  const content = privateKey
    ? { key: { alias, privateKey, certificate }, trusted }
    : { trusted: [{ alias, certificate }, ...trusted] }
  return writeKeyStore({ format, passwords, content })
}
