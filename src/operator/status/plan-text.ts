// The text of a plan in the status of a resource.

import { renderOutcome } from '../../reconcile/report/text-report.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'

/** Maximum characters of a plan in a status. The API server limits the size of a resource. */
const MAX_LENGTH = 32 * 1024

/** Returns the changes of a plan as text, without secrets. A long text is cut at the end of a line. */
export function renderPlanText(outcome: RunOutcome): string {
  const text = renderOutcome(outcome, 'planned')
  if (text.length <= MAX_LENGTH) return text
  const beginning = text.slice(0, text.lastIndexOf('\n', MAX_LENGTH))
  const missing = text.slice(beginning.length).split('\n').length - 1
  return `${beginning}\n… and ${missing} more lines: see "regent plans".`
}
