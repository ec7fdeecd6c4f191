// Changes of users whose data are in a directory: they are refused, or recorded in order to be written there.
import { type FlatFields, findDifferences, flatten, lowerCaseTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readFlag, readObjects, readText } from '../../kinds/json.ts'
import { updateVersions } from '../../store/objects.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { hasChanged } from '../context/realm-values.ts'
import { recordEntry } from '../journal/journal.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import type { NewObject, ObjectUpdate } from '../objects/writers.ts'
import { listUserStores, type StoreMapper, type UserStore } from './user-store.ts'

/** Keycloak: the attributes of an imported user that identify the entry. */
export const LDAP_ID = 'LDAP_ID'
export const LDAP_ENTRY_DN = 'LDAP_ENTRY_DN'

/** Whether an attribute of a user identifies the entry. */
export const isStoreAttribute = (name: string): boolean => name === LDAP_ID || name === LDAP_ENTRY_DN

/** Whether a user store adds an attribute to the user profile of its users. Keycloak: not those with a fixed value. */
export function isProfileAttribute({ mappers }: UserStore, name: string): boolean {
  return (
    isStoreAttribute(name) ||
    mappers.some(
      (mapper) => mapper.providerId !== HARDCODED_ATTRIBUTE && listMappedPaths(mapper).includes(`attributes.${name}`),
    )
  )
}

const HARDCODED_ATTRIBUTE = 'hardcoded-attribute-mapper'

const textFields: Readonly<Record<string, string>> = {
  username: 'username',
  email: 'email',
  firstname: 'firstName',
  lastname: 'lastName',
}
const flagFields: Readonly<Record<string, string>> = { enabled: 'enabled', emailverified: 'emailVerified' }

/** Whether the name of a mapper means a flag of users. */
export const isFlagName = (name: string): boolean => Object.hasOwn(flagFields, name.toLowerCase())

/** Returns the path of the field that a name of a mapper means. Keycloak: names of fields are compared regardless of case. */
export function toFieldPath(name: string): string {
  const key = name.toLowerCase()
  if (Object.hasOwn(textFields, key)) return textFields[key]!
  return Object.hasOwn(flagFields, key) ? flagFields[key]! : `attributes.${name}`
}

/** Whether a mapper writes `enabled` of users to Active Directory. */
export const isAccountControlMapper = ({ providerId }: StoreMapper): boolean =>
  providerId === 'msad-user-account-control-mapper' || providerId === 'msad-lds-user-account-control-mapper'

/**
 * Checks updates of users of directories. Returns the updates without passwords, which only the directory stores; what is to be written to
 * a directory is recorded in the context. Two statements, or none without users of a directory.
 *
 * @throws invalid if an update changes what the directory determines and is not writable.
 */
export async function recordDirectoryUpdates(
  context: WriteContext,
  updates: readonly ObjectUpdate[],
): Promise<readonly ObjectUpdate[]> {
  if (context.actor.kind === 'federation' || !updates.some(({ live }) => isFederated(live))) return updates
  const stores = new Map((await listUserStores(context)).map((store) => [store.id, store]))
  const created = listCreated(context)
  const checked: ObjectUpdate[] = []
  for (const update of updates) {
    const store = stores.get(readText(update.live.representation.federationLink) ?? '')
    // A user whom this transaction has created is declared as the directory has them.
    checked.push(store && !created.has(update.live.id) ? await recordUpdate(context, store, update) : update)
  }
  return checked
}

const isFederated = ({ representation }: Pick<LiveObject, 'representation'>): boolean =>
  readText(representation.federationLink) !== undefined

const listCreated = ({ userEntries }: WriteContext): ReadonlySet<string> =>
  new Set(userEntries.flatMap(({ operation, object }) => (operation === 'create' ? [object] : [])))

async function recordUpdate(context: WriteContext, store: UserStore, update: ObjectUpdate): Promise<ObjectUpdate> {
  const { live } = update
  const isUnlinked = 'federationLink' in update.set && update.set.federationLink !== store.id
  if (isUnlinked) return update
  const { set, password } = separatePassword(store, update)
  const { remaining, mapped } = separateMappedFields(store, { ...update, set })
  const relations = hasMemberships(store) ? selectMemberships(update) : {}
  if (password !== undefined) await recordPasswordChange(context, live)
  if (Object.keys(mapped).length || Object.keys(relations).length || password !== undefined) {
    requireEnabled(store)
    const user = { id: live.id, representation: live.representation }
    context.directoryChanges.push({ operation: 'update', store: store.id, user, set: mapped, relations, password })
  }
  return { ...update, set: remaining }
}

function requireEnabled({ isEnabled, name }: UserStore): void {
  if (!isEnabled) throw failure('invalid', `The user is read-only. The user federation provider "${name}" is disabled.`)
}

const hasMemberships = ({ mappers }: UserStore): boolean =>
  mappers.some(({ providerId }) => providerId === 'group-ldap-mapper' || providerId === 'role-ldap-mapper')

/** Returns the groups and roles that an update gives the user or takes from them. */
function selectMemberships({ relations = {} }: ObjectUpdate) {
  return Object.fromEntries(
    ['groups', 'realmRoles', 'clientRoles'].flatMap((field) => {
      const changed = relations[field]
      return changed?.add?.length || changed?.remove?.length ? [[field, changed]] : []
    }),
  )
}

/** Separates the password of an update, in plain text. Throws invalid unless the store has a writable password, or one of the realm. */
function separatePassword(store: UserStore, { set }: Pick<ObjectUpdate, 'set'>) {
  if (set.credentials === undefined || store.editMode === 'UNSYNCED') return { set, password: undefined }
  const { credentials, ...fields } = set
  const { rest, password } = splitCredentials(store, readObjects(credentials))
  return { set: rest.length ? { ...fields, credentials: rest } : fields, password }
}

function splitCredentials(store: UserStore, credentials: readonly Representation[]) {
  const passwords = credentials.filter(({ type }) => type === 'password')
  if (passwords.length && store.editMode !== 'WRITABLE')
    throw failure('invalid', "Can't reset password as account is read only", { form: 'error' })
  if (passwords.some(({ value }) => typeof value !== 'string'))
    throw failure(
      'invalid',
      `The user federation provider "${store.name}" cannot store a declared or hashed password. Reset the password of the user.`,
      { field: 'credentials' },
    )
  const rest = credentials.filter(({ type }) => type !== 'password')
  return { rest, password: readText(passwords.at(-1)?.value) }
}

/** Records in the journal that the password of a user changed, which only the directory has. */
async function recordPasswordChange(context: WriteContext, live: LiveObject): Promise<void> {
  const { tx, realm, version } = context
  await updateVersions(tx, realm.number, { kind: 'user', version, ids: [live.id] })
  recordEntry(context, { operation: 'update', kind: 'user', object: live, fields: { credentials: null } })
}

/** Separates the changed fields that are to be written to the directory. Throws invalid for changed fields that are read-only. */
function separateMappedFields(store: UserStore, { live, set }: ObjectUpdate) {
  const access = getFieldAccess(store)
  const differences = findDifferences(
    kinds.user,
    flatten(kinds.user, live.representation),
    lowerCaseTexts(kinds.user, set),
  ).filter(({ path }) => access.has(path))
  const remaining: Record<string, FlatFields[string]> = { ...set }
  const mapped: Record<string, FlatFields[string]> = {}
  for (const { path, to } of differences) {
    if (access.get(path) === 'writable') mapped[path] = to
    else if (access.get(path) === 'local') continue
    // Keycloak: an omitted read-only attribute remains.
    else if (to === null && path.startsWith('attributes.')) delete remaining[path]
    else {
      const name = path.replace(/^attributes\./, '')
      throw failure('invalid', 'error-user-attribute-read-only', { params: [name], field: path })
    }
  }
  return { remaining, mapped }
}

/** Returns whether fields are written to the directory, by path; fields of no mapper are missing. */
function getFieldAccess(store: UserStore): ReadonlyMap<string, 'writable' | 'read-only' | 'local'> {
  const { editMode, mappers } = store
  const mayWrite = editMode === 'WRITABLE'
  const writable = editMode === 'UNSYNCED' ? 'local' : mayWrite ? 'writable' : 'read-only'
  const access = new Map<string, 'writable' | 'read-only' | 'local'>([
    ['username', writable],
    [`attributes.${LDAP_ID}`, 'read-only'],
    [`attributes.${LDAP_ENTRY_DN}`, 'read-only'],
  ])
  for (const mapper of mappers) {
    const paths = listMappedPaths(mapper)
    const isWritable = mapper.providerId !== HARDCODED_ATTRIBUTE && !readFlag(mapper.read('read.only'))
    for (const path of paths) access.set(path, isWritable || editMode === 'UNSYNCED' ? writable : 'read-only')
    if (mayWrite && isAccountControlMapper(mapper)) access.set('enabled', 'writable').set('requiredActions', 'writable')
  }
  return access
}

/** Returns the fields and attributes of users that a user store sets, by name, and whether they are read-only. */
export async function listStoreFields(context: Context, id: string): Promise<ReadonlyMap<string, boolean>> {
  const store = (await listUserStores(context)).find((store) => store.id === id)
  if (!store?.isEnabled) return new Map()
  return new Map(
    [...getFieldAccess(store)]
      .filter(([path]) => isOfProfile(store, path))
      .map(([path, access]) => [path.replace(/^attributes\./, ''), access === 'read-only']),
  )
}

const isOfProfile = (store: UserStore, path: string): boolean =>
  !path.startsWith('attributes.') || isProfileAttribute(store, path.slice('attributes.'.length))

/** Lists the paths of the fields that a mapper sets. */
export function listMappedPaths({ providerId, read }: StoreMapper): string[] {
  if (providerId === 'full-name-ldap-mapper') return ['firstName', 'lastName']
  const name = read('user.model.attribute')
  return name === undefined ? [] : [toFieldPath(name)]
}

/** Records that users are deleted in their writable directories, too. Two statements, or none without users of a directory. */
export async function recordDirectoryDeletions(context: WriteContext, users: readonly LiveObject[]): Promise<void> {
  if (context.actor.kind === 'federation' || !users.some(isFederated)) return
  const stores = new Map((await listUserStores(context)).map((store) => [store.id, store]))
  for (const { id, representation } of users) {
    const store = stores.get(readText(representation.federationLink) ?? '')
    // Keycloak: a user of a directory that is not writable is deleted in the realm only, and imported again.
    if (!store?.isEnabled || store.editMode !== 'WRITABLE') continue
    const user = { id, representation }
    context.directoryChanges.push({ operation: 'delete', store: store.id, user, set: {}, relations: {} })
  }
}

/** Returns the directory in which new users are created, which is the first one that takes them; undefined if there is none. */
export async function findRegistrationStore(context: Context | WriteContext): Promise<UserStore | undefined> {
  if (!context.realm.hasUserStores && !hasChanged(context, 'component')) return undefined
  return (await listUserStores(context)).find(
    // Keycloak: a directory that is not writable takes no registrations.
    ({ isEnabled, editMode, syncsRegistrations }) => isEnabled && editMode === 'WRITABLE' && syncsRegistrations,
  )
}

/** Returns a new user in the form in which the realm stores a user of the directory, and the password. Throws invalid. */
export function toDirectoryRegistration(
  store: UserStore,
  { representation, ...object }: NewObject,
): { readonly object: NewObject; readonly password: string | undefined } {
  const { credentials, ...fields } = representation
  const { rest, password } = splitCredentials(store, readObjects(credentials))
  return {
    object: {
      ...object,
      representation: { ...fields, ...(rest.length && { credentials: rest }), federationLink: store.id },
    },
    password,
  }
}

/** Returns the writable directory that stores the password of a user; undefined if the realm does. */
export async function findPasswordStore(
  context: Context,
  { representation }: Pick<LiveObject, 'representation'>,
): Promise<UserStore | undefined> {
  const link = readText(representation.federationLink)
  const stores = link === undefined ? [] : await listUserStores(context)
  return stores.find(({ id, editMode }) => id === link && editMode === 'WRITABLE')
}
