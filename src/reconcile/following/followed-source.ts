// A followed source: one that the server reads and applies whenever it changes. And the events and statuses that it reports.
import type { SourceStatus } from '../../service/sources/source-status.ts'
import type { SourceContent } from '../read/source-content.ts'
import type { RunOutcome } from '../run/run.ts'
import type { CommitStatusTarget } from './commit-status-hosts.ts'
import type { DriftCorrectorReporter } from './drift-corrector.ts'

/** A source that is read and applied whenever it changes. */
export interface FollowedSource {
  readonly name: string
  /** Its name in messages: a path or URL. */
  readonly displayName: string
  /** The commit that was read last, whether it was valid or not; undefined for files. */
  readonly attemptedRevision: string | undefined
  /** Names of sources that must have been applied before this one. */
  readonly dependsOn?: readonly string[] | undefined
  /** Whether its settings suspend it. */
  readonly suspend?: boolean | undefined
  /** Seconds until the first retry. */
  readonly retryInterval: number
  /** The host that shows the result of each commit. */
  readonly commitStatus?: CommitStatusTarget | undefined
  /** Reads its current content. Throws SourceError or DocumentError. */
  read(): Promise<SourceContent>
}

/** An event of a followed source. Each is reported once. */
export type SourceEvent =
  | { readonly type: 'applied'; readonly outcome: RunOutcome }
  /** `refused`: only a new revision helps. `failed`: it is retried. `dependencyNotReady`: it depends on a source that was never applied. */
  | {
      readonly type: 'refused' | 'failed' | 'dependencyNotReady'
      readonly source: FollowedSource
      readonly reason: string
    }
  | { readonly type: 'recovered'; readonly source: FollowedSource }
  /** `renamedTo`: it is suspended since it was renamed to this name. */
  | { readonly type: 'suspended'; readonly source: FollowedSource; readonly renamedTo: string | undefined }

/** The status of a source after an attempt, whether it has changed or not. */
export interface ReportedSourceStatus {
  readonly status: SourceStatus
  /** Whether the source is suspended, so that it is not read. */
  readonly isSuspended: boolean
  /** Outcome of the run, if there was one. */
  readonly outcome?: RunOutcome
}

/** Reports events and statuses of sources, on a terminal or in Kubernetes. */
export interface SourceReporter extends DriftCorrectorReporter {
  /** Returns the message of an error. */
  renderError(error: unknown): string
  reportEvent?(event: SourceEvent): void
  reportStatus?(source: FollowedSource, status: ReportedSourceStatus): void
}
