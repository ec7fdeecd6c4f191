// What REST does with the executions of authentication flows: they are added, moved, changed and deleted one by one.
import { randomUUID } from 'node:crypto'
import { requirements } from '../../../kinds/authentication-flow.ts'
import { flowTypes, type StepProvider } from '../../../kinds/authentication-providers.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { demand } from '../../permissions/administrators.ts'
import { EXECUTIONS, type Flow, stepOf } from '../../realms/authentication-executions.ts'
import { executionIn, type Found } from './authentication-executions.ts'
import { aliasOf, deleteConfigs, deleteFlows, isBuiltIn, readFlows, refuseReserved } from './authentication-flows.ts'

/** The members of a body: none need be there, and null is as absent. */
type Stated<T> = { readonly [name in keyof T]?: T[name] | null | undefined }

/** A step to add. */
export type NewStep = Stated<{ provider: string; priority: number }>

/** A flow to add as a step. */
export type NewSubFlow = Stated<{
  alias: string
  type: string
  provider: string
  description: string
  priority: number
}>

/** Keycloak: AuthenticationExecutionRepresentation, as far as a new one needs it. */
export type NewExecution = Stated<{
  id: string
  parentFlow: string
  authenticator: string
  authenticatorConfig: string
  authenticatorFlow: boolean
  flowId: string
  requirement: string
  priority: number
}>

/** Keycloak: AuthenticationExecutionInfoRepresentation, as far as an update reads it. */
export type ExecutionInfo = Stated<{
  id: string
  requirement: string
  priority: number
  authenticationFlow: boolean
  flowId: string
  displayName: string
  description: string
}>

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
  const { flow } = executionIn(flows, info.id)
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
  const { flow } = executionIn(await readFlows(context), id)
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
  const { flow, execution } = executionIn(await readFlows(context), id)
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
  const one = requirements.find((choice) => choice === requirement)
  if (!one) throw failure('invalid', `The requirement of an execution is one of ${requirements.join(', ')}`)
  return one
}
