// A source with revisions that is followed: its repository is polled for new commits, and at once after a webhook.
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { SerializedSource, SourceContent } from '../read/source-content.ts'
import { requireSameName } from '../read/source-identity.ts'
import type { FollowedSource } from './followed-source.ts'
import type { SourceController } from './source-controller.ts'

/** Milliseconds until a poll is repeated that could not report its failure. */
const RETRY_DELAY = 60_000

/** A source whose content has revisions. */
export interface RevisionSource {
  /** Its address in messages, without credentials. */
  readonly address: string
  /** The revision that was read last, whether it was valid or not. */
  readonly attemptedRevision: string | undefined
  /** Returns its current revision. Throws RemoteError. */
  fetchRevision(): Promise<string>
  /** Reads its current revision. Throws RemoteError, DocumentError or SourceError. */
  read(): Promise<SourceContent & SerializedSource>
  /** Deletes its temporary files. */
  close(): Promise<void>
}

/** Options of a source with revisions that is followed. */
export interface RepositoryOptions
  extends Pick<FollowedSource, 'name' | 'dependsOn' | 'suspend' | 'retryInterval' | 'commitStatus'> {
  /** Seconds between two polls; 0: it is not polled by itself. */
  readonly interval: number
  /** Adds the settings of the source to its content. Throws where they do not allow it. */
  configure(content: SourceContent): SourceContent | Promise<SourceContent>
}

/** A source with revisions that is followed. */
export interface FollowedRepository extends FollowedSource {
  /** Starts to poll; the controller reconciles the source whenever there is a new commit. */
  startPolling(controller: SourceController): void
  readonly isWatched: boolean
  /** Polls now, or retries at once what failed. */
  pollNow(): void
  unwatch(): Promise<void>
  /** Deletes its temporary files. */
  close(): Promise<void>
}

/** Returns a followed source, which polls once it is started. */
export function followRepository(source: RevisionSource, options: RepositoryOptions): FollowedRepository {
  const { name, dependsOn, suspend, retryInterval, commitStatus, interval, configure } = options
  const requeue = { requeueAfter: interval ? interval * 1000 : undefined }
  let controller: SourceController | undefined
  let queue: WorkQueue<'poll'> | undefined

  const poll = async () => {
    // The controller retries a failed source itself.
    if (!controller || controller.isRetrying(repository)) return requeue
    try {
      if ((await source.fetchRevision()) !== source.attemptedRevision) await controller.reconcile(repository)
    } catch (error) {
      controller.recordFailure(repository, error)
    }
    return requeue
  }
  const repository: FollowedRepository = {
    ...{ name, dependsOn, suspend, retryInterval, commitStatus },
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
