// Work that is done again and again, and at once when somebody asks for it.
import { setTimeout as after } from 'node:timers/promises'

/** Work that is done again and again. */
export interface Again {
  /** Does it now, and once more after that if it is being done. */
  now(): void
  /** Lets what is being done end, and does it no more. */
  close(): Promise<void>
}

/** Does the work after so many milliseconds, and then after as many as it says each time. It must not throw. */
export function again(first: number, work: () => Promise<number>): Again {
  let woken = new AbortController()
  let closed = false
  const running = (async () => {
    for (let wait = first; ; ) {
      await after(wait, undefined, { signal: woken.signal }).catch(() => undefined)
      if (closed) return
      // From here on, who wakes it asks for another time.
      woken = new AbortController()
      wait = await work()
    }
  })()
  return {
    now: () => woken.abort(),
    async close() {
      closed = true
      woken.abort()
      await running
    },
  }
}
