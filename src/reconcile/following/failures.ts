// What the failure of an attempt means.
import { DocumentError } from '../../realm-file/yaml/problem.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { Wrong } from '../../service/sources/source-states.ts'
import { ActionError } from '../execute/apply.ts'
import { SourceError } from '../read/file.ts'
import { RemoteError } from '../read/git-command.ts'

/** Whether it is due to what the source states: nothing but another statement helps. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof SourceError) return !(error instanceof RemoteError)
  return error instanceof DocumentError || error instanceof ServiceError || error instanceof ActionError
}

/** Problems of one attempt that are kept with their places. */
const PLACES = 20

/** The first things that are wrong, with the place of each; undefined where no document is. */
export function placesIn(error: unknown): readonly Wrong[] | undefined {
  if (!(error instanceof DocumentError || error instanceof ActionError)) return undefined
  return error.problems
    .slice(0, PLACES)
    .map(({ position: { file, line, column }, message }) => ({ file, line, column, message }))
}

/** Whether it was refused since another process has the lease. */
export function isFenced(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'fenced'
}
