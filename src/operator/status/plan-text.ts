// The text of a plan in the status of a resource.

import { renderOutcome } from '../../reconcile/report/text-report.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'

/** Maximum characters of a plan in a status. The API server limits the size of a resource. */
const MAX_LENGTH = 32 * 1024

/**
 * Returns the changes of a plan as text, without secrets. A long text is cut at the end of a line. `hasLines`: whether the documents
 * have lines, which resources have not.
 */
export function renderPlanText(outcome: RunOutcome, hasLines: boolean): string {
  const rendered = renderOutcome(outcome, 'planned', { detail: 'full', isVerbose: true })
  const text = hasLines ? rendered : rendered.replaceAll(/:1:1$|, line 1$/gm, '')
  if (text.length <= MAX_LENGTH) return text
  const beginning = text.slice(0, text.lastIndexOf('\n', MAX_LENGTH))
  const missing = text.slice(beginning.length).split('\n').length - 1
  return `${beginning}\n… and ${missing} more lines: see "regent plans".`
}
