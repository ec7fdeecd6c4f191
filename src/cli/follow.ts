// What a watched source does to the store, told on the terminal.
import { renderOutcome } from '../reconcile/render.ts'
import { applySource } from '../reconcile/run.ts'
import type { Service } from '../service/service.ts'
import { paint } from './paint.ts'
import { report } from './report.ts'
import { readSource, type SourceFlags } from './source.ts'

/** Applies the source as it is now; what is wrong is told, and the last good state stays. Runs follow each other. */
export function follow(service: Service, path: string, flags: SourceFlags): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  const run = async (): Promise<void> => {
    try {
      const source = await readSource(path, flags)
      const outcome = await applySource(service, { actor: { kind: 'source', source: source.name } }, source)
      console.log(
        `${paint('dim', new Date().toLocaleTimeString())} ${source.name} at ${source.revision}\n${renderOutcome(outcome, 'applied', paint)}\n`,
      )
    } catch (error) {
      console.error(`${paint('red', `${path} was not applied; what was live stays:`)}\n${report(error)}\n`)
    }
  }
  return () => {
    last = last.then(run)
    return last
  }
}
