// Classifies the failures of attempts to apply a source.
import { DocumentError } from '../../realm-file/yaml/problem.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { SourceProblem } from '../../service/sources/source-status.ts'
import { ActionError } from '../execute/action-error.ts'
import { SourceError } from '../read/file-source.ts'
import { RemoteError } from '../read/git-command.ts'

/** Whether the error is caused by the content of the source: only a new revision helps, so that a retry is useless. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof SourceError) return !(error instanceof RemoteError)
  return error instanceof DocumentError || error instanceof ServiceError || error instanceof ActionError
}

/** Problems of one attempt that a status lists with their positions. */
const MAX_PROBLEMS = 20

/** Lists the first problems in documents with their positions; undefined where the error is not about documents. */
export function listProblems(error: unknown): readonly SourceProblem[] | undefined {
  if (!(error instanceof DocumentError || error instanceof ActionError)) return undefined
  return error.problems
    .slice(0, MAX_PROBLEMS)
    .map(({ position: { file, line, column }, message }) => ({ file, line, column, message }))
}

/** Whether a write was refused since another process holds the lease. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'lease_lost'
}
