// The progress of long work. A listener follows asynchronous calls, so that the work needs no parameter for it. Without a listener,
// a report costs nothing.
import { AsyncLocalStorage } from 'node:async_hooks'

/** The steps of long work that report progress. */
export const PROGRESS_PHASES = [
  'compare',
  'hash',
  'rename',
  'create',
  'update',
  'delete',
  'record',
  'commit',
  'applied',
  'migrate',
  'backup',
  'verify',
  'restore',
  'fetch',
  'write',
] as const

/** A report about long work. */
export interface Progress {
  readonly phase: (typeof PROGRESS_PHASES)[number]
  /** The realm, where the work is that of one realm. */
  readonly realm?: string
  /** The kind of the objects that are created, updated or deleted. */
  readonly kind?: string
  /** Whether the changes are rolled back, since they only show the consequences of a plan. */
  readonly dryRun?: true
  /** The number of items so far: passwords, objects or rows. */
  readonly done?: number
  /** The number of all items, where it is known. */
  readonly total?: number
}

/** Receives the progress of work. */
export type ProgressListener = (progress: Progress) => void

/** A listener until the end of the work. What the work has started may continue, and reports nothing then. */
interface ListenerScope {
  listener: ProgressListener | undefined
}

const scopes = new AsyncLocalStorage<ListenerScope>()

/** Runs work, and reports its progress to the listener. An error that the listener throws ends the work. */
export async function listenToProgress<T>(listener: ProgressListener, work: () => Promise<T>): Promise<T> {
  const scope: ListenerScope = { listener }
  try {
    return await scopes.run(scope, work)
  } finally {
    scope.listener = undefined
  }
}

/** Whether progress has a listener. */
export const hasProgressListener = (): boolean => scopes.getStore()?.listener !== undefined

/**
 * Reports progress to the listener of the caller, if there is one, and lets other work of the process run: the listener can send the report,
 * and a cancellation can arrive. The embedded database would not let them run until the end of a transaction.
 */
export async function reportProgress(progress: Progress): Promise<void> {
  const listener = scopes.getStore()?.listener
  if (!listener) return
  listener(progress)
  await new Promise((resolve) => setImmediate(resolve))
}
