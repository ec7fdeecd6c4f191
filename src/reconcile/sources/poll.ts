// Asks the server of a git source, again and again, whether there is another commit.
import { type Again, again } from '../../lib/again.ts'
import type { GitSource } from './git.ts'
import type { SourceWatcher } from './watch.ts'

/** What fails for a reason that may pass is tried less often, down to this: milliseconds. */
export const LONGEST = 15 * 60 * 1000

/** What is told of a source in git. */
export interface GitWatcher extends SourceWatcher {
  /** Whether what was told last failed for a reason that may pass. */
  unfinished(): boolean
}

/** Asks every so many milliseconds, after others when something failed, and tells when the commit is another than the last one attempted, or that one is to be tried again. */
export function pollGitSource(
  source: GitSource,
  { every, retry }: { readonly every: number; readonly retry: number },
  told: GitWatcher,
): Again {
  let failures = 0
  return again(every, async () => {
    try {
      const head = await source.head()
      if (head !== source.attempted || told.unfinished()) await told.changed()
    } catch (error) {
      told.failed(error)
    }
    failures = told.unfinished() ? failures + 1 : 0
    return failures ? Math.min(retry * 2 ** (failures - 1), Math.max(retry, LONGEST)) : every
  })
}
