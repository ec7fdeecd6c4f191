import { kinds } from '../../kinds/index.ts'
import { describeObject } from '../../kinds/tree.ts'
import { getErrorMessage } from '../../lib/error-message.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import type { DocumentProblem } from '../../realm-file/yaml/problem.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { Action } from '../model/action.ts'

/** The failure of one action of a plan. */
export class ActionError extends Error {
  readonly action: Action
  /** The failures of later actions, which do not depend on this one. */
  readonly further: readonly ActionError[]

  constructor(action: Action, cause: unknown, further: readonly ActionError[] = []) {
    const reason = cause instanceof ServiceError ? cause.reason : undefined
    super(`${reason ?? getErrorMessage(cause)}${getRenameHint(action, cause)}`, { cause })
    this.action = action
    this.further = further
  }

  /** Returns the error with changed messages. */
  withMessages(change: (message: string) => string): ActionError {
    const further = this.further.map((error) => error.withMessages(change))
    return Object.assign(new ActionError(this.action, this.cause, further), { message: change(this.message) })
  }

  /** Each failure at the position of the refused field, or else of the object; without objects that no document declares. */
  get problems(): DocumentProblem[] {
    const position = this.#findFieldPosition() ?? this.#findObjectPosition()
    const failure = position ? [{ position, message: this.describe() }] : []
    return [...failure, ...this.further.flatMap(({ problems }) => problems)]
  }

  /** Returns the failure with its action. `reason` replaces the message of the cause. */
  describe(reason = this.message): string {
    const { operation, kind, key } = this.action
    const end = /[.?!]$/.test(reason) ? ' Nothing was changed.' : '; nothing was changed'
    return `${operation} ${describeObject(kind, key)}: ${reason}${end}`
  }

  /** Returns the position of the object, with its path if the document has no lines. */
  #findObjectPosition(): SourcePosition | undefined {
    const { position, changes } = this.action
    const field = changes.find(({ path, position }) => position && !/[./]/.test(path))
    if (!position || !field?.position || field.position.file === position.file) return position
    return { ...position, file: field.position.file.slice(0, -`/${field.path}`.length) }
  }

  #findFieldPosition(): SourcePosition | undefined {
    const field = this.cause instanceof ServiceError ? this.cause.field : undefined
    if (field === undefined) return undefined
    const isInside = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}.`)
    const { changes } = this.action
    const declared = changes.find(({ path }) => isInside(path, field) || isInside(field, path))
    // A missing setting is reported where its group is declared, such as `smtpServer.from` at `smtpServer.host`.
    const [group] = field.split('.')
    return (declared ?? changes.find(({ path }) => isInside(path, group!)))?.position
  }
}

/** Returns advice for an object that cannot be created because a value is taken: the object with that value may be the same one. */
function getRenameHint({ operation, kind }: Action, cause: unknown): string {
  const isTaken = operation === 'create' && cause instanceof ServiceError && cause.code === 'conflict'
  return isTaken ? `. If the ${kinds[kind].title} was renamed, declare its former name as renamedFrom.` : ''
}
