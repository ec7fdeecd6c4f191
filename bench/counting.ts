// Stands between a tool and a server, and counts what the tool asks for.
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What was asked for since the last look. */
export interface Asked {
  readonly requests: number
  /** Between the first request and the end of the last answer. */
  readonly seconds: number
}

export interface Counting {
  readonly url: string
  /** Tells what was asked for since the last look, and begins anew. */
  look(): Asked
  close(): void
}

/** Passes on to the server at that address whatever comes. */
export async function counting(server: string): Promise<Counting> {
  const { hostname, port } = new URL(server)
  const agent = new Agent({ keepAlive: true })
  let requests = 0
  let [first, last] = [0, 0]
  const proxy = createServer((asked, answer) => {
    if (requests++ === 0) first = performance.now()
    // The name by which it was asked stays: the addresses in its answers lead here as well.
    const passed = request({ hostname, port, agent, method: asked.method, path: asked.url, headers: asked.headers })
    passed.on('error', (error) => answer.destroy(error))
    passed.on('response', (given) => {
      answer.writeHead(given.statusCode!, given.headers)
      given.pipe(answer).on('finish', () => {
        last = performance.now()
      })
    })
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    look() {
      const asked = { requests, seconds: requests ? (last - first) / 1_000 : 0 }
      requests = 0
      return asked
    },
    close() {
      proxy.close()
      proxy.closeAllConnections()
      agent.destroy()
    },
  }
}
