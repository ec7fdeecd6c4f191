// The REST operations on authentication flows. Nearly all of them need several flows, so they read all flows of the realm at once.
import { type Json, omitUndefined, type Representation, readObject, readObjects } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import { describeObject } from '../../../kinds/tree.ts'
import { selectReferrers } from '../../../store/relations.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { duplicateResource, failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import { listReferringFields } from '../../objects/deletion.ts'
import { listObjects } from '../../objects/live-objects.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import type { NewObject } from '../../objects/writers.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { EXECUTIONS, type FlowWithExecutions, listFlows, toStep } from '../../realms/authentication-executions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { toNewObject } from '../common/resource.ts'

/** All flows of a realm, by id and by alias. */
export interface FlowIndex {
  readonly byId: ReadonlyMap<string, FlowWithExecutions>
  readonly byAlias: ReadonlyMap<string, FlowWithExecutions>
}

/** Reads all flows of the realm. Two statements. */
export async function indexFlows(context: Context): Promise<FlowIndex> {
  const flows = await listFlows(context, {})
  return {
    byId: new Map(flows.map((flow) => [flow.live.id, flow])),
    byAlias: new Map(flows.map((flow) => [getAlias(flow), flow])),
  }
}

/** Returns the alias of a flow. */
export function getAlias({ live }: FlowWithExecutions): string {
  return live.key[0]!
}

/** Keycloak: the flows that it creates with a realm, in the order of creation. */
const BUILT_IN_ORDER = [
  'browser',
  'direct grant',
  'registration',
  'reset credentials',
  'clients',
  'first broker login',
  'docker auth',
]

/** Lists the top-level flows: those that can be bound. The flows of a new realm come first, and others follow by alias. */
export async function listTopLevelFlows(context: Context): Promise<Representation[]> {
  requirePermissions(context, 'list-flows')
  const { byId } = await indexFlows(context)
  // Keycloak: the flow of the SAML ECP profile is not listed.
  const getPosition = (flow: FlowWithExecutions) => {
    const position = BUILT_IN_ORDER.indexOf(getAlias(flow))
    return position < 0 ? BUILT_IN_ORDER.length : position
  }
  return [...byId.values()]
    .filter((flow) => isTopLevel(flow) && getAlias(flow) !== 'saml ecp')
    .sort((a, b) => getPosition(a) - getPosition(b))
    .map((flow) => toRepresentation(context, flow))
}

/** The kinds of objects that use a flow besides the realm, as the admin console names them. */
const userKinds = { clients: 'client', idp: 'identityProvider' } as const

/** A sort of objects that use a flow. */
export type FlowUsers = keyof typeof userKinds

/** The most names of the objects that use a flow in a list of flows. */
const MOST_USERS = 9

/** Lists the top-level flows with what uses each. Keycloak: of the realm, clients and identity providers only one is named, in this order. */
export async function listFlowsWithUsers(context: Context): Promise<Representation[]> {
  const flows = await listTopLevelFlows(context)
  const users = await findFlowUsers(context)
  return flows.map(({ id, alias, builtIn, description }) => {
    const flow = users.get(String(id))
    const usedBy = flow?.realm
      ? { type: 'DEFAULT', values: [alias!] }
      : flow?.clients.length
        ? { type: 'SPECIFIC_CLIENTS', values: flow.clients.slice(0, MOST_USERS) }
        : flow?.idp.length && { type: 'SPECIFIC_PROVIDERS', values: flow.idp.slice(0, MOST_USERS) }
    return omitUndefined({ id, alias, builtIn, description, usedBy: usedBy || undefined })
  })
}

/** Lists the names of a page of the clients, or of the identity providers, that use a flow. */
export async function listFlowUsers(
  context: Context,
  { id, type }: { readonly id: string; readonly type: FlowUsers },
  { search, first, max }: { readonly search: string; readonly first: number; readonly max: number },
): Promise<string[]> {
  requirePermissions(context, 'list-flows')
  await getFlowById(context, id)
  const names = (await findFlowUsers(context)).get(id)?.[type] ?? []
  // Keycloak: a search among clients begins with the first one.
  const start = type === 'clients' && search !== '' ? 0 : first
  return names.filter((name) => name.includes(search)).slice(start, start + max)
}

/** The objects that use a flow: the names of clients and identity providers, and whether the realm does. */
type UsersOfFlow = { realm: boolean } & Record<FlowUsers, string[]>

/** Returns what uses each flow, by its id. */
async function findFlowUsers(context: Context): Promise<ReadonlyMap<string, UsersOfFlow>> {
  const { byAlias } = await indexFlows(context)
  const users = new Map<string, UsersOfFlow>()
  const usersOf = (alias: Json | undefined) => {
    const flow = typeof alias === 'string' ? byAlias.get(alias) : undefined
    if (!flow) return undefined
    const usersOfFlow = users.get(flow.live.id) ?? { realm: false, clients: [], idp: [] }
    users.set(flow.live.id, usersOfFlow)
    return usersOfFlow
  }
  const referring = listReferringFields('authenticationFlow')
  const targets = [...byAlias.values()].map(({ live }) => live.id)
  const referrers = await selectReferrers(context.tx, context.realm.number, { referring, targets })
  for (const type of ['clients', 'idp'] as const) {
    const kind = userKinds[type]
    const ids = referrers.filter((referrer) => referrer.kind === kind).map(({ id }) => id)
    for (const { key, representation } of await listObjects(context, kind, { ids })) {
      for (const flow of new Set(listFlowAliases(kind, representation).map(usersOf))) flow?.[type].push(key[0]!)
    }
  }
  const { representation } = await getCurrentRealm(context)
  for (const flow of listFlowAliases('realm', representation).map(usersOf)) if (flow) flow.realm = true
  return users
}

/** Returns the aliases of the flows to which an object refers. */
function listFlowAliases(kind: KindName, representation: Representation): (Json | undefined)[] {
  return listReferringFields('authenticationFlow')
    .filter((referring) => referring.kind === kind)
    .flatMap(({ fields }) => fields)
    .flatMap((field) => {
      const value = representation[field]
      return typeof value === 'object' ? Object.values(readObject(value)) : [value]
    })
}

/** Returns the flow with that id. Throws not_found. */
export async function getFlow(context: Context, id: string): Promise<Representation> {
  requirePermissions(context, 'view-realm')
  return toRepresentation(context, await getFlowById(context, id))
}

/** Creates a flow and returns its id. Keycloak: steps are added one by one; those in the body are ignored. */
export async function createFlow(context: WriteContext, body: Representation): Promise<string> {
  requirePermissions(context, 'manage-realm')
  const { [EXECUTIONS]: _, ...fields } = omitNulls(body)
  checkAlias(fields.alias, 'create')
  requireType(fields)
  const [flow] = await writers.authenticationFlow.create(context, [toNewObject({ description: '', ...fields })])
  return flow!.id
}

/** Replaces the fields of a flow; its steps stay. */
export async function replaceFlow(context: WriteContext, id: string, body: Representation): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const { [EXECUTIONS]: _, ...fields } = body
  const { live } = await getFlowById(context, id)
  checkAlias(fields.alias ?? undefined, 'update')
  requireType(fields)
  await writers.authenticationFlow.update(context, [{ live, set: toReplacement(live, fields) }])
}

/** Deletes a flow with its sub-flows. Throws invalid if another object is bound to one of them. */
export async function deleteFlow(context: WriteContext, id: string): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const flows = await indexFlows(context)
  const flow = flows.byId.get(id)
  if (!flow) throw failure('not_found', 'Flow not found')
  if (isBuiltIn(flow)) throw failure('invalid', "Can't delete built in flow", { form: 'error' })
  await deleteFlows(context, flows, [flow])
}

/** Copies a flow with its sub-flows and the settings of its steps, named after the copy. Returns the id of the copy. */
export async function copyFlow(
  context: WriteContext,
  alias: string,
  newName: string | null | undefined,
): Promise<string> {
  requirePermissions(context, 'manage-realm')
  const flows = await indexFlows(context)
  const original = flows.byAlias.get(alias)
  if (!original) throw failure('not_found', 'Flow not found')
  checkAlias(newName ?? undefined, 'create')
  if (flows.byAlias.has(newName!)) throw failure('conflict', 'New flow alias name already exists')
  const flowsToCopy = [original, ...listSubFlows(flows, [original])]
  const newAliases = new Map(
    flowsToCopy.map((flow) => [getAlias(flow), flow === original ? newName! : `${newName} ${getAlias(flow)}`]),
  )
  const configs = await writers.authenticatorConfig.list(context, { ids: listConfigIds(flowsToCopy) })
  await writers.authenticatorConfig.create(
    context,
    configs.map(({ key: [name], representation: { config } }) => ({
      representation: { alias: `${newName} ${name}`, config: unsealConfig(context, readObject(config)) },
    })),
  )
  const copies = flowsToCopy.map(
    ({ live, executions }): NewObject => ({
      representation: {
        ...live.representation,
        alias: newAliases.get(live.key[0]!)!,
        builtIn: false,
        [EXECUTIONS]: executions.map(toStep).map(({ flowAlias, authenticatorConfig, ...step }) => ({
          ...step,
          ...(flowAlias !== undefined && { flowAlias: newAliases.get(String(flowAlias))! }),
          ...(authenticatorConfig !== undefined && { authenticatorConfig: `${newName} ${authenticatorConfig}` }),
        })),
      },
    }),
  )
  const [copy] = await writers.authenticationFlow.create(context, copies)
  describeAdminEvent(context, { representation: { newName: newName!, id: copy!.id } })
  return copy!.id
}

/** Deletes flows, the sub-flows that no other flow uses, and the settings that no other step uses. */
export async function deleteFlows(
  context: WriteContext,
  flows: FlowIndex,
  targets: readonly FlowWithExecutions[],
): Promise<void> {
  const all = [...flows.byId.values()]
  const subFlows = listSubFlows(flows, targets)
  const retainedRoots = all.filter((flow) => !targets.includes(flow) && (!subFlows.includes(flow) || isTopLevel(flow)))
  const retained = new Set([...retainedRoots, ...listSubFlows(flows, retainedRoots)])
  const deleted = [...targets, ...subFlows.filter((flow) => !retained.has(flow))]
  await refuseBoundFlows(context, deleted)
  const retainedConfigs = new Set(listConfigIds(all.filter((flow) => !deleted.includes(flow))))
  await writers.authenticationFlow.delete(
    context,
    deleted.map(({ live }) => live),
  )
  await deleteConfigs(
    context,
    listConfigIds(deleted).filter((id) => !retainedConfigs.has(id)),
  )
}

/** Deletes the settings of steps, by id. */
export async function deleteConfigs(context: WriteContext, ids: readonly string[]): Promise<void> {
  if (!ids.length) return
  await writers.authenticatorConfig.delete(context, await writers.authenticatorConfig.list(context, { ids }))
}

function isTopLevel({ live }: FlowWithExecutions): boolean {
  return live.representation.topLevel === true
}

/** Whether the flow is built in: every new realm has it, and REST does not change its steps. */
export function isBuiltIn({ live }: FlowWithExecutions): boolean {
  return live.representation.builtIn === true
}

/** Throws invalid if an alias has a character that is reserved in URLs. Keycloak: aliases are parts of URLs. */
export function refuseReservedCharacters(alias: string): void {
  const reserved = /[:/?#[\]@!$&'()*+,;=]/.exec(alias)
  if (reserved) throw failure('invalid', `Character '${reserved[0]}' not allowed.`, { form: 'error' })
}

async function getFlowById(context: Context, id: string): Promise<FlowWithExecutions> {
  const [flow] = await listFlows(context, { ids: [id] })
  if (!flow) throw failure('not_found', 'Could not find flow with id')
  return flow
}

function toRepresentation(context: Context, { live }: FlowWithExecutions): Representation {
  const steps = readObjects(live.representation[EXECUTIONS])
  const flags = (isFlow: boolean) => ({ authenticatorFlow: isFlow, autheticatorFlow: isFlow })
  return {
    ...toWireRepresentation(context.vault, live),
    [EXECUTIONS]: steps.map((step) => ({ ...step, ...flags(step.flowAlias !== undefined) })),
  }
}

function checkAlias(alias: unknown, verb: 'create' | 'update'): void {
  // Keycloak: an empty alias is a conflict.
  if (alias === undefined || alias === '') throw failure('conflict', `Failed to ${verb} flow with empty alias name`)
  refuseReservedCharacters(String(alias))
}

/** Throws conflict for a body without a type. Keycloak: its database refuses it, which keeps partial updates from hiding a flow. */
function requireType({ providerId }: Representation): void {
  if (typeof providerId !== 'string') throw duplicateResource()
}

/** Returns all sub-flows of flows, at any depth. */
function listSubFlows({ byId }: FlowIndex, flows: readonly FlowWithExecutions[]): FlowWithExecutions[] {
  const subFlows = new Set<FlowWithExecutions>()
  const addSubFlows = ({ executions }: FlowWithExecutions): void => {
    for (const execution of executions) {
      const subFlow = execution.subFlow && byId.get(execution.subFlow.id)
      if (!subFlow || subFlows.has(subFlow)) continue
      subFlows.add(subFlow)
      addSubFlows(subFlow)
    }
  }
  for (const flow of flows) addSubFlows(flow)
  return [...subFlows]
}

function listConfigIds(flows: readonly FlowWithExecutions[]): string[] {
  return [
    ...new Set(flows.flatMap(({ executions }) => executions.flatMap(({ config }) => (config ? [config.id] : [])))),
  ]
}

function unsealConfig({ vault }: Context, config: Representation): Representation {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, vault.open(String(value))]))
}

/** Throws invalid if the realm, a client or another object is bound to one of the flows. One statement. */
async function refuseBoundFlows(context: Context, flows: readonly FlowWithExecutions[]): Promise<void> {
  const targets = flows.map(({ live }) => live.id)
  const referring = listReferringFields('authenticationFlow')
  const owners = await selectReferrers(context.tx, context.realm.number, { referring, targets })
  const owner = referring.map(({ kind }) => owners.find((referrer) => referrer.kind === kind)).find(Boolean)
  if (!owner) return
  const [referrer] = await listObjects(context, owner.kind, { ids: [owner.id] })
  throw failure(
    'invalid',
    `Flow ${flows.map(getAlias)[0]} is in use: ${describeObject(referrer!.kind, referrer!.key)} is bound to it`,
  )
}
