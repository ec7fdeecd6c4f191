// Checks that only a few files of src use timers. All others use the work queue for repeated work, and deadlines.
import { globSync, readFileSync } from 'node:fs'
import { readImports } from './check-imports.ts'

/** The files that may use timers, with the reason. */
export const TIMER_FILES: Readonly<Record<string, string>> = {
  'src/lib/timing/work-queue.ts': 'delays of keys that are reconciled again',
  'src/lib/timing/deadline.ts': 'deadlines',
  'src/lib/timing/retry.ts': 'delays between attempts of a call whose caller waits for the result',
  'src/lib/timing/constant-duration.ts': 'refusals that must take as long as successes',
}
const TIMER_MODULE = /^(?:node:)?timers(?:\/promises)?$/
const TIMERS = /(?<![\w$.])(?:globalThis\.|window\.|self\.)?(?:setTimeout|setInterval)\b/

/** Returns the timer modules and functions that a file's text uses, without duplicates. */
export function findTimers(source: string): string[] {
  const code = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const modules = readImports(source).flatMap(({ specifier }) => (TIMER_MODULE.test(specifier) ? specifier : []))
  return [...new Set([...modules, ...(TIMERS.exec(code) ?? [])])]
}

/** Returns a line for each file that uses timers and is not listed, and for each listed file that uses none. `files`: texts by path. */
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

/** Returns the texts of the server's files in the current directory, by path. The code of the console runs in browsers. */
export function readTimerSources(): Map<string, string> {
  return new Map(
    globSync('src/**/*.ts', { exclude: ['src/console/**'] }).map((file) => [file, readFileSync(file, 'utf8')]),
  )
}

if (import.meta.main) {
  const violations = findTimerViolations(readTimerSources())
  for (const violation of violations) console.error(violation)
  process.exitCode = violations.length > 0 ? 1 : 0
}
