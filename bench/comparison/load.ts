// The process that sends requests.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Load, LoadResult } from './load-process.ts'

/** A process that sends requests, one load after the other. */
export interface LoadClient {
  /** Sends the load. Throws the first error. */
  send(load: Load): Promise<LoadResult>
  close(): void
}

/** Starts the process. */
export function startLoadClient(): LoadClient {
  const child = fork(join(import.meta.dirname, 'load-process.ts'))
  return {
    async send(load) {
      child.send(load)
      const [result] = (await once(child, 'message')) as [LoadResult | string]
      if (typeof result === 'string') throw new Error(result)
      return result
    },
    close: () => child.disconnect(),
  }
}
