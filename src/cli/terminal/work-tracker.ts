// Follows the requests of a connection: shows their progress, and knows the state that a cancellation leaves.
import type { HttpStream, ServerEvent } from '../../lib/http/http-request.ts'
import { readEvents } from '../../lib/http/http-request.ts'
import type { Progress } from '../../lib/timing/progress.ts'
import { clearProgress, showProgress, showWork } from './progress.ts'

/** The last event of a stream: the status and the body of a response without a stream. */
interface FinalEvent {
  readonly status: number
  readonly body?: unknown
}

/** The requests of a connection. */
export class WorkTracker {
  readonly #appliedRealms: string[] = []
  #request: 'read' | 'write' | 'work' = 'read'
  #isCommitting = false
  /** The place of the store, if the connection has created it. */
  newStore: string | undefined
  /** Whether a server handles the requests. */
  isRemote = false

  /** Whether the changes of the current request are being committed, so that it is too late to cancel it. */
  get isCommitting(): boolean {
    return this.#isCommitting
  }

  /** Runs a request. */
  async run<T>(method: string, reportsProgress: boolean | undefined, send: () => Promise<T>): Promise<T> {
    this.#request = reportsProgress ? 'work' : method === 'GET' ? 'read' : 'write'
    if (reportsProgress) showProgress({ label: this.isRemote ? 'Waiting for the server' : 'Reading documents' })
    try {
      return await send()
    } finally {
      this.#isCommitting = false
      clearProgress()
    }
  }

  /** Receives the progress of the current request. */
  readonly report = (progress: Progress): void => {
    this.#isCommitting = progress.phase === 'commit'
    if (progress.phase === 'applied' && progress.realm !== undefined) this.#appliedRealms.push(progress.realm)
    showWork(progress)
  }

  /** Describes the state after the current request was cancelled; undefined if it changes nothing. */
  describeEffect(): string | undefined {
    if (this.#appliedRealms.length)
      return `Applied before: ${this.#appliedRealms.join(', ')}. Nothing else was changed.`
    const store = this.newStore === undefined ? '' : ` The new store in ${this.newStore} has no realm but master.`
    if (this.#request === 'read') return store.trim() || undefined
    if (this.#request === 'write' && this.isRemote) return 'The server may have completed the request.'
    return `Nothing was changed.${store}`
  }

  /**
   * Reads a stream of progress to its end, and returns the last event. After the signal is aborted, ends the stream, unless the changes are being
   * committed. @throws Error if the stream ends early
   */
  async readOutcome(response: HttpStream, signal: AbortSignal | undefined): Promise<FinalEvent> {
    const cancel = () => {
      if (!this.isCommitting) response.body.destroy(new Error('cancelled'))
    }
    signal?.addEventListener('abort', cancel)
    try {
      if (signal?.aborted) cancel()
      for await (const event of readEvents(response.body)) {
        if (isFinal(event)) return event.data
        if (isProgress(event)) this.report(event.data)
        if (signal?.aborted) cancel()
      }
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
    throw new Error('The server ended the connection before it returned an outcome.')
  }
}

const isFinal = (event: ServerEvent): event is ServerEvent & { readonly data: FinalEvent } =>
  event.event === 'outcome' || event.event === 'error'

const isProgress = (event: ServerEvent): event is ServerEvent & { readonly data: Progress } =>
  event.event === 'progress'
