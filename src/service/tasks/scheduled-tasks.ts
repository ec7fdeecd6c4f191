// Periodic work on objects of realms, such as the schedules of workflows. Of several servers over a store, one runs a task when it is due.
import { Lanes } from '../../lib/timing/lanes.ts'
import { runEvery } from '../../lib/timing/run-every.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import {
  type ClaimedTask,
  claimTask,
  completeTask,
  deleteTasks,
  extendClaim,
  insertTasks,
  postponeTask,
  type ScheduledTask,
} from '../../store/scheduled-tasks.ts'
import type { Context } from '../context/context.ts'
import type { Service, TaskRunner } from '../context/service.ts'

/** A run of a task, of which no other run is in progress. */
export interface TaskRun {
  readonly service: Service
  /** Name of the realm. */
  readonly realm: string
  /** Id of the object. */
  readonly subject: string
  /** The time of the run. */
  readonly now: Date
  /**
   * Completes the run in a transaction of the work. Returns false if another process has taken the task over, after this one did not
   * respond for minutes: then roll the transaction back. Not called: the run is completed after it has returned.
   */
  complete(tx: Transaction): Promise<boolean>
}

/** The functions that run tasks, by type. A task whose run throws is retried after a minute, or after its interval if that is less. */
export type TaskHandlers = Readonly<Record<string, (run: TaskRun) => Promise<void>>>

/** The most tasks that one process runs at a time. */
const MAX_LANES = 4
/** The time after which another process takes a task over if this one does not respond, in milliseconds. It is extended during a run. */
const CLAIM_MS = 5 * 60_000
/** The delay after a failed run, in milliseconds. */
const RETRY_MS = 60_000

/**
 * Schedules tasks: the first run is due after the interval. Where the task exists already, only its interval changes. One statement, or none.
 */
export async function scheduleTasks(context: Context, tasks: readonly ScheduledTask[]): Promise<void> {
  const { tx, realm, now } = context
  if (tasks.length) await insertTasks(tx, realm.number, { now, tasks })
}

/** Ends the tasks of objects. One statement, or none. */
export async function cancelTasks(context: Context, type: string, subjects: readonly string[]): Promise<void> {
  const { tx, realm } = context
  if (subjects.length) await deleteTasks(tx, realm.number, { type, subjects })
}

/** Starts to run due tasks in this process. */
export function startTaskRunner(service: Service, handlers: TaskHandlers, report: (error: Error) => void): TaskRunner {
  const runner = new ConcurrentTaskRunner(service, handlers, report)
  runner.wake()
  return runner
}

class ConcurrentTaskRunner implements TaskRunner {
  readonly #service: Service
  readonly #handlers: TaskHandlers
  readonly #report: (error: Error) => void
  readonly #lanes: Lanes

  constructor(service: Service, handlers: TaskHandlers, report: (error: Error) => void) {
    this.#service = service
    this.#handlers = handlers
    this.#report = report
    this.#lanes = new Lanes({
      most: MAX_LANES,
      next: () => this.#runNext(),
      failed: (error) => report(new Error('due tasks cannot be read', { cause: error })),
    })
  }

  wake(): void {
    this.#lanes.wake()
  }

  whenIdle(): Promise<void> {
    return this.#lanes.whenIdle()
  }

  close(): Promise<void> {
    return this.#lanes.close()
  }

  async #runNext(): Promise<boolean> {
    const now = this.#service.clock()
    const claimEnd = new Date(now.getTime() + CLAIM_MS)
    const task = await this.#service.query((tx) => claimTask(tx, Object.keys(this.#handlers), { now, claimEnd }))
    if (!task) return false
    // Another lane looks for the next task meanwhile.
    this.wake()
    await this.#run(task, now)
    return true
  }

  async #run(task: ClaimedTask, now: Date): Promise<void> {
    const { query, clock } = this.#service
    const { realmName: realm, type, subject, intervalSeconds } = task
    const extending = runEvery(CLAIM_MS / 3, () =>
      query((tx) => extendClaim(tx, task, new Date(clock().getTime() + CLAIM_MS))),
    )
    try {
      const complete = (tx: Transaction) => completeTask(tx, task, now)
      await this.#handlers[type]!({ service: this.#service, realm, subject, now, complete })
      await query(complete)
    } catch (error) {
      const message = `The task ${type} of ${subject} in the realm ${realm} has failed, and is retried`
      this.#report(new Error(message, { cause: error }))
      const delay = Math.min(RETRY_MS, intervalSeconds * 1000)
      await query((tx) => postponeTask(tx, task, new Date(clock().getTime() + delay)))
    } finally {
      await extending.close()
    }
  }
}
