// What a watched source does to the store, told on the terminal.
import { chunks } from '../lib/chunks.ts'
import { outcomeLines } from '../reconcile/render.ts'
import { applySources } from '../reconcile/run.ts'
import type { Ceiling } from '../service/power.ts'
import type { Service } from '../service/service.ts'
import { paint } from './paint.ts'
import { report } from './report.ts'
import { readSource, type SourceFlags } from './source.ts'

/** Lines that are written at a time. */
const LINES = 1_000

/** Applies the source as it is now; what is wrong is told, and the last good state stays. Runs follow each other. */
export function follow(
  service: Service,
  path: string,
  flags: SourceFlags,
  ceilingOf: (source: string) => Ceiling | undefined,
): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  const run = async (): Promise<void> => {
    try {
      const read = await readSource(path, flags)
      const source = { ...read, ceiling: ceilingOf(read.name) }
      const outcome = await applySources(service, { actor: { kind: 'source', source: source.name } }, [source])
      console.log(`${paint('dim', new Date().toLocaleTimeString())} ${source.name} at ${source.revision}`)
      for (const lines of chunks(outcomeLines(outcome, 'applied', paint), LINES)) console.log(lines.join('\n'))
      console.log()
    } catch (error) {
      console.error(`${paint('red', `${path} was not applied; what was live stays:`)}\n${report(error)}\n`)
    }
  }
  return () => {
    last = last.then(run)
    return last
  }
}
