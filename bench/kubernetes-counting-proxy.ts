// A proxy in front of the Kubernetes API server that counts requests by verb, but those for the Lease of the operator.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent, type RequestOptions, request as sendRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'

/** A running proxy. */
export interface KubernetesCountingProxy {
  /** The text of a kubeconfig for this proxy. It authenticates with the credentials of the current KUBECONFIG. */
  readonly config: string
  /** Returns the number of requests by verb since the last call, and resets the counters. */
  takeCounts(): Readonly<Record<string, number>>
  close(): Promise<void>
}

/** Starts a proxy on loopback. */
export async function startKubernetesCountingProxy(): Promise<KubernetesCountingProxy> {
  const config = new KubeConfig()
  config.loadFromDefault()
  const target = config.getCurrentCluster()!.server
  const agent = new Agent({ keepAlive: true })
  let counts: Record<string, number> = {}

  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request
    const verb = method !== 'GET' ? method.toLowerCase() : /[?&]watch=true/.test(url) ? 'watch' : 'list'
    // The Lease is renewed all the time.
    if (!url.includes('/leases')) counts[verb] = (counts[verb] ?? 0) + 1
    const { host: _, ...headers } = request.headers
    const options: RequestOptions = { method, headers }
    await config.applyToHTTPSOptions(options)
    const forwarded = sendRequest(target + url, { ...options, agent }, (upstream) => {
      response.writeHead(upstream.statusCode!, upstream.headers)
      // The response to a watch begins with headers only, which the client waits for.
      response.flushHeaders()
      upstream.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    request.pipe(forwarded)
  }
  const server = createServer((request, response) => void forward(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const context = { name: 'proxy', user: 'bench', cluster: 'proxy' }
  const { port } = server.address() as AddressInfo
  const cluster = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
  return {
    config: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': context.name,
      contexts: [{ name: context.name, context }],
      clusters: [{ name: context.cluster, cluster }],
      users: [{ name: context.user, user: {} }],
    }),
    takeCounts() {
      const current = counts
      counts = {}
      return current
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      agent.destroy()
    },
  }
}
