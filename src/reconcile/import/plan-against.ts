// Plans a source against the realms of another server: they are read over its admin API, and copied into a store that is discarded afterwards.
import { generateKeyPairSync } from 'node:crypto'
import { builtInObjects, MASTER } from '../../kinds/built-in/index.ts'
import { resolveField, unflatten } from '../../kinds/compare.ts'
import { parseComponentPath } from '../../kinds/component.ts'
import { findComponentType } from '../../kinds/component-types.ts'
import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject, readObjects, readTexts } from '../../kinds/json.ts'
import { KEY_PROVIDER } from '../../kinds/key-providers.ts'
import { MASK } from '../../kinds/mask.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { UserProfile } from '../../kinds/user-profile.ts'
import { type DeclaredObject, parseRealm } from '../../realm-file/parse-realm.ts'
import { createDocument } from '../../realm-file/yaml/document.ts'
import { createRealm, replaceRealm } from '../../service/admin-api/realms/realms.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { writers } from '../../service/kinds/index.ts'
import { getUserProfile } from '../../service/users/user-profile.ts'
import { canView } from '../../service/users/user-profile-rules.ts'
import type { DesiredObject } from '../merge/desired-object.ts'
import { compareRealmNames, readDesiredRealms } from '../merge/desired-realm.ts'
import type { Note } from '../model/action.ts'
import { listReferences } from '../model/references.ts'
import type { AdminServer } from '../read/server/admin-server.ts'
import { readRealm } from '../read/server/read-realm.ts'
import type { SourceContent } from '../read/source-content.ts'
import { planRun, type RunOutcome } from '../run/run.ts'
import { importContent, listRequestedIds } from './import-content.ts'

/** Another server, and its name in messages. */
interface OtherServer {
  readonly server: AdminServer
  readonly url: string
}

/**
 * Returns the plan of a source for the realms of another server, which is only read. `service`: a store without other realms. Only the users
 * whom the documents name are read. Throws DocumentError, ServerError.
 */
export async function planAgainst(
  service: Service,
  source: SourceContent,
  { server, url, strict }: OtherServer & { readonly strict: true | undefined },
): Promise<RunOutcome> {
  const desired = readDesiredRealms(source.documents, {
    vault: service.vault,
    unknownFields: source.unknownFields,
  })
  const usernames = desired.flatMap(({ objects }) => [...objects.values()].flatMap(listDeclaredUsers))
  const copies = new Map<string, RealmCopy>()
  const notes: Note[] = []
  // Master has a client for each other realm, so that it is the last one.
  for (const { name } of desired.toSorted((a, b) => compareRealmNames(a.name, b.name))) {
    const realm = await readExistingRealm({ server, url }, name, usernames)
    if (!realm) notes.push({ message: `${url} has no realm ${name}. This is the plan for a new one.` })
    else copies.set(name, await copyRealm(service, url, realm))
  }
  const outcome = await planRun({
    service,
    caller: { ...SYSTEM, allowLockOut: true },
    sources: [source],
    strict,
    listIncomparable: (realm, object) => listUnreadable(copies.get(realm), object),
  })
  if (copies.size)
    notes.push({
      message: `Objects of ${url} that the files do not declare are not compared, and no plan deletes them.`,
    })
  // No apply follows, so that nothing needs an approval.
  const realms = outcome.realms.map(({ guards: _, ...realm }) => realm)
  // The name of the source has no meaning without an inventory.
  return { ...outcome, sources: [], realms, notes: [...outcome.notes, ...notes] }
}

/** Returns the names of the users that an object declares or refers to. */
function listUsernames({ kind, key, fields }: NamedObject): string[] {
  const references = [...fields].flatMap(([path, value]) => listReferences({ kind, key }, path, value))
  return [{ to: kind, key }, ...references].filter(({ to }) => to === 'user').map((user) => user.key[0]!)
}

function listDeclaredUsers({ kind, key, fields }: DesiredObject): string[] {
  return listUsernames({ kind, key, fields: [...fields].map(([path, { value }]) => [path, value]) })
}

/** An object with its fields by path. */
interface NamedObject extends Pick<DesiredObject, 'kind' | 'key'> {
  readonly fields: Iterable<[path: string, value: Json]>
}

/** Reads a realm, with those of the users that exist. Returns undefined if the server does not have the realm. */
async function readExistingRealm(
  { server, url }: OtherServer,
  name: string,
  usernames: readonly string[],
): Promise<Representation | undefined> {
  if ((await server.get(encodeURIComponent(name), null)) === null) {
    // The list fails if the path of the URL is wrong.
    await server.get('?briefRepresentation=true')
    return undefined
  }
  const selectUsers = (realm: Representation) => new Set([...usernames, ...listReferencedUsers(url, realm)])
  // A realm of an earlier version is compared as it is, without a migration.
  const { keycloakVersion: _, ...realm } = await readRealm(server, name, { secrets: true, selectUsers })
  const exists = new Set(readObjects(realm.users).map(({ username }) => username))
  const organizations = readObjects(realm.organizations).map((organization) => ({
    ...organization,
    members: readObjects(organization.members).filter(({ username }) => exists.has(username)),
  }))
  return { ...realm, organizations }
}

/** Returns the names of the users to whom a realm without its users refers, such as those of policies. */
function listReferencedUsers(url: string, realm: Representation): string[] {
  const { objects } = parseRealm(createDocument(url, realm), 'warn')
  return objects.flatMap(({ kind, key, fields }) => listUsernames({ kind, key, fields: Object.entries(fields) }))
}

/** The copy of a realm of another server. */
interface RealmCopy {
  /** The objects as the server returned them, by address. */
  readonly objects: ReadonlyMap<string, DeclaredObject>
  readonly userProfile: UserProfile
}

const [PRIVATE_KEY, CERTIFICATE] = ['config.privateKey', 'config.certificate']

/** Returns a realm with a new key in each key provider that requires one and whose key is masked. Its certificate would not match. */
function replaceMaskedKeys(realm: Representation): Representation {
  const components = readObject(realm.components)
  const providers = readObjects(components[KEY_PROVIDER]).map((component) => {
    const { certificate: _, ...config } = readObject(component.config)
    const isRequired = ['rsa', 'rsa-enc'].includes(String(component.providerId))
    if (!isRequired || readTexts(config.privateKey)[0] !== MASK) return component
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const text = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
    return { ...component, config: { ...config, privateKey: [text] } }
  })
  return providers.length ? { ...realm, components: { ...components, [KEY_PROVIDER]: providers } } : realm
}

/** Creates a realm of another server in the store, without built-in objects that it does not have. */
async function copyRealm(service: Service, url: string, realm: Representation): Promise<RealmCopy> {
  const parsed = parseRealm(createDocument(url, realm), 'warn')
  const objects = new Map(parsed.objects.map((object) => [formatAddress(object.kind, object.key), object]))
  const settings = parsed.objects.find(({ kind }) => kind === 'realm')!
  const body = { ...unflatten(kinds.realm, settings.fields), realm: parsed.name, id: settings.id ?? null }
  const createContent = async (context: WriteContext) => {
    await importContent(context, replaceMaskedKeys(realm), { isAuthoritative: () => () => true, unknownFields: 'warn' })
    await deleteOthers(context, objects)
  }
  if (parsed.name === MASTER)
    await service.write(SYSTEM, { realm: MASTER }, async (context) => {
      await replaceRealm(context, body)
      await createContent(context)
    })
  else await createRealm(service, SYSTEM, { body, ids: listRequestedIds(realm), createContent })
  return { objects, userProfile: await service.read(SYSTEM, parsed.name, getUserProfile) }
}

/** Deletes the built-in objects that are not among the objects. */
async function deleteOthers(context: WriteContext, declared: RealmCopy['objects']): Promise<void> {
  const builtIn = Map.groupBy(
    builtInObjects(context.realm.name).filter(({ kind, key }) => !declared.has(formatAddress(kind, key))),
    ({ kind }) => kind,
  )
  for (const kind of creationOrder.toReversed()) {
    const keys = builtIn.get(kind)?.map(({ key }) => key) ?? []
    if (keys.length) await writers[kind].delete(context, await writers[kind].list(context, { keys }))
  }
}

/**
 * Returns the paths of the declared values of an object that the other server may have, and does not return. Keycloak: credentials of users,
 * masked secrets, attributes that administrators may not view, and settings of components that their provider does not describe.
 */
function listUnreadable(copy: RealmCopy | undefined, { kind, key, fields }: DesiredObject): string[] {
  const live = copy?.objects.get(formatAddress(kind, key))
  if (!live) return []
  const isUnreadable = (path: string): boolean => {
    if (live.maskedSecrets.includes(path)) return true
    if (path === CERTIFICATE && live.maskedSecrets.includes(PRIVATE_KEY)) return true
    const attribute = resolveField(kinds[kind], path).key
    if (kind === 'user')
      return path === 'credentials' || (attribute !== undefined && !canView(copy!.userProfile, attribute))
    return kind === 'component' && !(path in live.fields) && attribute !== undefined && !isDescribed(live, attribute)
  }
  return [...fields].map(([path]) => path).filter(isUnreadable)
}

function isDescribed({ key, fields }: DeclaredObject, setting: string): boolean {
  const type = findComponentType(parseComponentPath(key[0]!).providerType, String(fields.providerId))
  return type === undefined || type.properties.some(({ name }) => name === setting)
}
