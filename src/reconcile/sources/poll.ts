// Asks the server of a git source, again and again, whether there is another commit.
import { type Again, again } from '../../lib/again.ts'
import type { GitSource } from './git.ts'
import type { SourceWatcher } from './watch.ts'

/** What is told of a source in git. */
export interface GitWatcher extends SourceWatcher {
  /** Whether what was told last failed for a reason that may pass: it is tried again by who was told. */
  unfinished(): boolean
}

/** Asks every so many milliseconds, and tells when the commit is another than the last one attempted. */
export function pollGitSource(source: GitSource, every: number, told: GitWatcher): Again {
  return again(every, async () => {
    if (told.unfinished()) return every
    try {
      if ((await source.fetch()) !== source.attempted) await told.changed()
    } catch (error) {
      told.failed(error)
    }
    return every
  })
}
