import { describeObject } from '../../kinds/tree.ts'
import { getErrorMessage } from '../../lib/error-message.ts'
import type { DocumentProblem } from '../../realm-file/yaml/problem.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { Action } from '../model/action.ts'

/** The failure of one action of a plan. */
export class ActionError extends Error {
  readonly action: Action

  constructor(action: Action, cause: unknown) {
    const reason = cause instanceof ServiceError ? cause.reason : undefined
    super(reason ?? getErrorMessage(cause), { cause })
    this.action = action
  }

  /** The failure at the position of the object; empty if no document declares it. */
  get problems(): DocumentProblem[] {
    const { operation, kind, key, position } = this.action
    const message = `${operation} ${describeObject(kind, key)}: ${this.message}; nothing was changed`
    return position ? [{ position, message }] : []
  }
}
