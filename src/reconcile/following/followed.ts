// A source that is followed, and what people hear of it.
import type { SourceStatus } from '../../service/sources/source-states.ts'
import type { SourceState } from '../read/source-state.ts'
import type { Outcome } from '../run/run.ts'
import type { HealerReports } from './healer.ts'

/** A source that is followed. */
export interface Followed {
  readonly name: string
  /** What people call it. */
  readonly called: string
  /** The commit that was read last, good or not. */
  readonly attempted: string | undefined
  /** It is applied once each of these has been applied. */
  readonly dependsOn?: readonly string[] | undefined
  /** Its settings say that it is not to be read. */
  readonly suspend?: boolean | undefined
  /** Seconds after which it is tried again for the first time. */
  readonly retryInterval: number
  /** What it states now. */
  read(): Promise<SourceState>
}

/** What has happened. Nothing is told twice. */
export type Happened =
  | { readonly what: 'applied'; readonly outcome: Outcome }
  /** `failed`: it is tried again by itself. */
  | { readonly what: 'refused' | 'failed' | 'waits'; readonly source: Followed; readonly reason: string }
  | { readonly what: 'recovered'; readonly source: Followed }
  /** `renamedTo`: it rests since it is called so. */
  | { readonly what: 'rests'; readonly source: Followed; readonly renamedTo: string | undefined }

/** How a source stands after it was looked at, whether that is new or not. */
export interface Stands {
  readonly status: SourceStatus
  /** It is not read. */
  readonly rests: boolean
  /** Of the run, if there was one. */
  readonly outcome?: Outcome
}

/** Who hears what becomes of sources. */
export interface Audience extends HealerReports {
  /** An error in words. */
  words(error: unknown): string
  happened?(event: Happened): void
  stands?(source: Followed, how: Stands): void
}
