// The REST operations that add, change, move and delete executions of authentication flows.
import { randomUUID } from 'node:crypto'
import { requirements } from '../../../kinds/authentication-flow.ts'
import { flowTypes, type StepProvider } from '../../../kinds/authentication-providers.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { WriteContext } from '../../context/context.ts'
import { duplicateResource, failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { EXECUTIONS, type FlowWithExecutions, toStep } from '../../realms/authentication-executions.ts'
import { type ExecutionInFlow, getExecutionInFlow } from './authentication-executions.ts'
import {
  deleteConfigs,
  deleteFlows,
  getAlias,
  indexFlows,
  isBuiltIn,
  refuseReservedCharacters,
} from './authentication-flows.ts'

/** The fields of a body: each may be absent, and null is the same as absent. */
type NullableFields<T> = { readonly [name in keyof T]?: T[name] | null | undefined }

/** An execution to add to a flow. */
export type NewStep = NullableFields<{ provider: string; priority: number }>

/** A subflow to add to a flow. */
export type NewSubFlow = NullableFields<{
  alias: string
  type: string
  provider: string
  description: string
  priority: number
}>

/** Keycloak: the fields of AuthenticationExecutionRepresentation that a creation reads. */
export type NewExecution = NullableFields<{
  id: string
  parentFlow: string
  authenticator: string
  authenticatorConfig: string
  authenticatorFlow: boolean
  flowId: string
  requirement: string
  priority: number
}>

/** Keycloak: the fields of AuthenticationExecutionInfoRepresentation that an update reads. */
export type ExecutionInfo = NullableFields<{
  id: string
  requirement: string
  priority: number
  authenticationFlow: boolean
  flowId: string
  displayName: string
  description: string
}>

/** Adds an authenticator to a flow, at the position of its priority or at the end. Returns the id of the execution. */
export async function addExecution(context: WriteContext, alias: string, step: NewStep): Promise<string> {
  requirePermissions(context, 'manage-realm')
  const flow = (await indexFlows(context)).byAlias.get(alias)
  if (!flow) throw failure('invalid', "Parent flow doesn't exist", { form: 'error' })
  refuseBuiltIn(flow, 'add execution to')
  const { requirements } = getStepProvider(flow, step.provider)
  const requirement = requirements.includes('DISABLED') ? 'DISABLED' : requirements[0]!
  const id = await addStep(context, flow, { authenticator: step.provider!, requirement, priority: step.priority })
  describeAdminEvent(context, { representation: { ...step, id } })
  return id
}

/** Creates a flow and adds it to another flow as a step. Returns the id of the new flow. */
export async function addSubFlow(context: WriteContext, alias: string, step: NewSubFlow): Promise<string> {
  requirePermissions(context, 'manage-realm')
  const flows = await indexFlows(context)
  const flow = flows.byAlias.get(alias)
  if (!flow) throw failure('invalid', "Parent flow doesn't exist")
  refuseBuiltIn(flow, 'add sub-flow to')
  const { alias: name, type, provider, description, priority } = step
  if (!name) throw failure('conflict', 'Failed to create flow with empty alias name')
  if (!type) throw failure('invalid', `Flow ${name} must have a type: ${[...flowTypes.keys()].join(', ')}`)
  if (flows.byAlias.has(name)) throw failure('conflict', 'New flow alias name already exists')
  const representation = { alias: name, providerId: type, description: description ?? '' }
  const [subFlow] = await writers.authenticationFlow.create(context, [{ representation }])
  const form = type === 'form-flow' && provider ? { authenticator: provider } : {}
  const id = await addStep(context, flow, { ...form, flowAlias: name, requirement: 'DISABLED', priority })
  describeAdminEvent(context, { representation: { ...step, id } })
  return subFlow!.id
}

/** Adds an execution as the body declares it. Returns its id. */
export async function createExecution(context: WriteContext, body: NewExecution): Promise<string> {
  requirePermissions(context, 'manage-realm')
  describeAdminEvent(context, { representation: body })
  const flows = await indexFlows(context)
  const { parentFlow, authenticator, authenticatorConfig, requirement, priority } = body
  if (!parentFlow) throw failure('invalid', 'parent flow not set on new execution', { form: 'error' })
  const flow = flows.byId.get(parentFlow)
  if (!flow) throw failure('invalid', 'execution parent flow does not exist', { form: 'error' })
  refuseBuiltIn(flow, 'add execution to')
  const isTaken = [...flows.byId.values()].some(({ executions }) => executions.some(({ id }) => id === body.id))
  if (isTaken) throw duplicateResource()
  const subFlow = body.authenticatorFlow === true && body.flowId ? flows.byId.get(body.flowId) : undefined
  if (body.authenticatorFlow !== true) getStepProvider(flow, authenticator)
  else if (!subFlow) throw failure('invalid', 'execution flow does not exist', { form: 'error' })
  const [config] = authenticatorConfig
    ? await writers.authenticatorConfig.list(context, { ids: [authenticatorConfig] })
    : []
  if (authenticatorConfig && !config) throw failure('invalid', 'execution config does not exist', { form: 'error' })
  const step = {
    ...(body.id && { id: body.id }),
    ...(authenticator && { authenticator }),
    ...(subFlow && { flowAlias: getAlias(subFlow) }),
    ...(config && { authenticatorConfig: config.key[0]! }),
    requirement: parseRequirement(requirement),
    priority,
  }
  return addStep(context, flow, step)
}

/** Changes the requirement and priority of a step; of a sub-flow also its alias and description. */
export async function updateExecution(context: WriteContext, alias: string, info: ExecutionInfo): Promise<void> {
  requirePermissions(context, 'manage-realm')
  describeAdminEvent(context, { representation: info })
  const flows = await indexFlows(context)
  if (!flows.byAlias.has(alias)) throw failure('not_found', 'flow not found')
  const { flow } = getExecutionInFlow(flows, info.id)
  const subFlow = info.authenticationFlow === true ? flows.byId.get(info.flowId ?? '') : undefined
  if (info.authenticationFlow === true && !subFlow) throw failure('not_found', 'Illegal execution')
  const requirement = parseRequirement(info.requirement)
  const steps = listSteps(flow).map((step) =>
    step.id === info.id ? { ...step, requirement, priority: info.priority ?? 0 } : step,
  )
  await writeSteps(context, flow, steps)
  if (!subFlow) return
  const { displayName, description } = info
  if (displayName) refuseReservedCharacters(displayName)
  const set = {
    ...(displayName && { alias: displayName }),
    ...((description ?? null) !== null && { description: description! }),
  }
  await writers.authenticationFlow.update(context, [{ live: subFlow.live, set }])
}

/** Swaps an execution with the one before it (-1) or after it (1). Nothing changes where there is none. */
export async function moveExecution(context: WriteContext, id: string, by: -1 | 1): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const { flow } = getExecutionInFlow(await indexFlows(context), id)
  refuseBuiltIn(flow, 'modify execution in')
  const steps = listSteps(flow)
  const at = steps.findIndex((step) => step.id === id)
  const [step, neighbour] = [steps[at]!, steps[at + by]]
  if (!neighbour) return
  const swapped = [
    { ...neighbour, priority: step.priority! },
    { ...step, priority: neighbour.priority! },
  ]
  steps.splice(Math.min(at, at + by), 2, ...(by < 0 ? swapped.toReversed() : swapped))
  await writeSteps(context, flow, steps)
}

/** Deletes an execution, with its sub-flow and its settings unless another execution uses them. */
export async function deleteExecution(context: WriteContext, id: string): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const { flow, execution } = getExecutionInFlow(await indexFlows(context), id)
  refuseBuiltIn(flow, 'remove execution from')
  await writeSteps(
    context,
    flow,
    listSteps(flow).filter((step) => step.id !== id),
  )
  const remaining = await indexFlows(context)
  const { subFlow, config } = execution
  const remainingExecutions = [...remaining.byId.values()].flatMap(({ executions }) => executions)
  if (subFlow && !remainingExecutions.some((other) => other.subFlow?.id === subFlow.id))
    await deleteFlows(context, remaining, [remaining.byId.get(subFlow.id)!])
  if (config && !remainingExecutions.some((other) => other.config?.id === config.id))
    await deleteConfigs(context, [config.id])
}

/** Assigns an authenticator config to an execution, by its alias. */
export async function assignConfig(
  context: WriteContext,
  { flow, execution }: ExecutionInFlow,
  alias: string,
): Promise<void> {
  const steps = listSteps(flow).map((step) =>
    step.id === execution.id ? { ...step, authenticatorConfig: alias } : step,
  )
  await writeSteps(context, flow, steps)
}

/** A step to add; without an id it gets a new one, without a priority it comes last. */
interface StepToAdd {
  readonly id?: string
  readonly authenticator?: string
  readonly flowAlias?: string
  readonly authenticatorConfig?: string
  readonly requirement: string
  readonly priority: number | null | undefined
}

async function addStep(context: WriteContext, flow: FlowWithExecutions, step: StepToAdd): Promise<string> {
  const steps = listSteps(flow)
  const last = steps.at(-1)
  const id = step.id ?? randomUUID()
  const priority = step.priority ?? (last ? Number(last.priority) + 1 : 0)
  await writeSteps(context, flow, [...steps, { ...step, id, priority }])
  return id
}

async function writeSteps(
  context: WriteContext,
  { live }: FlowWithExecutions,
  steps: readonly Representation[],
): Promise<void> {
  await writers.authenticationFlow.update(context, [{ live, set: { [EXECUTIONS]: [...steps] } }])
}

/** Returns the steps of a flow, each with the id of its execution. */
function listSteps({ executions }: FlowWithExecutions): Representation[] {
  return executions.map((execution) => ({ id: execution.id, ...toStep(execution) }))
}

/** Returns the provider of a step to add. Throws invalid if there is none. Keycloak: only REST refuses unknown providers. */
function getStepProvider({ live }: FlowWithExecutions, id: string | null | undefined): StepProvider {
  const { steps } = flowTypes.get(String(live.representation.providerId)) ?? flowTypes.get('basic-flow')!
  const provider = steps.get(id ?? '')
  if (!provider) throw failure('invalid', `No authentication provider found for id: ${id ?? null}`, { form: 'error' })
  return provider
}

function refuseBuiltIn(flow: FlowWithExecutions, change: string): void {
  if (isBuiltIn(flow)) throw failure('invalid', `It is illegal to ${change} a built in flow`, { form: 'error' })
}

function parseRequirement(text: string | null | undefined): string {
  const requirement = requirements.find((choice) => choice === text)
  if (!requirement)
    throw failure('invalid', `The requirement of an execution must be one of ${requirements.join(', ')}`)
  return requirement
}
