// A git source that is followed: its repository is polled for new commits, and at once after a webhook.
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { GitAddress } from '../read/git-address.ts'
import { type GitSourceOptions, openGitSource } from '../read/git-source.ts'
import type { SourceContent } from '../read/source-content.ts'
import { type GivenIdentity, requireSameName } from '../read/source-identity.ts'
import type { FollowedSource } from './followed-source.ts'
import type { SourceController } from './source-controller.ts'

/** Milliseconds until a poll is repeated that could not report its failure. */
const RETRY_DELAY = 60_000

/** Options of a git source that is followed. */
export interface RepositoryOptions
  extends Omit<GitSourceOptions, 'name' | 'environment'>,
    Pick<FollowedSource, 'name' | 'dependsOn' | 'suspend' | 'retryInterval'> {
  /** The given identity of the source, which decides which of its files are read. */
  readonly identity: GivenIdentity
  /** Seconds between two polls; 0: it is not polled by itself. */
  readonly interval: number
  /** Adds the settings of the source to its content. Throws where they do not allow it. */
  configure(content: SourceContent): SourceContent | Promise<SourceContent>
}

/** A git source that is followed. */
export interface FollowedRepository extends FollowedSource {
  /** Starts to poll; the controller reconciles the source whenever there is a new commit. */
  startPolling(controller: SourceController): void
  readonly isWatched: boolean
  /** Polls now, or retries at once what failed. */
  pollNow(): void
  unwatch(): Promise<void>
  /** Removes the clone. */
  close(): Promise<void>
}

/** Opens a git source without connecting to its server. Throws SourceError where git is not installed. */
export async function openRepository(address: GitAddress, options: RepositoryOptions): Promise<FollowedRepository> {
  const { name, identity, dependsOn, suspend, retryInterval, interval, configure } = options
  const source = await openGitSource(address, { ...options, ...identity, name: identity.name })
  const requeue = { requeueAfter: interval ? interval * 1000 : undefined }
  let controller: SourceController | undefined
  let queue: WorkQueue<'poll'> | undefined

  const poll = async () => {
    // The controller retries a failed source itself.
    if (!controller || controller.isRetrying(repository)) return requeue
    try {
      if ((await source.fetchCommit()) !== source.attemptedRevision) await controller.reconcile(repository)
    } catch (error) {
      controller.recordFailure(repository, error)
    }
    return requeue
  }
  const repository: FollowedRepository = {
    ...{ name, dependsOn, suspend, retryInterval },
    displayName: source.address,
    get attemptedRevision() {
      return source.attemptedRevision
    },
    async read() {
      const content = await source.read()
      requireSameName(name, content.name)
      return configure(content)
    },
    startPolling(pollingController) {
      controller = pollingController
      queue = new WorkQueue(poll, { backOff: () => RETRY_DELAY })
      if (requeue.requeueAfter) queue.addAfter('poll', requeue.requeueAfter)
    },
    get isWatched() {
      return queue !== undefined
    },
    pollNow() {
      if (controller?.isRetrying(repository)) void controller.reconcile(repository)
      else queue?.add('poll')
    },
    async unwatch() {
      await queue?.close()
      queue = undefined
      controller = undefined
    },
    close: () => source.close(),
  }
  return repository
}
