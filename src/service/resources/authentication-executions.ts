// What REST does with the executions of authentication flows: they are added, moved, changed and deleted one by one.
import { randomUUID } from 'node:crypto'
import { requirements } from '../../kinds/authentication-flow.ts'
import { allStepProviders, flowTypes, type StepProvider } from '../../kinds/authentication-providers.ts'
import type { Representation } from '../../kinds/kind.ts'
import type { StoredExecution } from '../../store/authentication-flows.ts'
import { describeEvent } from '../admin-events.ts'
import { demand } from '../administrators.ts'
import { EXECUTIONS, type Flow, stepOf } from '../authentication-executions.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import {
  aliasOf,
  deleteConfigs,
  deleteFlows,
  type Flows,
  isBuiltIn,
  readFlows,
  refuseReserved,
} from './authentication-flows.ts'

/** Keycloak: AuthenticationExecutionInfoRepresentation, as far as an update reads it. */
export interface ExecutionInfo {
  readonly id?: string | null | undefined
  readonly requirement?: string | null | undefined
  readonly priority?: number | null | undefined
  readonly authenticationFlow?: boolean | null | undefined
  readonly flowId?: string | null | undefined
  readonly displayName?: string | null | undefined
  readonly description?: string | null | undefined
}

/** A step to add: an authenticator, or a flow of that type. */
export interface NewStep {
  readonly provider?: string | null | undefined
  readonly priority?: number | null | undefined
}

/** A flow to add as a step. */
export interface NewSubFlow extends NewStep {
  readonly alias?: string | null | undefined
  readonly type?: string | null | undefined
  readonly description?: string | null | undefined
}

/** Keycloak: AuthenticationExecutionRepresentation, as far as a new one needs it. */
export interface NewExecution {
  readonly id?: string | null | undefined
  readonly parentFlow?: string | null | undefined
  readonly authenticator?: string | null | undefined
  readonly authenticatorConfig?: string | null | undefined
  readonly authenticatorFlow?: boolean | null | undefined
  readonly flowId?: string | null | undefined
  readonly requirement?: string | null | undefined
  readonly priority?: number | null | undefined
}

/** An execution, the flow that it is a step of, and all flows. */
export interface Found {
  readonly flows: Flows
  readonly flow: Flow
  readonly execution: StoredExecution
}

/** The execution with that id. Throws not_found. Two statements. */
export async function findExecution(context: Context, id: string | null | undefined): Promise<Found> {
  const flows = await readFlows(context)
  for (const flow of flows.byId.values()) {
    const execution = flow.executions.find((one) => one.id === id)
    if (execution) return { flows, flow, execution }
  }
  throw failure('not_found', 'Illegal execution')
}

/** All steps of a flow, each flow followed by what it consists of. */
export async function listExecutions(context: Context, alias: string): Promise<Representation[]> {
  demand(context, 'view-realm')
  const flows = await readFlows(context)
  const flow = flows.byAlias.get(alias)
  if (!flow) throw failure('not_found', 'Flow not found')
  return infos(flows, flow, 0)
}

/** The execution with that id. */
export async function getExecution(context: Context, id: string): Promise<Representation> {
  demand(context, 'view-realm')
  const { flow, execution } = await findExecution(context, id)
  const { authenticator, subFlow, config, body } = execution
  return {
    id,
    parentFlow: flow.live.id,
    ...(authenticator !== null && { authenticator }),
    ...(config && { authenticatorConfig: config.id }),
    ...(subFlow && { flowId: subFlow.id }),
    authenticatorFlow: subFlow !== null,
    autheticatorFlow: subFlow !== null,
    requirement: body.requirement!,
    priority: body.priority!,
  }
}

/** Adds an authenticator to the end of a flow, or where its priority says; gives the id of the execution. */
export async function addExecution(context: WriteContext, alias: string, step: NewStep): Promise<string> {
  demand(context, 'manage-realm')
  const flow = (await readFlows(context)).byAlias.get(alias)
  if (!flow) throw failure('malformed', "Parent flow doesn't exist")
  refuseBuiltIn(flow, 'add execution to')
  const { requirements } = providerFor(flow, step.provider)
  const requirement = requirements.includes('DISABLED') ? 'DISABLED' : requirements[0]!
  const id = await add(context, flow, { authenticator: step.provider!, requirement }, step.priority)
  describeEvent(context, { representation: { ...step, id } })
  return id
}

/** Adds a new flow as a step; gives the id of the flow. */
export async function addSubFlow(context: WriteContext, alias: string, step: NewSubFlow): Promise<string> {
  demand(context, 'manage-realm')
  const flows = await readFlows(context)
  const flow = flows.byAlias.get(alias)
  if (!flow) throw failure('invalid', "Parent flow doesn't exist")
  refuseBuiltIn(flow, 'add sub-flow to')
  const { alias: name, type, provider, description, priority } = step
  if (!name) throw failure('conflict', 'Failed to create flow with empty alias name')
  if (!type) throw failure('invalid', `Flow ${name} needs a type: ${[...flowTypes.keys()].join(', ')}`)
  if (flows.byAlias.has(name)) throw failure('conflict', 'New flow alias name already exists')
  const representation = { alias: name, providerId: type, description: description ?? '' }
  const [made] = await writers.authenticationFlow.create(context, [{ representation }])
  const form = type === 'form-flow' && provider ? { authenticator: provider } : {}
  const id = await add(context, flow, { ...form, flowAlias: name, requirement: 'DISABLED' }, priority)
  describeEvent(context, { representation: { ...step, id } })
  return made!.id
}

/** Adds an execution as it is stated; gives its id. */
export async function createExecution(context: WriteContext, stated: NewExecution): Promise<string> {
  demand(context, 'manage-realm')
  describeEvent(context, { representation: stated })
  const flows = await readFlows(context)
  const { parentFlow, authenticator, authenticatorConfig, requirement, priority } = stated
  if (!parentFlow) throw failure('malformed', 'parent flow not set on new execution')
  const flow = flows.byId.get(parentFlow)
  if (!flow) throw failure('malformed', 'execution parent flow does not exist')
  refuseBuiltIn(flow, 'add execution to')
  const taken = [...flows.byId.values()].some(({ executions }) => executions.some(({ id }) => id === stated.id))
  if (taken) throw failure('duplicate', 'Duplicate resource error')
  const subFlow = stated.authenticatorFlow === true && stated.flowId ? flows.byId.get(stated.flowId) : undefined
  if (stated.authenticatorFlow !== true) providerFor(flow, authenticator)
  else if (!subFlow) throw failure('malformed', 'execution flow does not exist')
  const [config] = authenticatorConfig
    ? await writers.authenticatorConfig.list(context, { ids: [authenticatorConfig] })
    : []
  if (authenticatorConfig && !config) throw failure('malformed', 'execution config does not exist')
  const step = {
    ...(stated.id && { id: stated.id }),
    ...(authenticator && { authenticator }),
    ...(subFlow && { flowAlias: aliasOf(subFlow) }),
    ...(config && { authenticatorConfig: config.key[0]! }),
    requirement: known(requirement),
  }
  return add(context, flow, step, priority)
}

/** Changes what a step means for its flow and where it stands; of a step that is a flow also its name and description. */
export async function updateExecution(context: WriteContext, alias: string, info: ExecutionInfo): Promise<void> {
  demand(context, 'manage-realm')
  describeEvent(context, { representation: info })
  const flows = await readFlows(context)
  if (!flows.byAlias.has(alias)) throw failure('not_found', 'flow not found')
  const { flow } = await findExecution(context, info.id)
  const subFlow = info.authenticationFlow === true ? flows.byId.get(info.flowId ?? '') : undefined
  if (info.authenticationFlow === true && !subFlow) throw failure('not_found', 'Illegal execution')
  const requirement = known(info.requirement)
  const steps = stepsOf(flow).map((step) =>
    step.id === info.id ? { ...step, requirement, priority: info.priority ?? 0 } : step,
  )
  await write(context, flow, steps)
  if (!subFlow) return
  const { displayName, description } = info
  if (displayName) refuseReserved(displayName)
  const set = {
    ...(displayName && { alias: displayName }),
    ...((description ?? null) !== null && { description: description! }),
  }
  await writers.authenticationFlow.update(context, [{ live: subFlow.live, set }])
}

/** Lets an execution change places with the one before it, or behind it. The first and the last stay. */
export async function moveExecution(context: WriteContext, id: string, by: -1 | 1): Promise<void> {
  demand(context, 'manage-realm')
  const { flow } = await findExecution(context, id)
  refuseBuiltIn(flow, 'modify execution in')
  const steps = stepsOf(flow)
  const at = steps.findIndex((step) => step.id === id)
  const [own, other] = [steps[at]!, steps[at + by]]
  if (!other) return
  const swapped = [
    { ...other, priority: own.priority! },
    { ...own, priority: other.priority! },
  ]
  steps.splice(Math.min(at, at + by), 2, ...(by < 0 ? swapped.toReversed() : swapped))
  await write(context, flow, steps)
}

/** Deletes an execution, with the flow that it is and its settings. */
export async function deleteExecution(context: WriteContext, id: string): Promise<void> {
  demand(context, 'manage-realm')
  const { flow, execution } = await findExecution(context, id)
  refuseBuiltIn(flow, 'remove execution from')
  await write(
    context,
    flow,
    stepsOf(flow).filter((step) => step.id !== id),
  )
  const left = await readFlows(context)
  const { subFlow, config } = execution
  const others = [...left.byId.values()].flatMap(({ executions }) => executions)
  if (subFlow && !others.some((one) => one.subFlow?.id === subFlow.id))
    await deleteFlows(context, left, [left.byId.get(subFlow.id)!])
  if (config && !others.some((one) => one.config?.id === config.id)) await deleteConfigs(context, [config.id])
}

/** Gives an execution other settings, by name; those that it had and nothing else has are deleted. */
export async function nameConfig(context: WriteContext, { flow, execution }: Found, alias: string): Promise<void> {
  const steps = stepsOf(flow).map((step) => (step.id === execution.id ? { ...step, authenticatorConfig: alias } : step))
  await write(context, flow, steps)
}

/** What is known of a step's provider. Of a custom one nothing: it may mean anything and have any settings. */
export function providerOf({ authenticator }: StoredExecution): StepProvider | undefined {
  return authenticator === null ? undefined : allStepProviders.get(authenticator)
}

async function add(
  context: WriteContext,
  flow: Flow,
  step: Representation,
  priority: number | null | undefined,
): Promise<string> {
  const steps = stepsOf(flow)
  const last = steps.at(-1)
  const next = last ? Number(last.priority) + 1 : 0
  const id = typeof step.id === 'string' ? step.id : randomUUID()
  await write(context, flow, [...steps, { ...step, id, priority: priority ?? next }])
  return id
}

async function write(context: WriteContext, { live }: Flow, steps: readonly Representation[]): Promise<void> {
  await writers.authenticationFlow.update(context, [{ live, set: { [EXECUTIONS]: [...steps] } }])
}

/** The steps of a flow, each with the id of its execution. */
function stepsOf({ executions }: Flow): Representation[] {
  return executions.map((execution) => ({ id: execution.id, ...stepOf(execution) }))
}

function infos(flows: Flows, flow: Flow, level: number): Representation[] {
  return flow.executions.flatMap((execution, index) => {
    const { id, authenticator, subFlow, config, body } = execution
    const common = { id, requirement: body.requirement!, level, index, priority: body.priority! }
    const settings = config && { authenticationConfig: config.id }
    if (!subFlow) return [{ ...common, ...settings, ...stepInfo(execution) }]
    const part = flows.byId.get(subFlow.id)!
    const { description, providerId } = part.live.representation
    const info = {
      ...common,
      ...settings,
      displayName: subFlow.alias,
      ...(description !== undefined && { description }),
      requirementChoices: flowTypes.get(String(providerId))?.requirements ?? [],
      configurable: false,
      authenticationFlow: true,
      ...(authenticator !== null && { providerId: authenticator }),
      flowId: subFlow.id,
    }
    return [info, ...infos(flows, part, level + 1)]
  })
}

function stepInfo(execution: StoredExecution): Representation {
  const provider = providerOf(execution)
  const configurable = provider ? provider.config.length > 0 : true
  return {
    displayName: provider?.displayName ?? execution.authenticator!,
    requirementChoices: [...(provider?.requirements ?? requirements)],
    configurable,
    providerId: execution.authenticator!,
    ...(configurable && execution.config && { alias: execution.config.alias }),
  }
}

/** The provider of a step that is to be added. Keycloak: only REST refuses one that it does not have. */
function providerFor({ live }: Flow, id: string | null | undefined): StepProvider {
  const { steps } = flowTypes.get(String(live.representation.providerId)) ?? flowTypes.get('basic-flow')!
  const provider = steps.get(id ?? '')
  if (!provider) throw failure('malformed', `No authentication provider found for id: ${id ?? null}`)
  return provider
}

function refuseBuiltIn(flow: Flow, what: string): void {
  if (isBuiltIn(flow)) throw failure('malformed', `It is illegal to ${what} a built in flow`)
}

function known(requirement: string | null | undefined): string {
  const one = requirements.find((known) => known === requirement)
  if (!one) throw failure('invalid', `The requirement of an execution is one of ${requirements.join(', ')}`)
  return one
}
