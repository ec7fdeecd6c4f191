// Sends requests over connections that stay open, in a thread of its own: a server must not wait for its clients.
import { Agent, get } from 'node:http'
import { parentPort } from 'node:worker_threads'

/** Requests to send, so many at once. The answer is a message: how long each took in milliseconds, or what went wrong. */
export interface Load {
  readonly port: number
  readonly authorization: string
  readonly paths: readonly string[]
  readonly connections: number
}

const agent = new Agent({ keepAlive: true })

parentPort!.on('message', async ({ paths, connections, ...to }: Load) => {
  const rest = paths.values()
  const times: number[] = []
  const one = async () => {
    for (const path of rest) {
      const start = performance.now()
      await read(to, path)
      times.push(performance.now() - start)
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, one))
    parentPort!.postMessage(times)
  } catch (error) {
    parentPort!.postMessage(String(error))
  }
})

function read({ port, authorization }: Omit<Load, 'paths' | 'connections'>, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent, headers: { authorization } }, (answer) => {
      answer
        .resume()
        .once('end', () => (answer.statusCode === 200 ? resolve() : reject(`${path}: ${answer.statusCode}`)))
    }).once('error', reject)
  })
}
