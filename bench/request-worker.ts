// Sends requests over persistent connections in a thread of its own, so that clients do not take time from the server's thread.
import { Agent, get } from 'node:http'
import { parentPort } from 'node:worker_threads'

/** Requests that the worker sends. It replies with the time of each in milliseconds, or with the text of an error. */
export interface RequestBatch {
  readonly port: number
  /** The Authorization header. */
  readonly authorization: string
  readonly paths: readonly string[]
  /** Number of concurrent requests. */
  readonly connections: number
}

const agent = new Agent({ keepAlive: true })

parentPort!.on('message', async ({ paths, connections, ...target }: RequestBatch) => {
  const remainingPaths = paths.values()
  const times: number[] = []
  const sendRemaining = async () => {
    for (const path of remainingPaths) {
      const start = performance.now()
      await read(target, path)
      times.push(performance.now() - start)
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, sendRemaining))
    parentPort!.postMessage(times)
  } catch (error) {
    parentPort!.postMessage(String(error))
  }
})

function read({ port, authorization }: Omit<RequestBatch, 'paths' | 'connections'>, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent, headers: { authorization } }, (response) => {
      response
        .resume()
        .once('end', () => (response.statusCode === 200 ? resolve() : reject(`${path}: status ${response.statusCode}`)))
    }).once('error', reject)
  })
}
