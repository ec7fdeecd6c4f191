// An HTTP proxy between a tool and a server that counts requests.
import { Agent, createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The requests since the last call of `takeTraffic`. */
export interface HttpTraffic {
  readonly requests: number
  /** Seconds between the start of the first request and the end of the last response. */
  readonly seconds: number
}

/** A running proxy. */
export interface HttpCountingProxy {
  readonly url: string
  /** Returns the requests since the last call, and resets the counters. */
  takeTraffic(): HttpTraffic
  close(): void
}

/** Starts a proxy on loopback that forwards all requests to the server at this address. */
export async function startHttpCountingProxy(server: string): Promise<HttpCountingProxy> {
  const { hostname, port } = new URL(server)
  const agent = new Agent({ keepAlive: true })
  let requests = 0
  let [first, last] = [0, 0]
  const proxy = createServer((request, response) => {
    if (requests++ === 0) first = performance.now()
    const { method, url: path, headers } = request
    // The Host header stays as it is: so addresses in responses lead to this proxy too.
    const forwarded = sendRequest({ hostname, port, agent, method, path, headers })
    forwarded.on('error', (error) => response.destroy(error))
    forwarded.on('response', (upstream) => {
      response.writeHead(upstream.statusCode!, upstream.headers)
      upstream.pipe(response).on('finish', () => {
        last = performance.now()
      })
    })
    request.pipe(forwarded)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    takeTraffic() {
      const traffic = { requests, seconds: requests ? (last - first) / 1_000 : 0 }
      requests = 0
      return traffic
    },
    close() {
      proxy.close()
      proxy.closeAllConnections()
      agent.destroy()
    },
  }
}
