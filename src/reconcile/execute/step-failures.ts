// The failures of an apply that executes one action after the other, to find those that fail.
import { findParent, formatAddress } from '../../kinds/tree.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { concernsWholeChange, ServiceError } from '../../service/context/errors.ts'
import { rollBackOnError } from '../../service/context/store-types.ts'
import { type Action, isRelationChange, type RealmPlan } from '../model/action.ts'
import { listReferences } from '../model/references.ts'
import { ActionError } from './action-error.ts'

/** The actions that are attempted after the first failure, at most. */
const MAX_FURTHER_ACTIONS = 2_000

/** Attempts actions, and collects the failures of those that do not depend on a failed one. */
export class StepFailures {
  readonly #context: WriteContext
  readonly #plan: RealmPlan
  readonly #failures: { readonly action: Action; readonly error: unknown }[] = []
  /** The addresses of objects whose action failed, or was left out. */
  readonly #failed = new Set<string>()
  #attempts = 0

  constructor(context: WriteContext, plan: RealmPlan) {
    this.#context = context
    this.#plan = plan
  }

  /** Attempts an action, unless it depends on a failed one. Throws errors that concern the whole plan, and those that no caller causes. */
  async attempt(action: Action, work: () => Promise<void>): Promise<void> {
    if (this.#failures.length && ++this.#attempts > MAX_FURTHER_ACTIONS) this.throwFirst()
    const address = formatAddress(action.kind, action.key)
    if (this.#failed.has(address)) return
    if (this.#dependsOnFailed(action)) {
      this.#failed.add(address)
      return
    }
    try {
      await rollBackOnError(this.#context.tx, work)
    } catch (error) {
      if (concernsWholeChange(error)) throw error
      // Other errors after a failure may be due to it.
      if (!(error instanceof ServiceError)) this.throwFirst()
      this.#failures.push({ action: this.#toShownAction(action), error })
      this.#failed.add(address)
      if (!(error instanceof ServiceError)) this.throwFirst()
    }
  }

  /** Throws an ActionError for the first failure, with the further ones; nothing if there is none. */
  throwFirst(): void {
    const [first, ...further] = this.#failures
    if (!first) return
    throw new ActionError(
      first.action,
      first.error,
      further.map(({ action, error }) => new ActionError(action, error)),
    )
  }

  #dependsOnFailed({ kind, key, changes }: Action): boolean {
    if (!this.#failed.size) return false
    const parent = findParent(key)
    const references = changes.flatMap((change) =>
      listReferences({ kind, key }, change.path, isRelationChange(change) ? change.add : change.to),
    )
    return [...references, ...(parent ? [{ to: parent.kind, key: parent.key }] : [])].some((target) =>
      this.#failed.has(formatAddress(target.to, target.key)),
    )
  }

  /** Returns the action as messages name it: a plan creates a realm by an update of its settings, which to a user is its creation. */
  #toShownAction(action: Action): Action {
    return this.#plan.creates && action.kind === 'realm' ? { ...action, operation: 'create' } : action
  }
}
