// Sources that failed for a reason that may pass: each is tried again by itself, less and less often.
import { backOff } from '../../lib/back-off.ts'
import type { Followed } from './followed.ts'

/** Milliseconds after which a source is tried again at the latest, where nothing else is settled for it. */
const LONGEST = 15 * 60 * 1000

/** What will be tried again. */
export interface Retries {
  /** It failed: gives after how many milliseconds it is tried again, and whether the reason is another than the last one. */
  add(source: Followed, reason: string): { readonly wait: number; readonly isNew: boolean }
  has(source: Followed): boolean
  /** It need not be tried again; gives whether it was to be. */
  delete(source: Followed): boolean
  /** Tries nothing again. */
  close(): void
}

/** Tries again what failed. */
export function retries(tryAgain: (source: Followed) => void): Retries {
  const waiting = new Map<
    Followed,
    { readonly reason: string; readonly failures: number; readonly timer: NodeJS.Timeout }
  >()
  return {
    add(source, reason) {
      const last = waiting.get(source)
      clearTimeout(last?.timer)
      const failures = (last?.failures ?? 0) + 1
      const wait = backOff(failures, source.retryInterval * 1000, LONGEST)
      waiting.set(source, { reason, failures, timer: setTimeout(() => tryAgain(source), wait) })
      return { wait, isNew: last?.reason !== reason }
    },
    has: (source) => waiting.has(source),
    delete(source) {
      clearTimeout(waiting.get(source)?.timer)
      return waiting.delete(source)
    },
    close() {
      for (const { timer } of waiting.values()) clearTimeout(timer)
    },
  }
}
