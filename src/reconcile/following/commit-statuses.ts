// Reports the result of each commit of a source to the host of its repository. Requests are queued, so that a host that does not respond
// delays no reconciliation. Statuses are only in memory, since the first attempt after a restart reports the current one.
import { getErrorMessage } from '../../lib/error-message.ts'
import { getBackOff } from '../../lib/timing/back-off.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { renderSummary } from '../report/outcome-text.ts'
import { type CommitStatus, setCommitStatus } from './commit-status-hosts.ts'
import type { FollowedSource, ReportedSourceStatus } from './followed-source.ts'

/** Milliseconds until the first retry, and at most. */
const [MIN_DELAY, MAX_DELAY] = [5_000, 15 * 60_000]
/** Statuses that are sent at a time. */
const MAX_SENDING = 4

/** The revision of a git source, or of an artifact that was created from a commit: `main@sha1:<commit>`. */
const REVISION = /^(?:.*@)?(?:sha1:|sha256:)?([\da-f]{40}|[\da-f]{64})$/

/** Receives failures, for the log. */
interface CommitStatusReporter {
  readonly warn: (line: string) => void
}

/** The status of the last commit of a source. */
interface ReportedCommit {
  status: CommitStatus
  isSent: boolean
  /** The last failure that was logged. */
  failure?: string
}

/** The statuses of the last commits of sources. */
export class CommitStatuses {
  readonly #reporter: CommitStatusReporter
  readonly #commits = new Map<FollowedSource, ReportedCommit>()
  readonly #queue = new WorkQueue<FollowedSource>((source) => this.#send(source), {
    concurrency: MAX_SENDING,
    backOff: (failures) => getBackOff(failures, MIN_DELAY, MAX_DELAY),
    failed: (error, source) => this.#reportFailure(error, source),
  })

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

  /** Forgets a source, and sends nothing more of it. */
  remove(source: FollowedSource): void {
    this.#commits.delete(source)
    this.#queue.forget(source)
  }

  /** Starts no further request, and resolves when those in progress have ended. */
  close(): Promise<void> {
    return this.#queue.close()
  }

  #set(source: FollowedSource, status: CommitStatus): void {
    if (!source.commitStatus) return
    this.#commits.set(source, { ...this.#commits.get(source), status, isSent: false })
    this.#queue.add(source)
  }

  async #send(source: FollowedSource): Promise<void> {
    const commit = this.#commits.get(source)
    if (!commit || commit.isSent || !source.commitStatus) return
    await setCommitStatus(source.commitStatus, commit.status)
    commit.isSent = true
    delete commit.failure
  }

  #reportFailure(error: unknown, source: FollowedSource): void {
    const commit = this.#commits.get(source)
    const message = getErrorMessage(error)
    if (!commit || commit.failure === message) return
    commit.failure = message
    this.#reporter.warn(
      `${source.displayName}: the status of commit ${commit.status.sha} is not reported to its host, and is retried: ${message}`,
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
