// Starts, restarts and cancels executions of workflows, as their events, schedules and conditions declare. Their steps are executed after the commit.
import { Rollback } from '../../store/database/transaction.ts'
import {
  deleteExecutions,
  insertExecutions,
  moveExecutions,
  type NextStep,
  selectEligible,
  selectExecutions,
} from '../../store/workflows/executions.ts'
import type { Context, UserEvent, WriteContext } from '../context/context.ts'
import type { JournalEntry } from '../context/store-types.ts'
import { listObjects } from '../objects/live-objects.ts'
import { WORKFLOW_SCHEDULE } from '../realms/workflows.ts'
import type { TaskHandlers, TaskRun } from '../tasks/scheduled-tasks.ts'
import { evaluateCondition, resolveCondition } from './conditions.ts'
import { listDefinitions, type WorkflowDefinition } from './definitions.ts'
import { AD_HOC, listChangeEvents, listLoginEvents, matchesEvent, type WorkflowEvent } from './events.ts'

/** The entries whose events were processed: an apply processes its own, before its journal is written. */
const processedEntries = new WeakSet<JournalEntry>()

/**
 * Starts, restarts and cancels workflows for the changes of a write, or of an import or apply in it. Workflows that the write itself creates do not start. Statements: none without
 * workflows, else at most two, and eight per workflow with a matching event.
 */
export async function startWorkflowsOnChanges(
  context: WriteContext,
  { isImport = false }: { readonly isImport?: boolean } = {},
): Promise<void> {
  const entries = [...context.entries, ...context.userEntries].filter((entry) => !processedEntries.has(entry))
  for (const entry of entries) processedEntries.add(entry)
  const mayBeEvent = ({ kind, operation }: JournalEntry) =>
    kind === 'user' || (kind === 'client' && operation === 'create')
  if (!entries.some(mayBeEvent)) return
  const created = new Set(
    context.entries.flatMap(({ kind, operation, object }) =>
      kind === 'workflow' && operation === 'create' ? [object] : [],
    ),
  )
  const workflows = (await listDefinitions(context)).filter(({ id }) => !created.has(id))
  if (!workflows.some(reactsToEvents)) return
  await processEvents(context, { workflows, events: await listChangeEvents(context, entries, isImport) })
}

/** Whether user events of the realm may start workflows. */
export const mayStartWorkflows = (
  { hasWorkflows }: Context['realm'],
  events: readonly Pick<UserEvent, 'type' | 'error'>[],
): boolean =>
  hasWorkflows && events.some(({ type, error }) => error === undefined && (type === 'LOGIN' || type === 'CLIENT_LOGIN'))

/** Starts, restarts and cancels workflows for logins of users and clients. No statement without workflows or logins. */
export async function startWorkflowsOnLogins(context: Context, events: readonly UserEvent[]): Promise<void> {
  if (!mayStartWorkflows(context.realm, events)) return
  const workflows = await listDefinitions(context)
  const types = new Set(workflows.filter(reactsToEvents).map(({ type }) => type))
  const clientIds = types.has('CLIENTS')
    ? events.flatMap(({ type, client }) => (type === 'CLIENT_LOGIN' && client !== undefined ? [client] : []))
    : []
  const clients = clientIds.length ? await listObjects(context, 'client', { keys: clientIds.map((id) => [id]) }) : []
  const ids = new Map(clients.map(({ key, id }) => [key[0]!, id]))
  await processEvents(context, { workflows, events: listLoginEvents(events, ids) })
}

const reactsToEvents = ({ isEnabled, on, cancelsOn, restartsOn }: WorkflowDefinition): boolean =>
  isEnabled && (on !== undefined || cancelsOn !== undefined || restartsOn !== undefined)

/** Users or clients for which a workflow is to start, in addition to the delay before its first step. */
export interface ManualStart {
  readonly workflow: WorkflowDefinition
  readonly resources: readonly string[]
  /** Delay before the first step, in milliseconds. Absent: that of the step. */
  readonly delay?: number | undefined
}

/** Starts a workflow for users or clients, as by an event that matches. A disabled workflow does not start. */
export async function startWorkflow(context: Context, { workflow, resources, delay }: ManualStart): Promise<void> {
  const events = resources.map((resource): WorkflowEvent => ({ type: workflow.type, resource, name: AD_HOC }))
  await processEvents(context, { workflows: [workflow], events, delay })
}

/** The effect of an event on an execution. */
type ExecutionEffect = 'start' | 'restart' | 'cancel'

/** Events that may start, restart or cancel workflows. `delay`: in milliseconds, before the first step. */
interface EventBatch {
  readonly workflows: readonly WorkflowDefinition[]
  readonly events: readonly WorkflowEvent[]
  readonly delay?: number | undefined
}

/** Applies events to the executions of workflows. For a workflow and resource, the first event with an effect counts. */
async function processEvents(context: Context, { workflows, events, delay }: EventBatch): Promise<void> {
  const matching = workflows.filter(
    (workflow) => workflow.isEnabled && events.some((event) => canAffect(workflow, event)),
  )
  if (!matching.length) return
  for (const type of new Set(matching.map((workflow) => workflow.type))) {
    const ofType = events.filter((event) => event.type === type)
    const resources = [...new Set(ofType.map(({ resource }) => resource))]
    const executions = await selectExecutions(context.tx, context.realm.number, { type, resources })
    for (const workflow of matching.filter((candidate) => candidate.type === type)) {
      const inProgress = new Map(
        executions.flatMap((execution) =>
          execution.workflow === workflow.id ? [[execution.resource, execution.id]] : [],
        ),
      )
      await applyEvents(context, { workflow, events: ofType, inProgress, delay })
    }
  }
}

/** Whether an event is about objects of the workflow, and matches one of its expressions. */
function canAffect(workflow: WorkflowDefinition, event: WorkflowEvent): boolean {
  const { type, cancelsOn, restartsOn } = workflow
  const matches = (expression: typeof cancelsOn) =>
    expression !== undefined && expression !== 'start' && matchesEvent(expression, event)
  return type === event.type && (startsOn(workflow, event) || matches(cancelsOn) || matches(restartsOn))
}

const startsOn = ({ on }: WorkflowDefinition, event: WorkflowEvent): boolean =>
  event.name === AD_HOC || (on !== undefined && matchesEvent(on, event))

/** The events for a workflow, and the ids of its executions by user or client. */
interface WorkflowEvents {
  readonly workflow: WorkflowDefinition
  readonly events: readonly WorkflowEvent[]
  readonly inProgress: ReadonlyMap<string, string>
  readonly delay: number | undefined
}

async function applyEvents(context: Context, { workflow, events, inProgress, delay }: WorkflowEvents): Promise<void> {
  const meetsCondition = await evaluateFor(context, workflow, events)
  const effects = new Map<string, ExecutionEffect>()
  for (const event of events) {
    if (effects.has(event.resource)) continue
    const starts = startsOn(workflow, event) && meetsCondition(event.resource)
    const effect = inProgress.has(event.resource) ? findConcurrencyEffect(workflow, event, starts) : starts && 'start'
    if (effect) effects.set(event.resource, effect)
  }
  const withEffect = (effect: ExecutionEffect) =>
    [...effects].flatMap(([id, candidate]) => (candidate === effect ? [id] : []))
  const idsOf = (resources: readonly string[]) => resources.map((resource) => inProgress.get(resource)!)
  const { tx, realm, now } = context
  const started = withEffect('start')
  const first = getNextStep(workflow, now, { position: 0, delay })
  if (started.length) {
    const { id, type } = workflow
    await insertExecutions(tx, realm.number, { workflow: id, type, startedAt: now, resources: started, ...first })
  }
  const restarted = idsOf(withEffect('restart'))
  if (restarted.length)
    await moveExecutions(tx, realm.number, { ids: restarted, ...getNextStep(workflow, now, { position: 0 }) })
  const cancelled = idsOf(withEffect('cancel'))
  if (cancelled.length) await deleteExecutions(tx, realm.number, cancelled)
  if (started.length || restarted.length) context.afterCommit.hasDueSteps = true
}

/** Returns whether users or clients meet the condition of a workflow, where it can matter. An unknown condition is not met. */
async function evaluateFor(
  context: Context,
  workflow: WorkflowDefinition,
  events: readonly WorkflowEvent[],
): Promise<(resource: string) => boolean> {
  const { condition } = workflow
  const candidates = events.filter((event) => startsOn(workflow, event)).map(({ resource }) => resource)
  if (!condition || !candidates.length) return () => true
  const results = await evaluateCondition(context, condition, [...new Set(candidates)])
  return (resource) => results.get(resource) === true
}

/** Keycloak: `true` needs an event that starts the workflow, and a workflow that events start. */
function findConcurrencyEffect(
  workflow: WorkflowDefinition,
  event: WorkflowEvent,
  starts: boolean,
): ExecutionEffect | undefined {
  const matches = (setting: WorkflowDefinition['cancelsOn']) =>
    setting === 'start' ? workflow.on !== undefined && starts : setting !== undefined && matchesEvent(setting, event)
  if (matches(workflow.restartsOn)) return 'restart'
  return matches(workflow.cancelsOn) ? 'cancel' : undefined
}

/** Returns when the step at a position is due. `delay`: in milliseconds, by default that of the step. */
export function getNextStep(
  { steps }: WorkflowDefinition,
  now: Date,
  { position, delay }: { readonly position: number; readonly delay?: number | undefined },
): NextStep {
  const milliseconds = delay !== undefined && delay > 0 ? delay : steps[position]!.delay
  return { step: position, due: new Date(now.getTime() + milliseconds), isResumed: milliseconds > 0 }
}

/** The handler of the tasks that start workflows. */
export const workflowTasks: TaskHandlers = { [WORKFLOW_SCHEDULE]: runSchedule }

/** Starts a workflow for users or clients for which it is not in progress, at most as many as its batch size. */
async function runSchedule({ service, realm: name, subject, complete }: TaskRun): Promise<void> {
  await service.write({ actor: { kind: 'workflow' } }, name, async (context) => {
    const { tx, realm } = context
    if (!(await complete(tx))) throw new Rollback(undefined)
    const workflow = (await listDefinitions(context)).find(({ id, isEnabled }) => id === subject && isEnabled)
    if (!workflow) return
    const { id, type, batchSize } = workflow
    const condition = workflow.condition && (await resolveCondition(context, workflow.condition))
    const resources = await selectEligible(tx, realm.number, { workflow: id, type, condition, limit: batchSize })
    await startWorkflow(context, { workflow, resources })
  })
}
