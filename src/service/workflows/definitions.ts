// Workflows as they are executed: with parsed expressions and delays.
import { type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import { getResourceType, type WorkflowResourceType } from '../../kinds/workflow-steps.ts'
import { parseDuration } from '../../lib/keycloak/durations.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { cacheInContext, cacheUntilChange, hasChanged } from '../context/realm-values.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { parseWorkflowExpression, type WorkflowExpression } from '../realms/workflow-expressions.ts'

/** A step of a workflow. */
export interface WorkflowStep {
  readonly uses: string
  /** Delay before the step in milliseconds; 0: none. */
  readonly delay: number
  readonly representation: Representation
}

/** The events that cancel or restart an execution in progress; `start`: those that would start the workflow. */
export type ConcurrencyEvents = WorkflowExpression | 'start'

/** A workflow that can be executed. */
export interface WorkflowDefinition {
  readonly id: string
  readonly name: string
  readonly type: WorkflowResourceType
  readonly isEnabled: boolean
  readonly on: WorkflowExpression | undefined
  readonly condition: WorkflowExpression | undefined
  readonly cancelsOn: ConcurrencyEvents | undefined
  readonly restartsOn: ConcurrencyEvents | undefined
  /** Maximum number of users or clients per run of the schedule. */
  readonly batchSize: number
  readonly steps: readonly WorkflowStep[]
}

/** Keycloak: the default batch size. */
const BATCH_SIZE = 100

/** Returns the workflows of the realm. One statement, or none where they are cached or the realm has none. */
export async function listDefinitions(context: Context | WriteContext): Promise<readonly WorkflowDefinition[]> {
  if (!('lastChanges' in context)) return context.realm.hasWorkflows ? getForRead(context) : []
  return context.realm.hasWorkflows || hasChanged(context, 'workflow') ? getForWrite(context) : []
}

const getForRead = cacheInContext(loadDefinitions)
const getForWrite = cacheUntilChange(['workflow'], loadDefinitions)

async function loadDefinitions(context: Context): Promise<readonly WorkflowDefinition[]> {
  return (await listObjects(context, 'workflow', {})).map(toDefinition)
}

/** Returns a workflow as it is executed. */
export function toDefinition({ id, representation }: Pick<LiveObject, 'id' | 'representation'>): WorkflowDefinition {
  const { name, enabled, on, if: condition, schedule, concurrency, steps } = representation
  const stepList = readObjects(steps)
  const { 'cancel-in-progress': cancel, 'restart-in-progress': restart } = readObject(concurrency)
  return {
    id,
    name: String(name),
    type: getResourceType(stepList) ?? 'USERS',
    isEnabled: enabled !== false,
    on: parse(on),
    condition: parse(condition),
    cancelsOn: parseConcurrency(cancel),
    restartsOn: parseConcurrency(restart),
    batchSize: Number(readObject(schedule)['batch-size'] ?? BATCH_SIZE),
    steps: stepList.map((step) => ({
      uses: String(step.uses),
      delay: parseDuration(String(step.after ?? '')) ?? 0,
      representation: step,
    })),
  }
}

/** Returns a stored expression, which was checked; undefined if it is empty. */
function parse(text: Json | undefined): WorkflowExpression | undefined {
  const parsed = parseWorkflowExpression(String(text ?? ''))
  return 'expression' in parsed ? parsed.expression : undefined
}

function parseConcurrency(text: Json | undefined): ConcurrencyEvents | undefined {
  return String(text ?? '').toLowerCase() === 'true' ? 'start' : parse(text)
}
