// Imports users of a directory: creates and updates the users of the realm that correspond to entries.
import { type FlatFields, unflatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { readFlag, readText, readTexts } from '../../kinds/json.ts'
import { type SameUser, selectSameUsers } from '../../store/users/federated-users.ts'
import type { WriteContext } from '../context/context.ts'
import { listLatestEntries } from '../journal/journal.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import type { ObjectUpdate } from '../objects/writers.ts'
import { UPDATE_PASSWORD } from '../users/credentials.ts'
import { isAccountControlMapper, LDAP_ENTRY_DN, listMappedPaths } from '../users/federated-users.ts'
import { isPermanentlyLocked } from '../users/lockout.ts'
import type { UserStore } from '../users/user-store.ts'
import { users as userWriters } from '../users/users.ts'
import type { BrokenEntry, DirectoryUser } from './directory-user.ts'
import { getMappedRelations, type MembershipReader } from './memberships.ts'

/** The outcome of an import: the users, and the entries that are not imported, with the reasons. */
export interface ImportedUsers {
  readonly created: readonly LiveObject[]
  readonly updated: readonly LiveObject[]
  readonly failed: readonly BrokenEntry[]
}

/** The users of a directory by whether the realm has them. */
interface Classification {
  readonly newUsers: readonly DirectoryUser[]
  /** Users by their id in the realm. */
  readonly importedUsers: ReadonlyMap<string, DirectoryUser>
  readonly failed: readonly BrokenEntry[]
}

/** Users to import, with a function that returns their groups and roles. */
interface UserImport {
  readonly users: readonly DirectoryUser[]
  readonly memberships: MembershipReader
  /** Whether the fields of the directory replace changes in the realm, which the edit mode UNSYNCED permits. */
  readonly isSynchronization?: boolean
}

/**
 * Creates or updates the users. A user whose username or email address another user has is not imported. The number of statements does
 * not depend on that of the users.
 */
export async function importUsers(
  context: WriteContext,
  store: UserStore,
  { users, memberships, isSynchronization = false }: UserImport,
): Promise<ImportedUsers> {
  const sameUsers = await selectSameUsers(context.tx, context.realm.number, {
    store: store.id,
    uuids: users.map(({ uuid }) => uuid),
    usernames: users.map(({ username }) => username),
    emails: users.flatMap((user) => getEmail(user) ?? []),
  })
  const { newUsers, importedUsers, failed } = classify(store, users, sameUsers)
  const created = await createUsers(context, store, newUsers)
  const lives = importedUsers.size ? await listObjects(context, 'user', { ids: [...importedUsers.keys()] }) : []
  const keepsFields = store.editMode === 'UNSYNCED' && !isSynchronization
  const updates = [
    ...created.map((live, at) => ({ live, user: newUsers[at]!, set: {}, isNew: true })),
    ...lives.map((live) => {
      const user = importedUsers.get(live.id)!
      return { live, user, set: keepsFields ? selectDirectoryFields(store, user) : user.fields, isNew: false }
    }),
  ]
  const written = await updateUsers(context, { updates: await keepDisabled(context, store, updates), memberships })
  return { created: written.slice(0, created.length), updated: written.slice(created.length), failed }
}

/** A user to write, with the fields that follow from the entry. */
type ImportedUpdate = Pick<ObjectUpdate, 'live' | 'set'> & { readonly user: DirectoryUser; readonly isNew: boolean }

/**
 * Returns updates that enable no user of Active Directory whom an administrator or a lockout has disabled: users are enabled if they are so
 * in the directory and in the realm. One statement, or none.
 */
async function keepDisabled(
  context: WriteContext,
  { mappers }: UserStore,
  updates: readonly ImportedUpdate[],
): Promise<readonly ImportedUpdate[]> {
  if (!mappers.some(isAccountControlMapper)) return updates
  const enabled = updates.filter(({ live, set }) => set.enabled === true && live.representation.enabled !== true)
  if (!enabled.length) return updates
  const entries = await listLatestEntries(
    context,
    enabled.map(({ live }) => ({ kind: live.kind, object: live.id })),
  )
  const isOfDirectory = ({ live }: ImportedUpdate) => {
    const ofUser = entries.filter(({ object }) => object === live.id)
    const entry =
      ofUser.find(({ fields }) => 'enabled' in fields) ?? ofUser.find(({ operation }) => operation === 'create')
    return entry?.actor.kind === 'federation' && !isPermanentlyLocked(live.representation)
  }
  const refused = new Set(enabled.filter((update) => !isOfDirectory(update)))
  return updates.map((update) => {
    if (!refused.has(update)) return update
    const { enabled, ...set } = update.set
    return { ...update, set }
  })
}

const DN_PATH = `attributes.${LDAP_ENTRY_DN}`

/** Returns the fields that the directory determines even where users are changed in the realm. */
function selectDirectoryFields({ mappers }: UserStore, { dn, fields }: DirectoryUser): FlatFields {
  const paths = mappers.flatMap((mapper) =>
    readFlag(mapper.read('always.read.value.from.ldap')) ? listMappedPaths(mapper) : [],
  )
  const entries = paths.flatMap((path) => (path in fields ? [[path, fields[path]!] as const] : []))
  return { ...Object.fromEntries(entries), [DN_PATH]: [dn] }
}

const getEmail = ({ fields }: DirectoryUser): string | undefined => readText(fields.email)?.toLowerCase()

function classify(store: UserStore, users: readonly DirectoryUser[], sameUsers: readonly SameUser[]): Classification {
  const byUuid = new Map(
    sameUsers.flatMap((user) => (user.federationLink === store.id && user.uuid ? [[user.uuid, user] as const] : [])),
  )
  const byUsername = new Map(sameUsers.map((user) => [user.username, user]))
  const byEmail = new Map(sameUsers.flatMap((user) => (user.email === null ? [] : [[user.email, user] as const])))
  const usernames = new Set<string>()
  const emails = new Set<string>()
  const newUsers: DirectoryUser[] = []
  const importedUsers = new Map<string, DirectoryUser>()
  const failed: BrokenEntry[] = []
  for (const user of users) {
    const { uuid, dn, username } = user
    const email = getEmail(user)
    const live = byUuid.get(uuid)
    const isTaken = (other: SameUser | undefined) => other !== undefined && other.id !== live?.id
    if (usernames.has(username) || isTaken(byUsername.get(username)))
      failed.push({ dn, problem: `another user has the username ${username}` })
    else if (email !== undefined && (emails.has(email) || isTaken(byEmail.get(email))))
      failed.push({ dn, problem: `another user has the email address ${email}` })
    else {
      usernames.add(username)
      if (email !== undefined) emails.add(email)
      if (live) importedUsers.set(live.id, user)
      else newUsers.push(user)
    }
  }
  return { newUsers, importedUsers, failed }
}

async function createUsers(context: WriteContext, store: UserStore, users: readonly DirectoryUser[]) {
  if (!users.length) return []
  return userWriters.create(
    context,
    users.map(({ fields }) => ({
      representation: { enabled: true, ...unflatten(kinds.user, fields), federationLink: store.id },
    })),
  )
}

const toRequiredActions = ({ representation }: LiveObject): FlatFields => ({
  requiredActions: [...new Set([...readTexts(representation.requiredActions), UPDATE_PASSWORD])].sort(),
})

/** Sets the fields of imported users, and the roles and groups of all of them that follow from the directory. */
async function updateUsers(
  context: WriteContext,
  {
    updates,
    memberships,
  }: {
    readonly updates: readonly ImportedUpdate[]
    readonly memberships: MembershipReader
  },
): Promise<LiveObject[]> {
  const written = updates.map(
    ({ live, user, set, isNew }): ObjectUpdate => ({
      live,
      set: { ...set, ...(user.mustChangePassword && toRequiredActions(live)) },
      relations: getMappedRelations(memberships(user, isNew), live),
    }),
  )
  return written.length ? userWriters.update(context, written) : []
}
