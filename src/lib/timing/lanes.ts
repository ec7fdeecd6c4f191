// Work that several lanes do at a time, until none is left to do.
import { runWithoutScope } from '../request-scope.ts'

/** The functions of the lanes. */
export interface LaneWork {
  /** The most lanes at a time. */
  readonly most: number
  /** Does one piece of work; false if there is none. May wake another lane meanwhile. */
  readonly next: () => Promise<boolean>
  /** Reports what `next` throws, which ends its lane. */
  readonly failed: (error: unknown) => void
}

/** Lanes that do one piece of work after the other. */
export class Lanes {
  readonly #work: LaneWork
  readonly #running = new Set<Promise<void>>()
  #hasMissedWakeUp = false
  #isClosed = false

  constructor(work: LaneWork) {
    this.#work = work
  }

  /** Starts a lane, unless the most of them run: then a lane looks for more work when another one has ended. */
  wake(): void {
    if (this.#isClosed) return
    this.#hasMissedWakeUp = this.#running.size === this.#work.most
    if (this.#hasMissedWakeUp) return
    const lane = runWithoutScope(() => this.#run())
      .catch(this.#work.failed)
      .finally(() => {
        this.#running.delete(lane)
        if (this.#hasMissedWakeUp) this.wake()
      })
    this.#running.add(lane)
  }

  /** Resolves when no lane runs. */
  async whenIdle(): Promise<void> {
    while (this.#running.size) await Promise.all(this.#running)
  }

  /** Begins nothing more, and resolves when the work in progress has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.whenIdle()
  }

  async #run(): Promise<void> {
    while (!this.#isClosed && (await this.#work.next()));
  }
}
