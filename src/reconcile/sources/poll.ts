// Asks the server of a git source, again and again, whether there is another commit.
import { setTimeout as after } from 'node:timers/promises'
import type { GitSource } from './git.ts'
import type { SourceWatcher } from './watch.ts'

/** What fails for a reason that may pass is tried less often, down to this: milliseconds. */
const LONGEST = 15 * 60 * 1000

/** What is told of a source in git. */
export interface GitWatcher extends SourceWatcher {
  /** Whether what was told last failed for a reason that may pass. */
  unfinished(): boolean
}

/** A source that is asked again and again. */
export interface Polling {
  /** Asks now, and once more after that if it is being asked. */
  now(): void
  close(): Promise<void>
}

/** Asks every so many milliseconds, and tells when the commit is another than the last one attempted, or that one is to be tried again. */
export function pollGitSource(source: GitSource, every: number, told: GitWatcher): Polling {
  let woken = new AbortController()
  let stopped = false
  let failures = 0
  const look = async () => {
    try {
      const head = await source.head()
      if (head !== source.attempted || told.unfinished()) await told.changed()
    } catch (error) {
      if (!stopped) told.failed(error)
    }
    failures = told.unfinished() ? failures + 1 : 0
  }
  const asking = (async () => {
    for (;;) {
      const wait = Math.min(every * 2 ** failures, Math.max(every, LONGEST))
      await after(wait, undefined, { signal: woken.signal }).catch(() => undefined)
      if (stopped) return
      // From here on, who wakes it asks for another look.
      woken = new AbortController()
      await look()
    }
  })()
  return {
    now: () => woken.abort(),
    async close() {
      stopped = true
      woken.abort()
      await asking
    },
  }
}
