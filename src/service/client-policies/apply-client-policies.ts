// Applies client policies to changes of clients: executors configure the client, and then check it.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { addProtocolDefaults } from '../../kinds/client.ts'
import { type FlatFields, flatten, isDeepEqual, unflatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readObject } from '../../kinds/json.ts'
import { loadRolesAndGroups } from '../authorization/evaluation-data.ts'
import type { Context, PolicyValue, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { findLiveRealm, type LiveObject, listObjects } from '../objects/live-objects.ts'
import { toUpdatedRepresentation } from '../objects/plain-writers.ts'
import type { NewObject, ObjectUpdate } from '../objects/writers.ts'
import { clientExecutors } from './client-executors.ts'
import { type AppliedExecutor, hasConditions, listExecutors } from './list-executors.ts'
import { roleConditions, updaterConditions } from './policy-conditions.ts'
import type { ClientUpdater, ClientViolation, PolicyEvent, UpdateSource } from './policy-event.ts'

/** Returns the body of a new client with what client policies set. Throws invalid where one refuses it. Two statements at most. */
export async function configureNewClient(
  context: WriteContext,
  body: Representation,
  source: UpdateSource,
): Promise<Representation> {
  const realm = await findPolicies(context)
  if (!realm) return body
  const client = completeClient(addProtocolDefaults(body))
  const updater = await loadUpdater(context, realm, source)
  const executors = listExecutors(realm, { name: 'register', client, clientRoles: [], updater })
  const values = collectValues(executors, { client, isDeclared: (path) => isDeclaredIn(body, path) })
  const configured = setFields(body, toFields(values))
  requireCompliance(executors, completeClient(addProtocolDefaults(configured)))
  return configured
}

/** Returns the new values of an update with what client policies set. Throws invalid where one refuses the client. Three statements at most. */
export async function configureClientUpdate(
  context: WriteContext,
  { live, set }: ObjectUpdate,
  source: UpdateSource,
): Promise<FlatFields> {
  const realm = await findPolicies(context)
  if (!realm) return set
  const client = toUpdatedRepresentation({ live, set })
  const roles = await loadClientRoles(context, realm, [live])
  const executors = listExecutors(realm, {
    name: 'update',
    client,
    clientRoles: roles.get(live.id) ?? [],
    updater: await loadUpdater(context, realm, source),
  })
  const values = collectValues(executors, { client, isDeclared: (path) => path in set })
  const configured = { ...set, ...toFields(values) }
  requireCompliance(executors, toUpdatedRepresentation({ live, set: configured }))
  return configured
}

/** Throws invalid where a client policy refuses that a client is read or deleted. Three statements at most. */
export async function requireClientAccess(context: Context, live: LiveObject, name: 'view' | 'delete'): Promise<void> {
  const executors = await listClientExecutors(context, live, name)
  const refusing = executors.filter(({ executor }) => executor === 'reject-request')
  requireCompliance(refusing, live.representation)
}

/** Lists the executors that apply at an event of a client that exists. Two statements at most. */
export async function listClientExecutors(
  context: Context,
  live: LiveObject,
  name: 'view' | 'update' | 'delete',
): Promise<AppliedExecutor[]> {
  const realm = await findPolicies(context)
  if (!realm) return []
  const roles = await loadClientRoles(context, realm, [live])
  return listExecutors(realm, { name, client: live.representation, clientRoles: roles.get(live.id) ?? [] })
}

/**
 * Returns declared new clients with what client policies set in fields that the document does not declare. Throws invalid where a policy
 * refuses one, or would replace a declared value. Built-in clients are exempt. One statement at most.
 */
export async function configureDeclaredClients(
  context: WriteContext,
  objects: readonly NewObject[],
): Promise<readonly NewObject[]> {
  const realm = await findDeclaredPolicies(context)
  if (!realm) return objects
  return objects.map((object) => {
    const { representation } = object
    if (isBuiltIn(context.realm.name, 'client', [String(representation.clientId)])) return object
    const client = completeClient(representation)
    const executors = listExecutors(realm, { name: 'register', client, clientRoles: [], updater: DOCUMENT })
    const isDeclared = (path: string) => isDeclaredIn(representation, path)
    const values = collectValues(executors, { client, isDeclared }).filter(({ path }) => !isDeclared(path))
    const configured = setFields(representation, toFields(values))
    requireCompliance(executors, completeClient(configured))
    const clientId = String(representation.clientId)
    context.policyValues.push(...values.map((value) => ({ clientId, ...value })))
    return { ...object, representation: configured }
  })
}

/** Throws invalid where a client policy refuses a declared update of a client. Built-in clients are exempt. Two statements at most. */
export async function checkDeclaredUpdates(context: WriteContext, updates: readonly ObjectUpdate[]): Promise<void> {
  const realm = await findDeclaredPolicies(context)
  if (!realm) return
  const changing = updates.filter(
    ({ live, set }) => Object.keys(set).length > 0 && !isBuiltIn(context.realm.name, 'client', live.key),
  )
  const roles = await loadClientRoles(
    context,
    realm,
    changing.map(({ live }) => live),
  )
  for (const update of changing) {
    const client = toUpdatedRepresentation(update)
    const clientRoles = roles.get(update.live.id) ?? []
    requireCompliance(listExecutors(realm, { name: 'update', client, clientRoles, updater: DOCUMENT }), client)
  }
}

/** Documents are applied for users who may change clients, but who are not users of the realm. */
const DOCUMENT: ClientUpdater = { source: 'ByAuthenticatedUser', roles: [], groups: [] }

/** Returns the settings of the realm if it has enabled policies. No statement, or one. */
async function findPolicies(context: Context): Promise<Representation | undefined> {
  return context.realm.hasClientPolicies ? (await findLiveRealm(context))?.representation : undefined
}

/** Returns the settings of the realm, which the same transaction may have changed. One statement, or none. */
const findDeclaredPolicies = async (context: WriteContext): Promise<Representation | undefined> =>
  (await findLiveRealm(context))?.representation

/** Returns the complete client of a body, without what it gets from its realm. */
function completeClient(declared: Representation): Representation {
  const defaults = kinds.client.defaults(declared)
  return {
    ...defaults,
    ...declared,
    attributes: { ...readObject(defaults.attributes), ...readObject(declared.attributes) },
  }
}

const isDeclaredIn = (body: Representation, path: string): boolean => Object.hasOwn(flatten(kinds.client, body), path)

const setFields = (body: Representation, fields: FlatFields): Representation =>
  Object.keys(fields).length ? unflatten(kinds.client, { ...flatten(kinds.client, body), ...fields }) : body

type SetValue = Omit<PolicyValue, 'clientId'>

const toFields = (values: readonly SetValue[]): FlatFields =>
  Object.fromEntries(values.map(({ path, value }) => [path, value]))

/** Returns the values that executors set, where the client has others. Later executors see what earlier ones have set. */
function collectValues(
  executors: readonly AppliedExecutor[],
  { client, isDeclared }: { readonly client: Representation; readonly isDeclared: (path: string) => boolean },
): SetValue[] {
  const proposed = flatten(kinds.client, client)
  const values = new Map<string, SetValue>()
  for (const { executor, configuration, policy } of executors) {
    const current = unflatten(kinds.client, { ...proposed, ...toFields([...values.values()]) })
    const set = findExecutor(executor)?.configure?.(configuration, { client: current, isDeclared }) ?? {}
    for (const [path, value] of Object.entries(set))
      if (!isDeepEqual(proposed[path], value)) values.set(path, { path, value, policy })
  }
  return [...values.values()]
}

const findExecutor = (id: string) => (Object.hasOwn(clientExecutors, id) ? clientExecutors[id] : undefined)

/** Throws invalid for the first executor that refuses the client. */
function requireCompliance(executors: readonly AppliedExecutor[], client: Representation): void {
  for (const applied of executors) {
    const violation = findExecutor(applied.executor)?.check?.(applied.configuration, client)
    if (violation) throw createRefusal(applied, violation)
  }
}

const createRefusal = ({ policy, profile, executor }: AppliedExecutor, { error, message, field }: ClientViolation) =>
  failure('invalid', message, {
    form: { error },
    field,
    reason: `client policy "${policy}", profile "${profile}", executor ${executor}: ${message}. Change ${field}, or the policy`,
  })

async function loadUpdater(
  context: WriteContext,
  realm: Representation,
  source: UpdateSource,
): Promise<PolicyEvent['updater']> {
  const { actor, callingUser } = context
  const updater = { source, address: actor.address, roles: [], groups: [] }
  if (callingUser?.realm !== context.realm.name || !hasConditions(realm, updaterConditions)) return updater
  const { effectiveRoles, groups } = await loadRolesAndGroups(context, callingUser.id)
  return {
    ...updater,
    roles: effectiveRoles.map(({ client, name }) => (client === null ? name : `${client}.${name}`)),
    groups: groups.map((path) => path.split(UNESCAPED_SLASH).at(-1)!.replaceAll('~/', '/')),
  }
}

/** A slash in the name of a group is written as `~/`. */
const UNESCAPED_SLASH = /(?<!~)\//

/** Returns the names of the roles of clients, by the id of the client. One statement, or none. */
export async function loadClientRoles(
  context: Context,
  realm: Representation,
  clients: readonly LiveObject[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (!clients.length || !hasConditions(realm, roleConditions)) return new Map()
  const ids = new Map(clients.map(({ id, key }) => [key[0], id]))
  const roles = await listObjects(context, 'role', { parents: { kind: 'client', ids: [...ids.values()] } })
  const roleNames = roles.map(({ key }) => ({ client: ids.get(key[1]!)!, name: key[2]! }))
  return new Map(
    [...Map.groupBy(roleNames, ({ client }) => client)].map(([id, list]) => [id, list.map(({ name }) => name)]),
  )
}
