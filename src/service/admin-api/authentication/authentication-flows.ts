// What REST does with authentication flows. Everything looks at several of them, so that all of a realm are read at once.
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import { referenceFields } from '../../../kinds/kind.ts'
import { describe } from '../../../kinds/tree.ts'
import { selectReferrers } from '../../../store/relations.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { present } from '../../kinds/present.ts'
import { listObjects } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import type { NewObject } from '../../objects/writers.ts'
import { demand } from '../../permissions/administrators.ts'
import { EXECUTIONS, type Flow, listFlows, stepOf } from '../../realms/authentication-executions.ts'
import { newObject } from '../common/resource.ts'

/** All flows of a realm, by id and by alias. */
export interface Flows {
  readonly byId: ReadonlyMap<string, Flow>
  readonly byAlias: ReadonlyMap<string, Flow>
}

/** The flows of the realm. Two statements. */
export async function readFlows(context: Context): Promise<Flows> {
  const flows = await listFlows(context, {})
  return {
    byId: new Map(flows.map((flow) => [flow.live.id, flow])),
    byAlias: new Map(flows.map((flow) => [aliasOf(flow), flow])),
  }
}

/** The name of a flow. */
export function aliasOf({ live }: Flow): string {
  return live.key[0]!
}

/** The flows that can be bound, without what they consist of. */
export async function listTopLevel(context: Context): Promise<Representation[]> {
  demand(context, 'list-flows')
  const { byId } = await readFlows(context)
  // Keycloak: this one is for a protocol and shown nowhere.
  return [...byId.values()]
    .filter((flow) => isTopLevel(flow) && aliasOf(flow) !== 'saml ecp')
    .map((flow) => show(context, flow))
}

/** The flow with that id. */
export async function getFlow(context: Context, id: string): Promise<Representation> {
  demand(context, 'view-realm')
  return show(context, await flowWithId(context, id))
}

/** Makes a flow; gives its id. Keycloak: steps are added one by one, what the body says of them does not matter. */
export async function createFlow(context: WriteContext, body: Representation): Promise<string> {
  demand(context, 'manage-realm')
  const { [EXECUTIONS]: _, ...stated } = withoutNulls(body)
  checkAlias(stated.alias, 'create')
  const [made] = await writers.authenticationFlow.create(context, [newObject({ description: '', ...stated })])
  return made!.id
}

/** Changes what a flow is called and what it is, not its steps. */
export async function replaceFlow(context: WriteContext, id: string, body: Representation): Promise<void> {
  demand(context, 'manage-realm')
  const { [EXECUTIONS]: _, ...stated } = body
  checkAlias(stated.alias ?? undefined, 'update')
  const { live } = await flowWithId(context, id)
  await writers.authenticationFlow.update(context, [{ live, set: replacement(live, stated) }])
}

/** Deletes a flow with all that it consists of. Throws where something else is bound to it. */
export async function deleteFlow(context: WriteContext, id: string): Promise<void> {
  demand(context, 'manage-realm')
  const flows = await readFlows(context)
  const flow = flows.byId.get(id)
  if (!flow) throw failure('not_found', 'Flow not found')
  if (isBuiltIn(flow)) throw failure('malformed', "Can't delete built in flow")
  await deleteFlows(context, flows, [flow])
}

/** Makes a flow like another one, with flows and settings of its own named after it; gives its id. */
export async function copyFlow(
  context: WriteContext,
  alias: string,
  newName: string | null | undefined,
): Promise<string> {
  demand(context, 'manage-realm')
  const flows = await readFlows(context)
  const original = flows.byAlias.get(alias)
  if (!original) throw failure('not_found', 'Flow not found')
  checkAlias(newName ?? undefined, 'create')
  if (flows.byAlias.has(newName!)) throw failure('conflict', 'New flow alias name already exists')
  const parts = [original, ...partsOf(flows, [original])]
  const copied = new Map(
    parts.map((flow) => [aliasOf(flow), flow === original ? newName! : `${newName} ${aliasOf(flow)}`]),
  )
  const configs = await writers.authenticatorConfig.list(context, { ids: configsOf(parts) })
  await writers.authenticatorConfig.create(
    context,
    configs.map(({ key: [name], representation: { config } }) => ({
      representation: { alias: `${newName} ${name}`, config: opened(context, (config ?? {}) as Representation) },
    })),
  )
  const objects = parts.map(
    ({ live, executions }): NewObject => ({
      representation: {
        ...live.representation,
        alias: copied.get(live.key[0]!)!,
        builtIn: false,
        [EXECUTIONS]: executions.map(stepOf).map(({ flowAlias, authenticatorConfig, ...step }) => ({
          ...step,
          ...(flowAlias !== undefined && { flowAlias: copied.get(flowAlias as string)! }),
          ...(authenticatorConfig !== undefined && { authenticatorConfig: `${newName} ${authenticatorConfig}` }),
        })),
      },
    }),
  )
  const [made] = await writers.authenticationFlow.create(context, objects)
  describeEvent(context, { representation: { newName: newName!, id: made!.id } })
  return made!.id
}

/** Deletes flows, what only they consist of, and the settings of steps that nothing else has. */
export async function deleteFlows(context: WriteContext, flows: Flows, going: readonly Flow[]): Promise<void> {
  const all = [...flows.byId.values()]
  const parts = partsOf(flows, going)
  // What stands by itself, or is a part of another flow, stays with all that it consists of.
  const others = all.filter((flow) => !going.includes(flow) && (!parts.includes(flow) || isTopLevel(flow)))
  const staying = new Set([...others, ...partsOf(flows, others)])
  const gone = [...going, ...parts.filter((flow) => !staying.has(flow))]
  await refuseBound(context, gone)
  const kept = new Set(configsOf(all.filter((flow) => !gone.includes(flow))))
  await writers.authenticationFlow.delete(
    context,
    gone.map(({ live }) => live),
  )
  await deleteConfigs(
    context,
    configsOf(gone).filter((id) => !kept.has(id)),
  )
}

/** Deletes the settings of steps. */
export async function deleteConfigs(context: WriteContext, ids: readonly string[]): Promise<void> {
  if (!ids.length) return
  await writers.authenticatorConfig.delete(context, await writers.authenticatorConfig.list(context, { ids }))
}

function isTopLevel({ live }: Flow): boolean {
  return live.representation.topLevel === true
}

/** Whether every new realm has the flow: REST does not take it apart. */
export function isBuiltIn({ live }: Flow): boolean {
  return live.representation.builtIn === true
}

/** Keycloak: these characters are reserved in addresses, and an alias is a part of some. */
export function refuseReserved(alias: string): void {
  const reserved = /[:/?#[\]@!$&'()*+,;=]/.exec(alias)
  if (reserved) throw failure('malformed', `Character '${reserved[0]}' not allowed.`)
}

async function flowWithId(context: Context, id: string): Promise<Flow> {
  const [flow] = await listFlows(context, { ids: [id] })
  if (!flow) throw failure('not_found', 'Could not find flow with id')
  return flow
}

function show(context: Context, { live }: Flow): Representation {
  const steps = live.representation[EXECUTIONS] as Representation[]
  const flags = (flow: boolean) => ({ authenticatorFlow: flow, autheticatorFlow: flow })
  return {
    ...present(context.vault, live),
    [EXECUTIONS]: steps.map((step) => ({ ...step, ...flags(step.flowAlias !== undefined) })),
  }
}

function checkAlias(alias: unknown, verb: 'create' | 'update'): void {
  // Keycloak: it says that nothing is a conflict.
  if (alias === undefined || alias === '') throw failure('conflict', `Failed to ${verb} flow with empty alias name`)
  refuseReserved(String(alias))
}

/** All flows that these consist of, below them. */
function partsOf({ byId }: Flows, flows: readonly Flow[]): Flow[] {
  const parts = new Set<Flow>()
  const add = (flow: Flow): void => {
    for (const { subFlow } of flow.executions) {
      const part = subFlow && byId.get(subFlow.id)
      if (!part || parts.has(part)) continue
      parts.add(part)
      add(part)
    }
  }
  for (const flow of flows) add(flow)
  return [...parts]
}

function configsOf(flows: readonly Flow[]): string[] {
  return [
    ...new Set(flows.flatMap(({ executions }) => executions.flatMap(({ config }) => (config ? [config.id] : [])))),
  ]
}

function opened({ vault }: Context, config: Representation): Representation {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, vault.open(String(value))]))
}

/** Throws where the realm, a client or another object is bound to one of the flows. One statement per kind that can be. */
async function refuseBound(context: Context, flows: readonly Flow[]): Promise<void> {
  const ids = flows.map(({ live }) => live.id)
  for (const kind of Object.values(kinds)) {
    const fields = referenceFields(kind).flatMap(([name, { refersTo }]) =>
      refersTo === 'authenticationFlow' ? [name] : [],
    )
    if (!fields.length) continue
    const [owner] = await selectReferrers(context.tx, context.realm.number, { kind: kind.name, fields, targets: ids })
    if (owner === undefined) continue
    const [bound] = await listObjects(context, kind.name, { ids: [owner] })
    throw failure(
      'invalid',
      `Flow ${flows.map(aliasOf)[0]} is in use: ${describe(bound!.kind, bound!.key)} is bound to it`,
    )
  }
}
