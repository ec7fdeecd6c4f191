// The keys of a realm of another server, which its admin API does not return: from a key store, or from an export file with secrets.
import { createPublicKey } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Json, type Representation, readObject, readObjects, readText } from '../../kinds/json.ts'
import { findKeyProvider, KEY_PROVIDER, type KeyProvider } from '../../kinds/key-providers.ts'
import { MASK } from '../../kinds/mask.ts'
import { KeyStoreError } from '../../lib/key-stores/key-store.ts'
import type { AdminServer } from '../../reconcile/read/server/admin-server.ts'
import { parsePrivateKey } from '../../service/realms/realm-keys.ts'

/** The flags for the keys of an import. */
export interface KeyFlags {
  readonly keys?: string
  readonly keyAlias?: string
  readonly keysPassword?: string
}

/** A realm with keys that a file has. */
interface RealmWithKeys {
  readonly realm: Representation
  /** The names of the key providers that have got their keys. */
  readonly providers: ReadonlySet<string>
  /** The export with the keys, if it has credentials of users too. */
  readonly credentials?: ExportedCredentials | undefined
}

/** An export of `kc.sh export` that has credentials of users, which the admin API does not return. */
export interface ExportedCredentials {
  /** The file or folder. */
  readonly path: string
  /** The number of users with credentials. */
  readonly userCount: number
}

/**
 * Adds the keys in the file, or in the folder of an export, that flags name to the key providers of a realm.
 * @throws Error if the file has no key of the realm.
 */
export async function addSigningKeys(
  server: AdminServer,
  realm: Representation,
  { keys: file, keyAlias, keysPassword = process.env.REGENT_KEYS_PASSWORD ?? '' }: KeyFlags,
): Promise<RealmWithKeys> {
  if (file === undefined) return { realm, providers: new Set() }
  const name = String(realm.realm)
  const exported = await readExport(file, name)
  const settings = exported
    ? readExportedKeys(exported.realm)
    : await readStore(server, name, { file, bytes: await readFile(file), alias: keyAlias, password: keysPassword })
  const providers = new Set<string>()
  const components = readObjects(readObject(realm.components)[KEY_PROVIDER]).map((component) => {
    const provider = findKeyProvider(String(component.providerId))
    const config = provider && settings.get(String(component.id))?.(provider)
    if (!config) return component
    providers.add(String(component.name))
    return { ...component, config: { ...readObject(component.config), ...config } }
  })
  if (!providers.size)
    throw new Error(
      `${file} has no key of the realm ${name}. Pass the key store with its signing key, or an export of this realm.`,
    )
  const userCount = exported?.users.filter(hasCredentials).length ?? 0
  return {
    realm: { ...realm, components: { ...readObject(realm.components), [KEY_PROVIDER]: components } },
    providers,
    ...(userCount && { credentials: { path: file, userCount } }),
  }
}

const hasCredentials = ({ credentials, serviceAccountClientId = null }: Representation): boolean =>
  serviceAccountClientId === null && readObjects(credentials).length > 0

/** Functions that return the settings with the key of a provider, if the file has it, by the id of the provider. */
type KeySettings = ReadonlyMap<string, (provider: KeyProvider) => Representation | undefined>

/** The realm of an export, and its users. */
interface RealmExport {
  readonly realm: Representation
  readonly users: readonly Representation[]
}

/** Reads the file of an export, or the folder that `kc.sh export --dir` writes. Returns undefined for another file. */
async function readExport(path: string, name: string): Promise<RealmExport | undefined> {
  if (!(await stat(path)).isDirectory()) {
    if (!/\.json$/i.test(path)) return undefined
    const realm = await readExportedRealm(path, name)
    return { realm, users: readObjects(realm.users) }
  }
  const file = `${name}-realm.json`
  const files = await readdir(path)
  if (!files.includes(file))
    throw new Error(
      `${path} has no file ${file}. Pass the folder of "kc.sh export --dir", an export file, or a key store.`,
    )
  const realm = await readExportedRealm(join(path, file), name)
  const users = [...readObjects(realm.users)]
  for (const other of files)
    if (other.startsWith(`${name}-users-`) && other.endsWith('.json'))
      users.push(...readObjects(readObject(await readJson(join(path, other))).users))
  return { realm, users }
}

async function readExportedRealm(file: string, name: string): Promise<Representation> {
  const realm = [await readJson(file)]
    .flat()
    .map(readObject)
    .find((exported) => exported.realm === name)
  if (!realm) throw new Error(`${file} is no export of the realm ${name}.`)
  return realm
}

/** Returns the settings of the key providers in an export, by id. */
function readExportedKeys(realm: Representation): KeySettings {
  const components = readObjects(readObject(realm.components)[KEY_PROVIDER])
  return new Map(
    components.map(({ id, config }) => {
      const settings = readObject(config)
      const hasKey = ({ secret }: KeyProvider) => ![MASK, '', 'undefined'].includes(String(settings[secret]))
      return [String(id), (provider) => (hasKey(provider) ? settings : undefined)]
    }),
  )
}

async function readJson(file: string): Promise<Json> {
  const text = await readFile(file, 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is no JSON.`, { cause: error })
  }
}

interface KeyStoreFile {
  readonly file: string
  readonly bytes: Buffer
  readonly alias: string | undefined
  readonly password: string
}

/** Returns the key of a key store, by the id of the key provider that has the same public key. */
async function readStore(
  server: AdminServer,
  name: string,
  { file, bytes, alias, password }: KeyStoreFile,
): Promise<KeySettings> {
  if (alias === undefined) throw new Error(`Pass --key-alias, the name of the key in ${file}.`)
  // node-forge is loaded by the first key store.
  const { readKeyStore } = await import('../../lib/key-stores/run.ts')
  const passwords = { storePassword: password, keyPassword: password }
  const { privateKey } = await readKeyStore({ format: 'JKS', bytes, alias, passwords }).catch((error: unknown) => {
    if (error instanceof KeyStoreError) throw new Error(`${file}: ${PROBLEMS[error.problem]}`, { cause: error })
    throw error
  })
  const key = privateKey && parsePrivateKey(Buffer.from(privateKey).toString('base64'))
  if (!key) throw new Error(`${file}: the alias ${alias} is that of a certificate without a key.`)
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')
  const { keys } = readObject(await server.get(`${encodeURIComponent(name)}/keys`))
  const matching = readObjects(keys).filter((listed) => readText(listed.publicKey) === publicKey)
  const text = key.export({ type: 'pkcs8', format: 'der' }).toString('base64')
  return new Map(matching.map(({ providerId }) => [String(providerId), ({ secret }) => ({ [secret]: [text] })]))
}

const PROBLEMS: Readonly<Record<KeyStoreError['problem'], string>> = {
  alias: 'there is no key with this alias. "keytool -list" shows the aliases.',
  'store password': 'the password is wrong. Pass it with REGENT_KEYS_PASSWORD.',
  'key password': 'the key has another password than the store. Use one password for both.',
  characters: 'the password of a PKCS#12 file may have ASCII characters only.',
  time: 'opening it takes too long. Use fewer iterations for its password.',
  format: 'it is no key store of the type JKS or PKCS12. The name of an export file ends with .json.',
}
