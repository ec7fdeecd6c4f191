// The writers of workflows, which check them, and schedule the workflows that start at intervals.
import { type Representation, readObject, readObjects } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { parseDuration } from '../../lib/keycloak/durations.ts'
import { selectKeys } from '../../store/objects.ts'
import { selectExecutionStates } from '../../store/workflows/executions.ts'
import type { Context } from '../context/context.ts'
import { failure, invalidObject } from '../context/errors.ts'
import { createCheckedWriters } from '../objects/checked-writers.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { toUpdatedRepresentation } from '../objects/plain-writers.ts'
import type { ObjectUpdate, Writers } from '../objects/writers.ts'
import { requireGrantableGroups, requireGrantableRoles } from '../permissions/privilege-escalation.ts'
import { cancelTasks, scheduleTasks } from '../tasks/scheduled-tasks.ts'
import { findWorkflowProblem } from './workflow-checks.ts'

/** The type of the scheduled tasks that start workflows. */
export const WORKFLOW_SCHEDULE = 'workflow-schedule'

const writers = createCheckedWriters('workflow', checkWorkflows)

/** The writers of workflows. */
export const workflows: Writers = {
  ...writers,
  async create(context, objects) {
    const created = await writers.create(context, objects)
    await updateSchedules(context, created)
    return created
  },
  async update(context, updates) {
    await requireStepsUnchanged(context, updates)
    const updated = await writers.update(context, updates)
    await updateSchedules(context, updated)
    return updated
  },
  async delete(context, objects) {
    const ids = objects.map(({ id }) => id)
    await cancelTasks(context, WORKFLOW_SCHEDULE, ids)
    await writers.delete(context, objects)
  },
}

/** Returns the setting of a step as a list of texts. */
export function readStepSetting(step: Representation, name: string): string[] {
  const value = readObject(step.with)[name] ?? null
  return value === null ? [] : [value].flat().map(String)
}

/** Returns the key of a role in a workflow: `role`, or `client/role`. */
export function toWorkflowRoleKey(name: string): Key {
  const [client = '', role] = name.split('/')
  return role === undefined ? [name] : ['client', client, role]
}

/** Returns the path of a group in a workflow, where the slash at the beginning is optional. */
export const toWorkflowGroupPath = (path: string): string => (path.startsWith('/') ? path : `/${path}`)

/** Throws invalid where a complete workflow has a problem. `ids` are those of the workflows that exist. Statements: five at most. */
async function checkWorkflows(
  context: Context,
  workflows: readonly Representation[],
  ids: readonly string[],
): Promise<void> {
  const keys = workflows.map(({ name }) => [String(name ?? '')])
  const otherWorkflows = keys.length
    ? (await listObjects(context, 'workflow', { keys })).filter(({ id }) => !ids.includes(id))
    : []
  const takenNames = new Set(otherWorkflows.map(({ key }) => key[0]))
  for (const workflow of workflows) {
    const name = String(workflow.name ?? '')
    if (takenNames.has(name)) {
      const message = `Workflow name must be unique. A workflow with name '${name}' already exists.`
      throw failure('invalid', message, { field: 'name' })
    }
    takenNames.add(name)
    const problem = findWorkflowProblem(workflow)
    if (problem) throw invalidObject(problem)
  }
  await requireGrantableSteps(
    context,
    workflows.flatMap(({ steps }) => readObjects(steps)),
  )
}

/** The settings of steps that grant or revoke something, by type of the step. */
const rolesOf: Readonly<Record<string, string>> = { 'grant-role': 'role', 'revoke-role': 'role' }
const groupsOf: Readonly<Record<string, string>> = { 'join-group': 'group', 'leave-group': 'group' }

/**
 * Throws forbidden unless the caller may grant what the steps grant and revoke. Names of nothing are ignored. Statements: four at most, and none
 * for a caller with all permissions.
 */
async function requireGrantableSteps(context: Context, steps: readonly Representation[]): Promise<void> {
  if (context.permissions.all) return
  const listNames = (settings: Readonly<Record<string, string>>) =>
    steps.flatMap((step) => {
      const setting = settings[String(step.uses)]
      return setting === undefined ? [] : readStepSetting(step, setting)
    })
  const selectIds = async (kind: 'role' | 'group', keys: readonly Key[]) =>
    keys.length
      ? (await selectKeys(context.tx, context.realm.number, { kind, filter: { keys } })).map(({ id }) => id)
      : []
  const groupKeys = listNames(groupsOf).map((path): Key => [toWorkflowGroupPath(path)])
  await requireGrantableRoles(context, await selectIds('role', listNames(rolesOf).map(toWorkflowRoleKey)))
  await requireGrantableGroups(context, await selectIds('group', groupKeys))
}

/** Throws invalid where an update changes the event or the types of the steps of a workflow with executions in progress. One statement, or none. */
async function requireStepsUnchanged(context: Context, updates: readonly ObjectUpdate[]): Promise<void> {
  const changes = updates.map((update) => ({ update, after: toUpdatedRepresentation(update) }))
  const changesOf = (field: (workflow: Representation) => string) =>
    changes.filter(({ update, after }) => field(update.live.representation) !== field(after))
  const byEvent = changesOf(({ on }) => String(on ?? ''))
  const bySteps = changesOf(({ steps }) => JSON.stringify(readObjects(steps).map(({ uses }) => uses)))
  const ids = [...byEvent, ...bySteps].map(({ update }) => update.live.id)
  if (!ids.length) return
  const { tx, realm } = context
  const states = await selectExecutionStates(tx, realm.number, ids)
  const inProgress = new Set(states.map(({ workflow }) => workflow))
  const isInProgress = ({ update }: (typeof changes)[number]) => inProgress.has(update.live.id)
  if (byEvent.some(isInProgress))
    throw failure('invalid', "Cannot update 'on' configuration when there are scheduled resources for the workflow.", {
      field: 'on',
    })
  if (bySteps.some(isInProgress))
    throw failure(
      'invalid',
      'Cannot change the number or order of steps when there are scheduled resources for the workflow.',
      { field: 'steps' },
    )
}

/** Schedules the enabled workflows that have a schedule, and cancels the schedules of the others. Two statements at most. */
async function updateSchedules(context: Context, workflows: readonly LiveObject[]): Promise<void> {
  const seconds = new Map(workflows.map(({ id, representation }) => [id, findScheduleSeconds(representation)]))
  const tasks = [...seconds].flatMap(([subject, intervalSeconds]) =>
    intervalSeconds === undefined ? [] : [{ type: WORKFLOW_SCHEDULE, subject, intervalSeconds }],
  )
  await scheduleTasks(context, tasks)
  await cancelTasks(
    context,
    WORKFLOW_SCHEDULE,
    [...seconds].flatMap(([id, interval]) => (interval === undefined ? [id] : [])),
  )
}

function findScheduleSeconds({ enabled, schedule }: Representation): number | undefined {
  const { after = null } = readObject(schedule)
  const duration = after === null || enabled === false ? undefined : parseDuration(String(after))
  return duration === undefined ? undefined : Math.floor(duration / 1000)
}
