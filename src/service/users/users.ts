// People and the accounts of clients: what each new one gets, credentials, consents, accounts at identity providers.
import { defaultRoleOf } from '../../kinds/built-in/index.ts'
import { foldTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { isEmpty, type Json, type Representation } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { declaresRoles } from '../../kinds/user.ts'
import { deleteFailures, unlock } from '../../store/login/login-failures.ts'
import { insertDefaultRole } from '../../store/users/role-mappings.ts'
import { insertDefaultGroups, reserveNames, selectServiceAccounts } from '../../store/users/users.ts'
import { deleteResourcesOf } from '../authorization/authorization.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { createOrUpdate } from '../objects/already-there.ts'
import { unlessTaken } from '../objects/conflicts.ts'
import { type LiveObject, listObjects } from '../objects/live.ts'
import { plain } from '../objects/objects.ts'
import { idsOf } from '../objects/references.ts'
import type { NewObject, Update, Writers } from '../objects/writers.ts'
import { demandNewcomers } from '../permissions/privilege.ts'
import { consentsOf, writeConsents } from './consents.ts'
import { actionsOf, writeCredentials } from './credentials.ts'
import { defaultRoleName } from './default-role.ts'
import { federatedIdentitiesOf, writeFederatedIdentities } from './federated-identities.ts'
import { withoutReason } from './lockout.ts'

const writers = plain('user')

/** The writers of users. Credentials come prepared: `prepareCredentials` takes its time, which no transaction has. */
export const users: Writers = {
  ...writers,
  async list(context, filter) {
    const found = await writers.list(context, filter)
    const clientConsents = await consentsOf(context, found)
    const federatedIdentities = await federatedIdentitiesOf(context, found)
    return found.map((live) => withApart(live, { clientConsents, federatedIdentities }))
  },
  async create(context, objects) {
    const known = await accountsAlready(context, objects)
    return createOrUpdate(
      objects,
      known,
      (fresh) => createUsers(context, fresh),
      async (updates) => {
        const exact = [...known.keys()].map(({ representation }) => declaresRoles(representation))
        return users.update(context, await withoutDefaultRole(context, updates, (at) => exact[at]!))
      },
    )
  },
  additions: (realm) => (user) => (declaresRoles(user) ? {} : { realmRoles: [defaultRoleOf(realm.key[0]!)] }),
  async update(context, updates) {
    const updated = await writers.update(context, updates.map(withActions).map(withMemberships).map(withoutLock))
    await letIn(context, updates)
    await refuseTakenNames(
      context,
      updates.filter(isRenamed).map(({ live }) => live.id),
    )
    await writeApart(
      context,
      updates.map((update) => ({ id: update.live.id, stated: update.set, fresh: false, ofClient: isOfClient(update) })),
    )
    return updated
  },
  async delete(context, objects) {
    await deleteResourcesOf(context, objects)
    await deleteFailures(
      context.tx,
      context.realm.number,
      objects.map(({ id }) => id),
    )
    await writers.delete(context, objects)
  },
}

/** Gives a user roles. Throws invalid where a role does not exist. */
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
  const made = await writers.create(
    context,
    objects.map((one) => ({ ...one, representation: withMembership(completed(one.representation, now)) })),
  )
  const ids = made.map(({ id }) => id)
  await refuseTakenNames(context, ids)
  const usual = ids.filter((_, at) => !declaresRoles(objects[at]!.representation))
  await insertDefaultRole(tx, realm.number, usual)
  await insertDefaultGroups(tx, realm.number, ids)
  await demandNewcomers(context)
  await writeApart(
    context,
    objects.map(({ representation: stated }, at) => {
      const ofClient = (stated.serviceAccountClientId ?? null) !== null
      return { id: ids[at]!, stated, fresh: true, ofClient }
    }),
  )
  return made
}

/**
 * A service account gets the default role with its client: one that came in this transaction loses it where its roles are declared.
 * Statements: two, or none.
 */
async function withoutDefaultRole(
  context: WriteContext,
  updates: readonly Update[],
  isExact: (at: number) => boolean,
): Promise<readonly Update[]> {
  const created = new Set(context.people.flatMap((one) => (one.operation === 'create' ? [one.object] : [])))
  const losing = new Set(updates.filter(({ live }, at) => isExact(at) && created.has(live.id)))
  const role = losing.size ? await defaultRoleName(context) : undefined
  if (role === undefined) return updates
  return updates.map((update) => {
    if (!losing.has(update)) return update
    const { realmRoles = {}, ...others } = update.relations ?? {}
    const isKept = realmRoles.add?.some(([name]) => name === role)
    return isKept ? update : { ...update, relations: { ...others, realmRoles: { ...realmRoles, remove: [[role]] } } }
  })
}

/** What is stated of a user who is new (`fresh`), or is there; `ofClient`: a service account. */
interface ApartUser {
  readonly id: string
  readonly stated: Representation
  readonly fresh: boolean
  readonly ofClient: boolean
}

/** Writes what is kept in tables of its own, where it is stated. Throws invalid where a service account gets credentials. */
async function writeApart(context: WriteContext, users: readonly ApartUser[]): Promise<void> {
  const stating = (field: string) =>
    users.filter(({ stated, fresh }) => field in stated && !(fresh && stated[field] === null))
  const credentials = stating('credentials')
  if (credentials.some(({ ofClient, stated }) => ofClient && !isEmpty(stated.credentials)))
    throw failure('invalid', 'A service account has no credentials: it logs in as its client does. Remove them')
  if (credentials.length)
    await writeCredentials(
      context,
      credentials.map(({ id, stated, fresh }) => ({ id, credentials: stated.credentials, fresh })),
    )
  await writeConsents(
    context,
    stating('clientConsents').map(({ id, stated }) => ({ id, stated: stated.clientConsents })),
  )
  await writeFederatedIdentities(
    context,
    stating('federatedIdentities').map(({ id, stated }) => ({ id, stated: stated.federatedIdentities })),
  )
}

function completed(stated: Representation, now: Date): Representation {
  const actions = actionsOf(stated.credentials)
  return {
    createdTimestamp: now.getTime(),
    ...stated,
    ...(actions.length && { requiredActions: together(stated.requiredActions, actions) }),
  }
}

function withActions(update: Update): Update {
  const { live, set } = update
  const actions = actionsOf(set.credentials)
  if (!actions.length) return update
  const stated = set.requiredActions ?? live.representation.requiredActions
  return { ...update, set: { ...set, requiredActions: together(stated, actions) } }
}

/** Whom an organization manages belongs to it. */
function withMembership(stated: Representation): Representation {
  const { managedBy = null } = stated
  return managedBy === null
    ? stated
    : { ...stated, organizations: together(stated.organizations ?? [], managedBy as string[]) }
}

function withMemberships(update: Update): Update {
  const { managedBy, organizations } = update.relations ?? {}
  if (!managedBy?.add?.length) return update
  const add = [...(organizations?.add ?? []), ...managedBy.add]
  return { ...update, relations: { ...update.relations, organizations: { ...organizations, add } } }
}

/** Who is enabled again is not locked any more. */
function withoutLock(update: Update): Update {
  const { live, set } = update
  return { ...update, set: { ...withoutReason(live.representation, set), ...set } }
}

async function letIn({ tx, realm, now }: WriteContext, updates: readonly Update[]): Promise<void> {
  const enabled = updates.filter(({ set }) => set.enabled === true)
  if (!enabled.length) return
  const [were, again] = [true, false].map((before) =>
    enabled.filter(({ live }) => (live.representation.enabled === true) === before).map(({ live }) => live.id),
  )
  await unlock(tx, realm.number, { again: again!, locked: were!, now })
}

function together(stated: Json | undefined, actions: readonly string[]): string[] {
  return [...new Set([...((stated ?? []) as string[]), ...actions])].sort()
}

/** Keycloak: a client gets its account with the switch for it; documents state that account too, which is the same then. */
async function accountsAlready(
  context: WriteContext,
  objects: readonly NewObject[],
): Promise<Map<NewObject, LiveObject>> {
  const stated = objects.filter(({ representation }) => typeof representation.serviceAccountClientId === 'string')
  if (!stated.length) return new Map()
  const clientOf = ({ representation }: NewObject): Key => [String(representation.serviceAccountClientId)]
  const clients = await idsOf(context, 'client', stated.map(clientOf))
  const accounts = await selectServiceAccounts(context.tx, context.realm.number, [...clients.values()])
  const found = accounts.length ? await listObjects(context, 'user', { ids: accounts.map(({ id }) => id) }) : []
  const byClient = new Map(accounts.map(({ id, client }) => [client, found.find((live) => live.id === id)!]))
  return new Map(
    stated.flatMap((one) => {
      const live = byClient.get(clients.get(JSON.stringify(clientOf(one)))!)
      return live ? [[one, live] as const] : []
    }),
  )
}

/** Whether a user is a service account after the update. */
function isOfClient({ live, set }: Update): boolean {
  const { serviceAccountClientId: client = live.representation.serviceAccountClientId } = set
  return (client ?? null) !== null
}

/** Whether an update gives a user another name or address. */
function isRenamed({ live, set }: Update): boolean {
  const stated = foldTexts(kinds.user, set)
  const isOther = (field: string) => field in stated && (stated[field] ?? null) !== (live.representation[field] ?? null)
  return isOther('username') || isOther('email')
}

/** Keycloak: an address belongs to one user, unless the realm lets several have it, and is nobody else's name. */
async function refuseTakenNames({ tx, realm }: WriteContext, ids: readonly string[]): Promise<void> {
  if (!ids.length) return
  const same = (field: string) => `User exists with same ${field}`
  const conflict = { create: same('email'), update: same('email') }
  await unlessTaken({ title: 'user', conflict }, 'update', async () => {
    const field = await reserveNames(tx, realm.number, ids)
    if (field !== undefined) throw failure('conflict', same(field))
  })
}

function withApart(live: LiveObject, apart: Readonly<Record<string, ReadonlyMap<string, Json>>>): LiveObject {
  const own = Object.entries(apart).flatMap(([field, values]): [string, Json][] => {
    const value = values.get(live.id)
    return value === undefined ? [] : [[field, value]]
  })
  return own.length ? { ...live, representation: { ...live.representation, ...Object.fromEntries(own) } } : live
}
