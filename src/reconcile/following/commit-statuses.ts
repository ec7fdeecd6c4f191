// Reports the result of each commit of a source to the host of its repository. Requests are queued, so that a host that does not respond
// delays no reconciliation. Statuses are only in memory, since the first attempt after a restart reports the current one.
import { getErrorMessage } from '../../lib/error-message.ts'
import { getBackOff } from '../../lib/timing/back-off.ts'
import { raceAbort } from '../../lib/timing/race-abort.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { renderSummary } from '../report/outcome-text.ts'
import { type CommitStatus, setCommitStatus } from './commit-status-hosts.ts'
import type { FollowedSource, ReportedSourceStatus } from './followed-source.ts'

/** Milliseconds until the first retry, and at most. */
const [MIN_DELAY, MAX_DELAY] = [5_000, 15 * 60_000]
/** Milliseconds for requests in progress to end. */
const CLOSING_TIME = 2_000
/** Retries for a commit that is not the last one of its source. */
const MAX_RETRIES = 8
/** Statuses that are sent at a time. */
const MAX_SENDING = 4

/** The revision of a git source, or of an artifact that was created from a commit: `main@sha1:<commit>`. */
const REVISION = /^(?:.*@)?(?:sha1:|sha256:)?([\da-f]{40}|[\da-f]{64})$/

/** Receives failures, for the log. */
interface CommitStatusReporter {
  readonly warn: (line: string) => void
}

/** A commit of a source. */
interface ReportedCommit {
  readonly source: FollowedSource
  status: CommitStatus
  isSent: boolean
  /** The last failure that was logged. */
  failure?: string
}

/** The statuses of commits of sources. */
export class CommitStatuses {
  readonly #reporter: CommitStatusReporter
  /** The last commit of each source. Earlier ones are in the queue until their status is sent. */
  readonly #commits = new Map<FollowedSource, ReportedCommit>()
  readonly #queue = new WorkQueue<ReportedCommit>((commit) => this.#send(commit), {
    concurrency: MAX_SENDING,
    backOff: (failures) => getBackOff(failures, MIN_DELAY, MAX_DELAY),
    failed: (error, commit) => this.#reportFailure(error, commit),
  })

  /** Aborts requests. */
  readonly #ending = new AbortController()

  constructor(reporter: CommitStatusReporter) {
    this.#reporter = reporter
  }

  /** Reports that a revision was read and is applied now, unless it was applied before. */
  reportAttempt(source: FollowedSource, revision: string): void {
    const sha = findCommit(revision)
    if (sha !== undefined && this.#commits.get(source)?.status.sha !== sha)
      this.#set(source, { sha, state: 'pending', description: 'The commit is being planned and applied.' })
  }

  /** Reports the status of a source after an attempt. */
  report(source: FollowedSource, reported: ReportedSourceStatus): void {
    const status = toCommitStatus(reported)
    const before = this.#commits.get(source)?.status
    // An unchanged revision that is applied again has no changes to describe.
    const isSame =
      before?.sha === status?.sha &&
      before?.state === status?.state &&
      (status?.state === 'success' || before?.description === status?.description)
    if (status && !isSame) this.#set(source, status)
  }

  /** Forgets a source. The status of its last commit is still sent. */
  remove(source: FollowedSource): void {
    this.#commits.delete(source)
  }

  /** Starts no further request, and resolves when those in progress have ended. A host that does not respond soon is not waited for. */
  async close(): Promise<void> {
    const closed = this.#queue.close()
    await raceAbort(closed, AbortSignal.timeout(CLOSING_TIME)).catch(() => this.#ending.abort())
    await closed
  }

  #set(source: FollowedSource, status: CommitStatus): void {
    if (!source.commitStatus) return
    const last = this.#commits.get(source)
    const commit = last?.status.sha === status.sha ? last : { source, status, isSent: false }
    Object.assign(commit, { status, isSent: false })
    this.#commits.set(source, commit)
    this.#queue.add(commit)
  }

  async #send(commit: ReportedCommit): Promise<void> {
    const { source, status } = commit
    if (commit.isSent || !source.commitStatus) return
    try {
      await setCommitStatus(source.commitStatus, status, this.#ending.signal)
      commit.isSent = commit.status === status
      delete commit.failure
    } catch (error) {
      const isLast = this.#commits.get(source) === commit
      if (isLast || this.#queue.failures(commit) < MAX_RETRIES) throw error
    }
  }

  #reportFailure(error: unknown, commit: ReportedCommit): void {
    const message = getErrorMessage(error)
    if (this.#ending.signal.aborted || commit.failure === message) return
    commit.failure = message
    const { source, status } = commit
    this.#reporter.warn(
      `${source.displayName}: the status of commit ${status.sha} is not reported to its host, and is retried: ${message}`,
    )
  }
}

/** Returns the status of the attempted commit; undefined if the attempt says nothing about it. */
function toCommitStatus({ status, isSuspended, outcome }: ReportedSourceStatus): CommitStatus | undefined {
  const { ready, attempted, applied, problems } = status
  const sha = attempted?.revision === undefined ? undefined : findCommit(attempted.revision)
  if (isSuspended || sha === undefined || !ready) return undefined
  const [problem] = problems ?? []
  const message = problem
    ? `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`
    : (ready.message.split('\n').find((line) => line.trim() !== '') ?? ready.reason)
  switch (ready.reason) {
    case 'Applied':
      return { sha, state: 'success', description: describeChanges(outcome) }
    case 'PendingApproval':
      return { sha, state: 'pending', description: describePendingApproval(outcome) ?? message }
    case 'DependencyNotReady':
      return { sha, state: 'pending', description: message }
    case 'Retrying':
      // A host that does not respond now does not concern the commit that is live.
      return applied?.revision === attempted?.revision ? undefined : { sha, state: 'error', description: message }
    default:
      return { sha, state: 'failure', description: message }
  }
}

function describeChanges(outcome: ReportedSourceStatus['outcome']): string {
  const hasChanges = outcome?.realms.some(({ plan }) => plan.creates || plan.actions.length > 0)
  return outcome && hasChanges ? renderSummary(outcome, 'applied') : 'The declared state is live.'
}

function describePendingApproval(outcome: ReportedSourceStatus['outcome']): string | undefined {
  const [pending] = (outcome?.realms ?? []).flatMap(({ pendingApproval }) => pendingApproval ?? [])
  return pending && `The plan ${pending.plan} is pending approval, since it ${pending.guards[0]?.message}`
}

const findCommit = (revision: string): string | undefined => REVISION.exec(revision)?.[1]
