// Writes changes of users to their directories, before the commit of the transaction that has made them.
//
// The directory is the last to be written, since it cannot take part in the transaction: what is refused before leaves both unchanged. If the
// directory refuses a change, the transaction is rolled back, and what was written there is undone. If only the commit fails, the directory is
// ahead, and the next log-in or synchronization imports what it has, since it is authoritative.
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { readObject, readText, readTexts } from '../../kinds/json.ts'
import { type LdapEntry, readValue } from '../../lib/ldap/ldap-entry.ts'
import { anyOf, escapeFilterValue, escapeNameValue, getParentName } from '../../lib/ldap/ldap-syntax.ts'
import { awaitStatements } from '../../store/database/transaction.ts'
import { saveDirectoryIdentities } from '../../store/users/federated-users.ts'
import type { DirectoryChange, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { Service } from '../context/service.ts'
import { listObjects } from '../objects/live-objects.ts'
import { LDAP_ID } from '../users/federated-users.ts'
import { listUserStores, type UserStore } from '../users/user-store.ts'
import { readUuid } from './directory-user.ts'
import {
  type AttributeValues,
  mustChangePassword,
  toAccountAttributes,
  toAttributeValues,
  toNewAttributes,
} from './directory-values.ts'
import { moveMemberships, toAddedRelations, writeMemberships } from './membership-writes.ts'
import { type DirectorySession, type LdapService, type Undo, withStoreConnection } from './store-connection.ts'
import { explainFailure } from './synchronize.ts'
import { buildUserSearch, buildUuidFilter, findLdapAttribute } from './user-filters.ts'

/**
 * Writes the changes that a transaction has recorded to the directories, as its last step.
 *
 * @throws invalid or conflict; then nothing is changed in the directories.
 */
export async function writeDirectoryChanges(
  service: LdapService & Pick<Service, 'warn'>,
  context: WriteContext,
): Promise<void> {
  const changes = context.directoryChanges.splice(0)
  if (!changes.length) return
  await awaitStatements(context.tx)
  const undo: Undo[] = []
  try {
    for (const store of await listUserStores(context)) {
      const ofStore = changes.filter((change) => change.store === store.id)
      if (!ofStore.length) continue
      await explainFailure(store, () =>
        withStoreConnection(service, store, async (connection) => {
          const session = { context, store, connection, undoBy: (run: Undo['run']) => undo.push({ store, run }) }
          for (const change of sortChanges(ofStore)) await writeChange(session, change)
        }),
      )
    }
  } catch (error) {
    await undoChanges(service, undo)
    throw error
  }
}

/** Deletions cannot be undone, so that they come last, after passwords. */
const sortChanges = (changes: readonly DirectoryChange[]): DirectoryChange[] => {
  const rank = ({ operation, password }: DirectoryChange) =>
    operation === 'delete' ? 2 : password === undefined || operation === 'create' ? 0 : 1
  return changes.toSorted((a, b) => rank(a) - rank(b))
}

async function undoChanges(service: LdapService & Pick<Service, 'warn'>, undo: readonly Undo[]): Promise<void> {
  for (const { store, run } of undo.toReversed()) {
    await withStoreConnection(service, store, run).catch((error: Error) =>
      service.warn(
        `The directory of the user federation provider "${store.name}" has a change that failed: ${error.message}`,
      ),
    )
  }
}

async function writeChange(session: DirectorySession, change: DirectoryChange): Promise<void> {
  if (change.password !== undefined) requireSecurePasswords(session.store)
  if (change.operation === 'create') return createEntry(session, change)
  const entry = await findEntry(session, change)
  if (change.operation === 'delete') {
    if (!entry) return
    await moveMemberships(session, { from: entry, to: undefined })
    return session.connection.delete(entry.dn)
  }
  if (!entry) throw failure('invalid', `The user "${getUsername(change)}" does not exist in the directory`)
  await updateEntry(session, change, entry)
}

const getUsername = ({ user }: DirectoryChange): string => readText(user.representation.username) ?? ''

/** Returns the entry of a user. It is looked up by its id, since it may have been renamed in the directory. */
async function findEntry({ store, connection }: DirectorySession, { user }: DirectoryChange) {
  const attributes = readObject(user.representation.attributes)
  const [uuid] = readTexts(attributes[LDAP_ID])
  if (uuid === undefined) return undefined
  for await (const [entry] of connection.search(buildUserSearch(store, buildUuidFilter(store, uuid), 2)))
    if (entry) return entry
  return undefined
}

async function updateEntry(session: DirectorySession, change: DirectoryChange, entry: LdapEntry): Promise<void> {
  const { store, connection } = session
  const { user, set, relations, password } = change
  const fields = { ...flatten(kinds.user, user.representation), ...set }
  await requireFreeNames(session, set, entry)
  const state = {
    entry,
    isEnabled: fields.enabled === true,
    mustChangePassword: mustChangePassword(fields.requiredActions),
  }
  const isRequestChanged =
    'requiredActions' in set && mustChangePassword(user.representation.requiredActions) !== state.mustChangePassword
  const changed = { enabled: 'enabled' in set, actions: isRequestChanged }
  const values = { ...toAttributeValues(store, { set, fields }), ...toAccountAttributes(store, state, changed) }
  const renamed = await renameEntry(session, { entry, values, user: user.id })
  await replaceValues(session, renamed, omitAttribute(values, store.rdnAttribute))
  await writeMemberships(session, { entry: renamed, relations })
  if (password === undefined) return
  await writePassword(session, renamed.dn, password)
  const account = toAccountAttributes(store, state, { password: true })
  if (Object.keys(account).length) await connection.replaceAttributes(renamed.dn, account)
}

const omitAttribute = (values: AttributeValues, omitted: string): AttributeValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !isSameAttribute(name, omitted)))

const isSameAttribute = (name: string, other: string): boolean => name.toLowerCase() === other.toLowerCase()

/** Renames an entry if the attribute of its name changes, and returns it with its new name. */
async function renameEntry(
  session: DirectorySession,
  { entry, values, user }: { readonly entry: LdapEntry; readonly values: AttributeValues; readonly user: string },
): Promise<LdapEntry> {
  const { context, store, connection, undoBy } = session
  const [, newValues = []] = Object.entries(values).find(([name]) => isSameAttribute(name, store.rdnAttribute)) ?? []
  const [value] = newValues
  if (value === undefined || String(value) === readValue(entry, store.rdnAttribute)) return entry
  const dn = `${store.rdnAttribute}=${escapeNameValue(String(value))},${getParentName(entry.dn)}`
  await connection.rename(entry.dn, dn)
  undoBy((again) => again.rename(dn, entry.dn))
  const attributes = new Map([...entry.attributes, [store.rdnAttribute.toLowerCase(), [Buffer.from(String(value))]]])
  const renamed = { ...entry, dn, attributes }
  await moveMemberships(session, { from: entry, to: renamed })
  const uuid = readUuid(store, entry)!
  await saveDirectoryIdentities(context.tx, context.realm.number, [{ id: user, uuid, dn }])
  return renamed
}

async function replaceValues(
  { connection, undoBy }: DirectorySession,
  { dn, attributes }: LdapEntry,
  values: AttributeValues,
): Promise<void> {
  const names = Object.keys(values)
  if (!names.length) return
  await connection.replaceAttributes(dn, values)
  const before = Object.fromEntries(names.map((name) => [name, attributes.get(name.toLowerCase()) ?? []]))
  undoBy((again) => again.replaceAttributes(dn, before))
}

async function createEntry(session: DirectorySession, change: DirectoryChange): Promise<void> {
  const { context, store, connection, undoBy } = session
  const [live] = await listObjects(context, 'user', { ids: [change.user.id] })
  const { representation, id } = live!
  const fields = flatten(kinds.user, representation)
  await requireFreeNames(session, fields)
  const values = toNewAttributes(store, fields)
  const [, [name = ''] = []] = Object.entries(values).find(([key]) => isSameAttribute(key, store.rdnAttribute)) ?? []
  const dn = `${store.rdnAttribute}=${escapeNameValue(String(name))},${store.createDn}`
  await connection.add(dn, values)
  undoBy((again) => again.delete(dn))
  const entry = await readEntry(session, dn)
  const uuid = entry && readUuid(store, entry)
  if (!entry || !uuid) throw failure('invalid', `The new entry ${dn} has no ${store.uuidAttribute}`)
  await saveDirectoryIdentities(context.tx, context.realm.number, [{ id, uuid, dn }])
  await writeMemberships(session, { entry, relations: toAddedRelations(representation) })
  if (change.password === undefined) return
  await writePassword(session, dn, change.password)
  const state = {
    entry,
    isEnabled: fields.enabled === true,
    mustChangePassword: mustChangePassword(fields.requiredActions),
  }
  const account = toAccountAttributes(store, state, { password: true })
  if (Object.keys(account).length) await connection.replaceAttributes(dn, account)
}

async function readEntry({ store, connection }: DirectorySession, dn: string): Promise<LdapEntry | undefined> {
  const { attributes } = buildUserSearch(store)
  for await (const [entry] of connection.search({ base: dn, scope: 'base', filter: '(objectClass=*)', attributes }))
    return entry
  return undefined
}

/** Throws conflict if another entry has the new username, or the new email address. */
async function requireFreeNames(
  { store, connection }: DirectorySession,
  { username, email }: { readonly username?: unknown; readonly email?: unknown },
  self?: LdapEntry,
): Promise<void> {
  const mail = findLdapAttribute(store, 'email')
  const names = [
    { field: 'username', attribute: store.usernameAttribute, value: username },
    { field: 'email', attribute: mail, value: email },
  ].filter(({ attribute, value }) => attribute !== undefined && typeof value === 'string' && value !== '')
  if (!names.length) return
  const filter = anyOf(names.map(({ attribute, value }) => `(${attribute}=${escapeFilterValue(String(value))})`))
  for await (const page of connection.search(buildUserSearch(store, filter))) {
    for (const entry of page) {
      if (self && readUuid(store, entry) === readUuid(store, self)) continue
      const isTaken = ({ attribute, value }: (typeof names)[number]) =>
        readValue(entry, attribute!)?.toLowerCase() === String(value).toLowerCase()
      const field = names.find(isTaken)?.field ?? 'username'
      throw failure('conflict', `User exists with same ${field}`)
    }
  }
}

/** Active Directory accepts passwords over TLS only. */
function requireSecurePasswords({ vendor, usesPasswordExtension, server, name }: UserStore): void {
  const isSecure = server.startTls || server.urls.every((url) => /^ldaps:/i.test(url))
  if (vendor === 'ad' && !usesPasswordExtension && !isSecure)
    throw failure('invalid', `Active Directory changes passwords over TLS only. Use ldaps or StartTLS in "${name}".`)
}

function writePassword(
  { store, connection }: Pick<DirectorySession, 'store' | 'connection'>,
  dn: string,
  password: string,
): Promise<void> {
  if (store.usesPasswordExtension) return connection.modifyPassword(dn, password)
  if (store.vendor === 'ad')
    return connection.replaceAttributes(dn, { unicodePwd: [Buffer.from(`"${password}"`, 'utf16le')] })
  return connection.replaceAttributes(dn, { userPassword: [password] })
}
