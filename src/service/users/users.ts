// The writers of users, service accounts among them. They also write credentials, consents and federated identities,
// which are stored in tables of their own.
import { getDefaultRoleName } from '../../kinds/built-in/index.ts'
import { lowerCaseTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { isEmpty, type Json, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { type Key, viewOf } from '../../kinds/kind.ts'
import { declaresRoles, user as userKind } from '../../kinds/user.ts'
import { deleteFailures, deleteTemporaryFailures } from '../../store/login/login-failures.ts'
import { insertDefaults, reserveNames, selectServiceAccounts } from '../../store/users/users.ts'
import { deleteObjectResources } from '../authorization/admin-permission-resources.ts'
import { deleteResourcesOfOwners } from '../authorization/authorization-writers.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { sendWrite } from '../context/send-write.ts'
import { withConflictErrors } from '../objects/conflicts.ts'
import { createOrUpdate } from '../objects/create-or-update.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { createPlainWriters } from '../objects/plain-writers.ts'
import { getIdsByKey } from '../objects/references.ts'
import type { NewObject, ObjectUpdate, Writers } from '../objects/writers.ts'
import { requireGrantableDefaults } from '../permissions/privilege-escalation.ts'
import { getConsentsByUser, replaceConsents } from './consents.ts'
import { getRequiredActions, writeCredentials } from './credentials.ts'
import { findDefaultRoleName } from './default-role.ts'
import { getFederatedIdentitiesByUser, replaceFederatedIdentities } from './federated-identities.ts'
import {
  findRegistrationStore,
  recordDirectoryDeletions,
  recordDirectoryUpdates,
  toDirectoryRegistration,
} from './federated-users.ts'
import { clearDisabledReason } from './lockout.ts'

const writers = createPlainWriters('user')

/** The writers of users. Credentials must be hashed already, by `prepareCredentials`: that is too slow for a transaction. */
export const users: Writers = {
  ...writers,
  async list(context, filter) {
    const users = await writers.list(context, filter)
    const clientConsents = await getConsentsByUser(context, users)
    const federatedIdentities = await getFederatedIdentitiesByUser(context, users)
    return users.map((live) => withSeparateFields(live, { clientConsents, federatedIdentities }))
  },
  async create(context, objects) {
    const existing = await findExistingAccounts(context, objects)
    return createOrUpdate(objects, existing, {
      create: (newUsers) => createUsers(context, newUsers),
      update: async (updates) => {
        const declareRoles = [...existing.keys()].map(({ representation }) => declaresRoles(representation))
        const losing = updates.filter((_, at) => declareRoles[at])
        return users.update(context, await withoutDefaultRole(context, updates, losing))
      },
    })
  },
  getCreationDefaults: (realm) => (user) =>
    declaresRoles(user) ? {} : { realmRoles: [getDefaultRoleName(realm.key[0]!)] },
  async update(context, updates) {
    const separated = await recordDirectoryUpdates(context, updates.map(addRequiredActions))
    const complete = separated.map(addManagedMemberships).map(removeFromGroups).map(withoutDisabledReason)
    const updated = await writers.update(context, complete)
    await unlockEnabled(context, updates)
    await checkNames(
      context,
      updated.filter((_, at) => isRenamed(updates[at]!)),
    )
    await writeSeparateFields(
      context,
      separated.map((update) => ({
        id: update.live.id,
        fields: update.set,
        isNew: false,
        isServiceAccount: isServiceAccount({ ...update.live.representation, ...update.set }),
      })),
    )
    return updated
  },
  async delete(context, objects) {
    await recordDirectoryDeletions(context, objects)
    await deleteImported(context, objects)
  },
}

/** Deletes users in the realm, but not in their directories. */
export async function deleteImported(context: WriteContext, objects: readonly LiveObject[]): Promise<void> {
  await deleteResourcesOfOwners(context, objects)
  await deleteObjectResources(context, objects)
  await deleteFailures(
    context.tx,
    context.realm.number,
    objects.map(({ id }) => id),
  )
  await writers.delete(context, objects)
}

/**
 * Creates a user who registers, or whom an administrator creates: if a directory takes registrations, there, too. Keycloak: users of documents
 * are created in the realm only.
 */
export async function registerUser(context: WriteContext, newUser: NewObject): Promise<LiveObject> {
  const store = await findRegistrationStore(context)
  const { object, password } = store
    ? toDirectoryRegistration(store, newUser)
    : { object: newUser, password: undefined }
  const [user] = await users.create(context, [object])
  if (store) {
    const { id, representation } = user!
    const change = { store: store.id, user: { id, representation }, set: {}, relations: {}, password }
    context.directoryChanges.push({ operation: 'create', ...change })
  }
  return user!
}

/** Grants realm roles to a user. Throws invalid where a role does not exist. */
export async function grantRealmRoles(
  context: WriteContext,
  user: LiveObject,
  roles: readonly string[],
): Promise<void> {
  const add = roles.map((name): Key => [name])
  await users.update(context, [{ live: user, set: {}, relations: { realmRoles: { add } } }])
}

async function createUsers(context: WriteContext, objects: readonly NewObject[]): Promise<LiveObject[]> {
  const { tx, realm, now } = context
  const created = await writers.create(
    context,
    objects.map((object) => ({ ...object, representation: addManaged(addCreationFields(object.representation, now)) })),
  )
  const ids = created.map(({ id }) => id)
  await sendWrite(context, checkNames(context, created))
  const withDefaultRole = ids.filter((_, at) => !declaresRoles(objects[at]!.representation))
  await sendWrite(context, insertDefaults(tx, realm.number, { users: ids, withDefaultRole }))
  await requireGrantableDefaults(context)
  await writeSeparateFields(
    context,
    objects.map(({ representation: fields }, at) => ({
      id: ids[at]!,
      fields,
      isNew: true,
      isServiceAccount: isServiceAccount(fields),
    })),
  )
  return created
}

/**
 * Removes the default role from the service accounts among `candidates` that were created with their client in this
 * transaction: their declared roles are complete. Two statements, or none.
 */
async function withoutDefaultRole(
  context: WriteContext,
  updates: readonly ObjectUpdate[],
  candidates: readonly ObjectUpdate[],
): Promise<readonly ObjectUpdate[]> {
  const created = new Set(
    context.userEntries.flatMap(({ operation, object }) => (operation === 'create' ? [object] : [])),
  )
  const losing = new Set(candidates.filter(({ live }) => created.has(live.id)))
  const role = losing.size ? await findDefaultRoleName(context) : undefined
  if (role === undefined) return updates
  return updates.map((update) => {
    if (!losing.has(update)) return update
    const { realmRoles = {}, ...relations } = update.relations ?? {}
    if (realmRoles.add?.some(([name]) => name === role)) return update
    return { ...update, relations: { ...relations, realmRoles: { ...realmRoles, remove: [[role]] } } }
  })
}

/** The fields of a user to write; some of them are stored in tables of their own. */
interface WrittenUser {
  readonly id: string
  readonly fields: Representation
  readonly isNew: boolean
  readonly isServiceAccount: boolean
}

/** Writes the fields that are stored separately. Throws invalid where a service account gets credentials. */
async function writeSeparateFields(context: WriteContext, users: readonly WrittenUser[]): Promise<void> {
  const withField = (field: string) =>
    users.filter(({ fields, isNew }) => field in fields && !(isNew && fields[field] === null))
  const withCredentials = withField('credentials')
  if (withCredentials.some(({ isServiceAccount, fields }) => isServiceAccount && !isEmpty(fields.credentials)))
    throw failure(
      'invalid',
      'A service account cannot have credentials, because it authenticates as its client. Remove the credentials',
    )
  if (withCredentials.length)
    await writeCredentials(
      context,
      withCredentials.map(({ id, fields, isNew }) => ({ id, credentials: fields.credentials, isNew })),
    )
  await replaceConsents(
    context,
    withField('clientConsents').map(({ id, fields }) => ({ id, declared: fields.clientConsents })),
  )
  await replaceFederatedIdentities(
    context,
    withField('federatedIdentities').map(({ id, fields }) => ({ id, declared: fields.federatedIdentities })),
  )
}

/** Adds the creation time, and the required actions that follow from credentials. */
function addCreationFields(declared: Representation, now: Date): Representation {
  const actions = getRequiredActions(declared.credentials)
  return {
    createdTimestamp: now.getTime(),
    ...declared,
    ...(actions.length && { requiredActions: mergeTexts(declared.requiredActions, actions) }),
  }
}

function addRequiredActions(update: ObjectUpdate): ObjectUpdate {
  const { live, set } = update
  const actions = getRequiredActions(set.credentials)
  if (!actions.length) return update
  const existing = set.requiredActions ?? live.representation.requiredActions
  return { ...update, set: { ...set, requiredActions: mergeTexts(existing, actions) } }
}

/** Makes managed members of organizations also their members. */
function addManaged(declared: Representation): Representation {
  const { managedBy = null, organizations } = declared
  return managedBy === null ? declared : { ...declared, organizations: mergeTexts(organizations, readTexts(managedBy)) }
}

/** Makes users who become managed members of organizations also their members. */
function addManagedMemberships(update: ObjectUpdate): ObjectUpdate {
  const { managedBy, organizations } = update.relations ?? {}
  if (!managedBy?.add?.length) return update
  const add = [...(organizations?.add ?? []), ...managedBy.add]
  return { ...update, relations: { ...update.relations, organizations: { ...organizations, add } } }
}

/** Removes users who leave an organization from its groups. */
function removeFromGroups(update: ObjectUpdate): ObjectUpdate {
  const { live, relations } = update
  const removedFrom = relations?.organizations?.remove
  if (!removedFrom?.length) return update
  const memberships = readObject(live.representation.organizationGroups)
  const remove = removedFrom.flatMap(([alias]) =>
    readTexts(memberships[alias!]).map((path): Key => ['organization', alias!, path]),
  )
  if (!remove.length) return update
  const organizationGroups = { ...relations?.organizationGroups, remove }
  return { ...update, relations: { ...relations, organizationGroups } }
}

/** Removes the reason for a permanent lock from users who are enabled. */
function withoutDisabledReason(update: ObjectUpdate): ObjectUpdate {
  const { live, set } = update
  return { ...update, set: { ...clearDisabledReason(live.representation, set), ...set } }
}

/** Clears the login failures of users who are enabled by an update. */
async function unlockEnabled({ tx, realm, now }: WriteContext, updates: readonly ObjectUpdate[]): Promise<void> {
  const enabled = updates.filter(({ set }) => set.enabled === true)
  if (!enabled.length) return
  const [wereEnabled, wereDisabled] = [true, false].map((before) =>
    enabled.filter(({ live }) => (live.representation.enabled === true) === before).map(({ live }) => live.id),
  )
  await deleteTemporaryFailures(tx, realm.number, { again: wereDisabled!, locked: wereEnabled!, now })
}

function mergeTexts(existing: Json | undefined, added: readonly string[]): string[] {
  return [...new Set([...readTexts(existing), ...added])].sort()
}

/**
 * Returns those of the new users that exist already. Keycloak: a client creates its service account itself; documents
 * declare that account too.
 */
async function findExistingAccounts(
  context: WriteContext,
  objects: readonly NewObject[],
): Promise<Map<NewObject, LiveObject>> {
  const accounts = objects.filter(({ representation }) => typeof representation.serviceAccountClientId === 'string')
  if (!accounts.length) return new Map()
  const toClientKey = ({ representation }: NewObject): Key => [String(representation.serviceAccountClientId)]
  const clientIds = await getIdsByKey(context, 'client', accounts.map(toClientKey))
  const rows = await selectServiceAccounts(context.tx, context.realm.number, [...clientIds.values()])
  const existing = rows.length ? await listObjects(context, 'user', { ids: rows.map(({ id }) => id) }) : []
  const byClient = new Map(rows.map(({ id, client }) => [client, existing.find((live) => live.id === id)!]))
  return new Map(
    accounts.flatMap((account) => {
      const live = byClient.get(clientIds.get(JSON.stringify(toClientKey(account)))!)
      return live ? [[account, live] as const] : []
    }),
  )
}

function isServiceAccount({ serviceAccountClientId = null }: Representation): boolean {
  return serviceAccountClientId !== null
}

/** Whether an update changes the username or the email address of a user. */
function isRenamed({ live, set }: ObjectUpdate): boolean {
  const folded = lowerCaseTexts(kinds.user, set)
  const isChanged = (field: string) =>
    field in folded && (folded[field] ?? null) !== (live.representation[field] ?? null)
  return isChanged('username') || isChanged('email')
}

/**
 * Throws conflict where an email address belongs to another user, unless the realm allows duplicates, or is the username
 * of another user. Keycloak: the messages are its own.
 */
async function checkNames({ tx, realm }: WriteContext, renamed: readonly LiveObject[]): Promise<void> {
  if (!renamed.length) return
  const names = renamed.map(({ id, representation }) => {
    const { username, email } = viewOf(userKind, representation)
    return { id, username: username!.toLowerCase(), email: email?.toLowerCase() ?? null }
  })
  const message = (field: string) => `User exists with same ${field}`
  const conflict = { create: message('email'), update: message('email') }
  await withConflictErrors({ title: 'user', conflict }, 'update', async () => {
    const field = await reserveNames(tx, realm.number, names)
    if (field !== undefined) throw failure('conflict', message(field))
  })
}

/** Adds fields that are stored separately to a user; `values` are by field, then by id of the user. */
function withSeparateFields(live: LiveObject, values: Readonly<Record<string, ReadonlyMap<string, Json>>>): LiveObject {
  const fields = Object.entries(values).flatMap(([field, byUser]): [string, Json][] => {
    const value = byUser.get(live.id)
    return value === undefined ? [] : [[field, value]]
  })
  return fields.length ? { ...live, representation: { ...live.representation, ...Object.fromEntries(fields) } } : live
}
