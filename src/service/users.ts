// People and the accounts of clients: what each new one gets, credentials, consents, accounts at identity providers.
import { defaultRoleOf } from '../kinds/built-in/index.ts'
import type { Json } from '../kinds/fields.ts'
import type { Key, Representation } from '../kinds/kind.ts'
import { deleteFailures, unlock } from '../store/login-failures.ts'
import { insertDefaultRole } from '../store/role-mappings.ts'
import { insertDefaultGroups, selectServiceAccounts, selectSharedMail } from '../store/users.ts'
import { createOrUpdate } from './already-there.ts'
import { deleteResourcesOf } from './authorization.ts'
import { consentsOf, writeConsents } from './consents.ts'
import type { WriteContext } from './context.ts'
import { actionsOf, writeCredentials } from './credentials.ts'
import { failure } from './errors.ts'
import { federatedIdentitiesOf, writeFederatedIdentities } from './federated-identities.ts'
import { type LiveObject, listObjects } from './live.ts'
import { withoutReason } from './lockout.ts'
import { type NewObject, plain, type Update, type Writers } from './objects.ts'
import { demandNewcomers } from './privilege.ts'
import { idsOf } from './references.ts'

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
    return createOrUpdate(
      objects,
      await accountsAlready(context, objects),
      (fresh) => createUsers(context, fresh),
      (updates) => users.update(context, updates),
    )
  },
  additions:
    (realm) =>
    ({ realmRoles }) =>
      isNone(realmRoles) ? {} : { realmRoles: together(realmRoles, [defaultRoleOf(realm.key[0]!)]) },
  async update(context, updates) {
    const updated = await writers.update(context, updates.map(withActions).map(withMemberships).map(withoutLock))
    await letIn(context, updates)
    await refuseSharedMail(context, updates)
    await writeApart(
      context,
      updates.map(({ live, set }) => ({ id: live.id, stated: set, fresh: false })),
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
  await refuseSharedMail(
    context,
    made.map(({ representation: { email = null } }) => ({ set: { email } })),
  )
  const usual = ids.filter((_, at) => !isNone(objects[at]!.representation.realmRoles))
  await insertDefaultRole(tx, realm.number, usual)
  await insertDefaultGroups(tx, realm.number, ids)
  await demandNewcomers(context)
  await writeApart(
    context,
    objects.map(({ representation: stated }, at) => ({ id: ids[at]!, stated, fresh: true })),
  )
  return made
}

/** Keycloak: whoever is stated to have no roles does not have the one either that everybody has. */
function isNone(realmRoles: Json | undefined): boolean {
  return realmRoles === null || (Array.isArray(realmRoles) && realmRoles.length === 0)
}

/** Writes what is kept in tables of its own, where it is stated. */
async function writeApart(
  context: WriteContext,
  users: readonly { readonly id: string; readonly stated: Representation; readonly fresh: boolean }[],
): Promise<void> {
  const stating = (field: string) =>
    users.filter(({ stated, fresh }) => field in stated && !(fresh && stated[field] === null))
  const credentials = stating('credentials')
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

/** Keycloak: an address belongs to one person, unless the realm lets several have it. */
async function refuseSharedMail(context: WriteContext, updates: readonly Pick<Update, 'set'>[]): Promise<void> {
  const addresses = updates.flatMap(({ set: { email } }) => (email == null ? [] : [String(email)]))
  if (!addresses.length) return
  const [shared] = await selectSharedMail(context.tx, context.realm.number, addresses)
  if (shared !== undefined) throw failure('conflict', 'User exists with same email')
}

function withApart(live: LiveObject, apart: Readonly<Record<string, ReadonlyMap<string, Json>>>): LiveObject {
  const own = Object.entries(apart).flatMap(([field, values]): [string, Json][] => {
    const value = values.get(live.id)
    return value === undefined ? [] : [[field, value]]
  })
  return own.length ? { ...live, representation: { ...live.representation, ...Object.fromEntries(own) } } : live
}
