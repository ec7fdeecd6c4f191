// Statements whose responses a write does not wait for at once.
import { awaitDeferred, defer } from '../../store/database/transaction.ts'
import type { Context } from './context.ts'

/**
 * Lets the transaction go on while the statement of a write is executed: the end of the transaction awaits it, and throws its error. An
 * apply awaits it here, since its errors name the action that failed.
 */
export async function sendWrite(
  { tx, isApply }: Context,
  statement: Promise<void>,
  options?: { readonly isCheck?: boolean },
): Promise<void> {
  if (isApply) await statement
  else defer(tx, statement, options)
}

/** Runs a part of a write and awaits its statements: for callers that catch its errors. */
export function awaitWrites<T>({ tx }: Context, work: () => Promise<T>): Promise<T> {
  return awaitDeferred(tx, work)
}
