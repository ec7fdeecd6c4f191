// Prints the outcomes of a server's sources on the terminal.
import { chunks } from '../../lib/chunks.ts'
import type { SourceEvent, SourceReporter } from '../../reconcile/following/followed-source.ts'
import { formatTime } from '../../reconcile/model/attribution.ts'
import { listOutcomeLines } from '../../reconcile/report/text-report.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { paint } from '../paint.ts'
import { renderError } from '../render-error.ts'

/** Lines written at a time. */
const LINES = 1_000

/** Prints events of sources on the terminal. */
export const terminalReporter: Pick<SourceReporter, 'renderError' | 'reportEvent'> = {
  renderError: renderError,
  reportEvent: printSourceEvent,
}

function printSourceEvent(event: SourceEvent): void {
  switch (event.type) {
    case 'applied':
      printOutcomeLines(event.outcome)
      break
    case 'refused': {
      const { displayName, attemptedRevision } = event.source
      const source = attemptedRevision ? `${displayName} at ${attemptedRevision}` : displayName
      console.error(`${paint('red', `${source} was not applied. Nothing changed:`)}\n${event.reason}\n`)
      break
    }
    case 'failed':
      console.error(
        `${paint('red', `${event.source.displayName} cannot be applied now. Nothing changed:`)}\n${event.reason}\n`,
      )
      break
    case 'dependencyNotReady':
      console.log(`${event.source.displayName} was not applied. ${event.reason}\n`)
      break
    case 'recovered':
      console.log(`${event.source.displayName} can be applied again.\n`)
      break
    case 'suspended': {
      const { source, renamedTo } = event
      const state = renamedTo ? `was renamed to ${renamedTo}: use that name in the settings` : 'is suspended'
      console.log(`${source.displayName} ${state}. It is not read; its objects stay.\n`)
    }
  }
}

function printOutcomeLines(outcome: RunOutcome): void {
  const read = outcome.sources.map(({ name, revision }) => `${name} at ${revision}`).join(', ')
  console.log(`${paint('dim', formatTime(new Date().toISOString()))} ${read}`)
  for (const lines of chunks(listOutcomeLines(outcome, 'applied', { paint }), LINES)) console.log(lines.join('\n'))
  console.log()
}
