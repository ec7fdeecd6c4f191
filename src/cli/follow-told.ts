// What becomes of the sources that a server follows, told on the terminal.
import { chunks } from '../lib/chunks.ts'
import type { Audience, Happened } from '../reconcile/following/followed.ts'
import { outcomeLines } from '../reconcile/report/render.ts'
import type { Outcome } from '../reconcile/run/run.ts'
import { paint } from './paint.ts'
import { report } from './report.ts'

/** Lines that are written at a time. */
const LINES = 1_000

/** Whoever looks at the terminal. */
export const terminal: Pick<Audience, 'words' | 'happened'> = { words: report, happened: tell }

function tell(event: Happened): void {
  switch (event.what) {
    case 'applied':
      tellOutcome(event.outcome)
      break
    case 'refused': {
      const { called, attempted } = event.source
      const what = attempted ? `${called} at ${attempted}` : called
      console.error(`${paint('red', `${what} was not applied; what was live stays:`)}\n${event.reason}\n`)
      break
    }
    case 'failed':
      console.error(
        `${paint('red', `${event.source.called} cannot be applied now; what was live stays:`)}\n${event.reason}\n`,
      )
      break
    case 'waits':
      console.log(`${event.source.called}: ${event.reason}.\n`)
      break
    case 'recovered':
      console.log(`${event.source.called} can be applied again.\n`)
      break
    case 'rests': {
      const { source, renamedTo } = event
      const why = renamedTo ? `is called ${renamedTo} now, and is to be named so` : 'is suspended'
      console.log(`${source.called} ${why}: it is not read, and what was applied stays.\n`)
    }
  }
}

function tellOutcome(outcome: Outcome): void {
  const read = outcome.sources.map(({ name, revision }) => `${name} at ${revision}`).join(', ')
  console.log(`${paint('dim', new Date().toLocaleTimeString())} ${read}`)
  for (const lines of chunks(outcomeLines(outcome, 'applied', paint), LINES)) console.log(lines.join('\n'))
  console.log()
}
