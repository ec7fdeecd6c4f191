// A git source that is followed: its server is asked for another commit, again and again, and at once when somebody says so.
import { type GitSourceOptions, openGitSource } from '../read/git.ts'
import type { GitAddress } from '../read/git-address.ts'
import { type GitPolling, pollGitSource } from '../read/poll.ts'
import type { SourceState } from '../read/source-state.ts'
import type { Followed } from './followed.ts'
import type { SourceController } from './source-controller.ts'

/** What is settled about a git source that is followed. */
export interface RepositoryOptions extends GitSourceOptions, Pick<Followed, 'dependsOn' | 'suspend' | 'retryInterval'> {
  readonly name: string
  /** Seconds after which its server is asked again. */
  readonly interval: number
  /** What is settled for what was read. Throws what refuses it. */
  settled(state: SourceState): SourceState | Promise<SourceState>
}

/** A git source that is followed. */
export interface Repository extends Followed {
  /** From now on, notifies the controller of other commits. */
  poll(controller: SourceController): void
  readonly watching: boolean
  /** Asks its server now; what failed is tried again. */
  now(): void
  unwatch(): Promise<void>
  /** Removes what was fetched. */
  close(): Promise<void>
}

/** Opens it: nobody is asked yet. Throws SourceError where there is no git. */
export async function openRepository(address: GitAddress, options: RepositoryOptions): Promise<Repository> {
  const { name, dependsOn, suspend, retryInterval, interval, settled } = options
  const source = await openGitSource(address, options)
  let polling: GitPolling | undefined
  let tryAgain: (() => boolean) | undefined
  const repository: Repository = {
    ...{ name, dependsOn, suspend, retryInterval },
    called: source.called,
    get attempted() {
      return source.attempted
    },
    read: async () => settled(await source.read()),
    poll(controller) {
      const unfinished = () => controller.isRetrying(repository)
      const changed = () => controller.changed(repository)
      const failed = (error: unknown) => controller.failed(repository, error)
      polling = pollGitSource(source, interval * 1000, { changed, failed, unfinished })
      tryAgain = () => {
        if (!unfinished()) return false
        void changed()
        return true
      }
    },
    get watching() {
      return polling !== undefined
    },
    now() {
      if (!tryAgain?.()) polling?.now()
    },
    async unwatch() {
      await polling?.close()
      polling = undefined
      tryAgain = undefined
    },
    close: () => source.close(),
  }
  return repository
}
