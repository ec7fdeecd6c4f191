// The REST operations on executions of workflows.
import { type Representation, readObjects } from '../../../kinds/json.ts'
import type { WorkflowResourceType } from '../../../kinds/workflow-steps.ts'
import { parseDuration } from '../../../lib/keycloak/durations.ts'
import {
  deleteExecutionOf,
  deleteExecutions,
  insertExecutions,
  lockExecutionsAt,
  moveExecutions,
  selectExecutions,
  type WorkflowExecution,
} from '../../../store/workflows/executions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getNextStep, startWorkflow } from '../../workflows/activation.ts'
import { evaluateCondition } from '../../workflows/conditions.ts'
import { toDefinition, type WorkflowDefinition } from '../../workflows/definitions.ts'
import { getStepId, getWorkflow, toWorkflowRepresentation, workflows } from './workflows.ts'

/** A workflow, and a user or client. */
export interface ExecutionAddress {
  /** Id of the workflow. */
  readonly id: string
  readonly type: string
  readonly resource: string
}

/** Starts a workflow for a user or client. Keycloak: an invalid `notBefore` has no error, and the workflow does not start. */
export async function activateWorkflow(
  context: WriteContext,
  address: ExecutionAddress,
  notBefore: unknown,
): Promise<void> {
  const { live, type } = await getResource(context, address)
  const workflow = toDefinition(live)
  if (type !== workflow.type) {
    const message = `Resource Type '${type}' is not supported for this workflow (supports ${workflow.type})`
    throw failure('invalid', message, { form: 'error' })
  }
  const delay = parseDuration(String(notBefore ?? '0'))
  if (delay !== undefined) await startWorkflow(context, { workflow, resources: [address.resource], delay })
}

/** Cancels a workflow for a user or client. */
export async function deactivateWorkflow(context: WriteContext, address: ExecutionAddress): Promise<void> {
  const { live } = await getResource(context, address)
  const { tx, realm } = context
  await deleteExecutionOf(tx, realm.number, { workflow: live.id, resource: address.resource })
}

/** Returns the workflow and the type of an address. Throws invalid if the workflow, user or client does not exist, and not_found for another type. */
async function getResource(
  context: Context,
  { id, type, resource }: ExecutionAddress,
): Promise<{ readonly live: LiveObject; readonly type: WorkflowResourceType }> {
  requirePermissions(context, workflows.manage)
  const live = await getWorkflow(context, { id })
  if (type !== 'USERS' && type !== 'CLIENTS') throw failure('not_found', 'HTTP 404 Not Found')
  const [object] = await writers[type === 'USERS' ? 'user' : 'client'].list(context, { ids: [resource] })
  if (!object) throw failure('invalid', `Resource with id ${resource} not found`, { form: 'error' })
  return { live, type }
}

/** Returns the workflows in progress for a user or client, with the status of their steps. Two statements at most. */
export async function listScheduledWorkflows(context: Context, resource: string): Promise<Representation[]> {
  requirePermissions(context, workflows.view)
  const executions = await selectExecutions(context.tx, context.realm.number, { resources: [resource] })
  const ids = executions.map(({ workflow }) => workflow)
  const live = ids.length ? await writers.workflow.list(context, { ids }) : []
  return executions.map((execution) => {
    const workflow = live.find(({ id }) => id === execution.workflow)!
    const representation = toWorkflowRepresentation(context.vault, workflow)
    return { ...representation, steps: addStatuses(readObjects(representation.steps), execution) }
  })
}

/** Adds the status of steps, and the times when they are due. */
function addStatuses(steps: readonly Representation[], { step: next, due }: WorkflowExecution): Representation[] {
  let scheduledAt = due.getTime()
  return steps.map((step, at) => {
    if (at < next) return { ...step, status: 'COMPLETED' }
    if (at > next) scheduledAt += parseDuration(String(step.after ?? '')) ?? 0
    return { ...step, 'scheduled-at': scheduledAt, status: 'PENDING' }
  })
}

/** The ids of two steps. */
interface Migration {
  readonly from: unknown
  readonly to: unknown
}

/** Moves the executions whose next step is one step to another step. Throws invalid where that is not possible. */
export async function migrateExecutions(context: WriteContext, { from, to }: Migration): Promise<void> {
  requirePermissions(context, workflows.manage)
  if (from === undefined || to === undefined)
    throw failure('invalid', "Both 'from' and 'to' step ids must be provided for migration.", { field: 'from' })
  if (from === to) return
  const { tx, realm, now } = context
  const definitions = (await writers.workflow.list(context, {})).map(toDefinition)
  const source = findStep(definitions, String(from))
  const target = findStep(definitions, String(to))
  requireSameType(source, target)
  const executions = await lockExecutionsAt(tx, realm.number, { workflow: source.workflow.id, step: source.step })
  if (!executions.length) return
  const ids = executions.map(({ id }) => id)
  const next = getNextStep(target.workflow, now, { position: target.step })
  if (source.workflow === target.workflow) await moveExecutions(tx, realm.number, { ids, ...next })
  else {
    await requireEligible(context, { target, executions })
    await deleteExecutions(tx, realm.number, ids)
    const { id: workflow, type } = target.workflow
    const resources = executions.map(({ resource }) => resource)
    await insertExecutions(tx, realm.number, { workflow, type, startedAt: now, resources, ...next })
  }
  context.afterCommit.hasDueSteps = true
}

/** A step of a workflow, by its position. */
interface StepPosition {
  readonly workflow: WorkflowDefinition
  readonly step: number
}

function findStep(definitions: readonly WorkflowDefinition[], id: string): StepPosition {
  for (const workflow of definitions) {
    const step = workflow.steps.findIndex((_, at) => getStepId(workflow.id, at) === id)
    if (step >= 0) return { workflow, step }
  }
  throw failure('invalid', `Not a valid workflow resource: ${id}`, { form: 'error' })
}

/** Executions that are to be moved to a step of another workflow. */
interface MovedExecutions {
  readonly target: StepPosition
  readonly executions: readonly WorkflowExecution[]
}

function requireSameType(source: StepPosition, target: StepPosition): void {
  if (source.workflow.type === target.workflow.type) return
  const message = 'Cannot migrate scheduled resources between workflows that support different resource types.'
  throw failure('invalid', message, { field: 'to' })
}

/** Throws invalid unless all objects meet the condition of the other workflow. */
async function requireEligible(context: Context, { target, executions }: MovedExecutions): Promise<void> {
  const { condition, name } = target.workflow
  if (!condition) return
  const resources = executions.map(({ resource }) => resource)
  const results = await evaluateCondition(context, condition, resources)
  const ineligible = resources.find((resource) => results.get(resource) !== true)
  if (ineligible === undefined) return
  const message = `Cannot migrate resource ${ineligible} to workflow ${name} as it does not satisfy the workflow's activation conditions.`
  throw failure('invalid', message, { field: 'to' })
}
