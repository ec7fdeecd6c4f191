// Checks that timers stand in a few files of src: what repeats runs in the work queue, what must end has a deadline.
import { globSync, readFileSync } from 'node:fs'
import { readImports } from './check-imports.ts'

/** The files that may use timers, with what they need them for. */
export const TIMER_FILES: Readonly<Record<string, string>> = {
  'src/lib/timing/work-queue.ts': 'delays of keys that are reconciled again',
  'src/lib/timing/deadline.ts': 'deadlines',
  'src/lib/timing/retry.ts': 'delays between attempts of a call whose caller waits for the result',
  'src/lib/timing/constant-duration.ts': 'refusals that must take as long as successes',
}
const TIMER_MODULE = /^(?:node:)?timers(?:\/promises)?$/
const TIMERS = /(?<![\w$.])(?:globalThis\.|window\.|self\.)?(?:setTimeout|setInterval)\b/

/** The uses of timers in a file's text: names of modules and of functions, each once. */
export function findTimers(source: string): string[] {
  const code = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const modules = readImports(source).flatMap(({ specifier }) => (TIMER_MODULE.test(specifier) ? specifier : []))
  return [...new Set([...modules, ...(TIMERS.exec(code) ?? [])])]
}

/** The violations in files by their path, one line each: files with timers that are not listed, and listed ones without. */
export function findTimerViolations(files: ReadonlyMap<string, string>): string[] {
  const unlisted = [...files].flatMap(([file, source]) =>
    file in TIMER_FILES
      ? []
      : findTimers(source).map(
          (use) =>
            `${file} uses ${use}: use the work queue (src/lib/timing/work-queue.ts) or a deadline (src/lib/timing/deadline.ts)`,
        ),
  )
  const unneeded = Object.keys(TIMER_FILES).filter((file) => !findTimers(files.get(file) ?? '').length)
  return [...unlisted, ...unneeded.map((file) => `${file} uses no timer: remove it from scripts/check-timers.ts`)]
}

/** The files of src in the current directory, with their texts. */
export function readTimerSources(): Map<string, string> {
  return new Map(globSync('src/**/*.ts').map((file) => [file, readFileSync(file, 'utf8')]))
}

if (import.meta.main) {
  const violations = findTimerViolations(readTimerSources())
  for (const violation of violations) console.error(violation)
  process.exitCode = violations.length > 0 ? 1 : 0
}
