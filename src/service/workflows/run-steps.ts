// Executes the steps of workflows that are due, of any realm. Claim, step and the time of the next step are one transaction, so that each due step
// is executed once, whatever process dies.

import { readObject } from '../../kinds/json.ts'
import { Lanes } from '../../lib/timing/lanes.ts'
import {
  type DueStep,
  deleteExecutions,
  findDueStep,
  lockDueExecutions,
  moveExecutions,
  postponeExecutions,
  type WorkflowExecution,
} from '../../store/workflows/executions.ts'
import type { WriteContext } from '../context/context.ts'
import { ServiceError } from '../context/errors.ts'
import type { Service, TaskRunner } from '../context/service.ts'
import { getNextStep } from './activation.ts'
import { evaluateCondition } from './conditions.ts'
import { listDefinitions, type WorkflowDefinition } from './definitions.ts'
import { executeStep, isDeletion } from './steps.ts'

/** Number of users or clients for which a step is executed in one transaction. */
const BATCH_SIZE = 500
/** The delay after the first failed attempt, which doubles with each further one, and the longest delay, in milliseconds. */
const FIRST_DELAY = 60_000
const LONGEST_DELAY = 12 * 3_600_000

const UNKNOWN_CONDITION = 'The condition names a role, group or identity provider that does not exist'

/** Starts to execute due steps in this process. */
export function startWorkflowRunner(service: Service, report: (error: Error) => void): TaskRunner {
  const runner = new WorkflowRunner(service, report)
  service.workflowRunner = runner
  runner.wake()
  return runner
}

class WorkflowRunner implements TaskRunner {
  readonly #service: Service
  readonly #report: (error: Error) => void
  readonly #lanes: Lanes

  constructor(service: Service, report: (error: Error) => void) {
    this.#service = service
    this.#report = report
    this.#lanes = new Lanes({
      most: 1,
      next: () => this.#runNext(),
      failed: (error) => report(new Error('due steps of workflows cannot be executed', { cause: error })),
    })
  }

  wake(): void {
    this.#lanes.wake()
  }

  whenIdle(): Promise<void> {
    return this.#lanes.whenIdle()
  }

  async close(): Promise<void> {
    if (this.#service.workflowRunner === this) this.#service.workflowRunner = undefined
    await this.#lanes.close()
  }

  async #runNext(): Promise<boolean> {
    const due = await this.#service.query((tx) => findDueStep(tx, this.#service.clock()))
    if (!due) return false
    await this.#execute(due)
    return true
  }

  /** Executes a step, for the executions with these ids or a batch of those that are due. If that fails, it is repeated with halves of them. */
  async #execute(due: DueStep, ids?: readonly string[]): Promise<void> {
    let claimed: readonly WorkflowExecution[] = []
    const reasons = new Set<string>()
    try {
      await this.#write(due, async (context) => {
        reasons.clear()
        claimed = []
        const workflow = (await listDefinitions(context)).find(({ id, isEnabled }) => id === due.workflow && isEnabled)
        if (!workflow) return
        const { tx, realm, now } = context
        claimed = await lockDueExecutions(tx, realm.number, { ...due, now, limit: BATCH_SIZE, ids })
        await executeSteps(context, { workflow, position: due.step, claimed, report: (reason) => reasons.add(reason) })
      })
      for (const reason of reasons) this.#report(new Error(`${describe(due)}: ${reason}`))
    } catch (error) {
      if (!claimed.length) throw error
      await this.#repeat(due, claimed, error)
    }
  }

  async #repeat(due: DueStep, claimed: readonly WorkflowExecution[], error: unknown): Promise<void> {
    const ids = claimed.map(({ id }) => id)
    if (ids.length > 1) {
      const middle = Math.ceil(ids.length / 2)
      await this.#execute(due, ids.slice(0, middle))
      await this.#execute(due, ids.slice(middle))
      return
    }
    this.#report(new Error(`${describe(due)} failed for ${claimed[0]!.resource}, and is retried`, { cause: error }))
    const message = error instanceof ServiceError ? error.message : 'The step failed: see the log of the server'
    await this.#write(due, (context) => postpone(context, claimed, message))
  }

  async #write(due: DueStep, work: (context: WriteContext) => Promise<void>): Promise<void> {
    const { realm, name: workflow } = due
    await this.#service.write({ actor: { kind: 'workflow', workflow } }, { realm, isLarge: true }, work)
  }
}

const describe = ({ name, realm, step }: DueStep): string =>
  `Step ${step + 1} of the workflow ${name} in the realm ${realm}`

/** Executions whose step at a position is due. */
interface ClaimedExecutions {
  readonly workflow: WorkflowDefinition
  readonly position: number
  readonly claimed: readonly WorkflowExecution[]
  readonly report: (reason: string) => void
}

/** Executes the step, and the following ones up to one with a delay. */
async function executeSteps(
  context: WriteContext,
  { workflow, position, claimed, report }: ClaimedExecutions,
): Promise<void> {
  const { tx, realm, now } = context
  const executions = await endIneligible(context, workflow, claimed)
  const ids = executions.map(({ id }) => id)
  const resources = executions.map(({ resource }) => resource)
  let current = position
  while (ids.length) {
    const step = workflow.steps[current]!
    const isRestart = step.uses === 'restart'
    const next = isRestart ? Number(readObject(step.representation.with).position ?? 0) : current + 1
    const nextStep = workflow.steps[next]
    if (!isRestart) await executeStep({ context, workflow, step, nextStep, report }, resources)
    if (isDeletion({ step })) return
    if (!nextStep) return deleteExecutions(tx, realm.number, ids)
    const move = getNextStep(workflow, now, { position: next })
    if (move.isResumed) return moveExecutions(tx, realm.number, { ids, ...move })
    current = next
  }
}

/**
 * Returns the executions that go on. Keycloak: after a delay, those whose users do not meet the condition any more end. Those about which the
 * condition is unknown are postponed.
 */
async function endIneligible(
  context: WriteContext,
  { condition }: WorkflowDefinition,
  executions: readonly WorkflowExecution[],
): Promise<readonly WorkflowExecution[]> {
  const { tx, realm } = context
  const resumed = executions.filter(({ isResumed }) => isResumed)
  if (!condition || !resumed.length) return executions
  const results = await evaluateCondition(
    context,
    condition,
    resumed.map(({ resource }) => resource),
  )
  const withResult = (result: boolean | null) =>
    resumed.filter(({ resource }) => (results.get(resource) ?? (results.has(resource) ? null : false)) === result)
  const ended = withResult(false)
  if (ended.length)
    await deleteExecutions(
      tx,
      realm.number,
      ended.map(({ id }) => id),
    )
  const unknown = withResult(null)
  if (unknown.length) await postpone(context, unknown, UNKNOWN_CONDITION)
  const stopped = new Set([...ended, ...unknown])
  return executions.filter((execution) => !stopped.has(execution))
}

/** Postpones executions. One statement per number of attempts. */
async function postpone(context: WriteContext, executions: readonly WorkflowExecution[], error: string): Promise<void> {
  const { tx, realm, now } = context
  for (const [attempts, group] of Map.groupBy(executions, (execution) => execution.attempts)) {
    const due = new Date(now.getTime() + Math.min(FIRST_DELAY * 2 ** Math.min(attempts, 20), LONGEST_DELAY))
    await postponeExecutions(tx, realm.number, { ids: group.map(({ id }) => id), due, error })
  }
}
