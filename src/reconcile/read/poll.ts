// Polls the server of a git source for another commit.
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { GitSource } from './git.ts'
import type { SourceWatcher } from './watch.ts'

/** What is told of a source in git. */
export interface GitWatcher extends SourceWatcher {
  /** Whether what was told last failed for a reason that may pass: it is tried again by who was told. */
  unfinished(): boolean
}

/** A git source whose server is polled. */
export interface GitPolling {
  /** Polls now, and once more after a poll in progress. */
  now(): void
  /** Lets a poll in progress end, and polls no more. */
  close(): Promise<void>
}

/** Polls every so many milliseconds, and tells when the commit is another than the last one attempted. */
export function pollGitSource(source: GitSource, every: number, told: GitWatcher): GitPolling {
  const poll = async () => {
    if (told.unfinished()) return { requeueAfter: every }
    try {
      if ((await source.fetch()) !== source.attempted) await told.changed()
    } catch (error) {
      told.failed(error)
    }
    return { requeueAfter: every }
  }
  const queue = new WorkQueue<GitSource>(poll, { backOff: () => every })
  queue.addAfter(source, every)
  return { now: () => queue.add(source), close: () => queue.close() }
}
