// Stands between a server and the API server of Kubernetes, and counts what is asked, by verb.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'

/** The way to the API server that counts. */
export interface CountingProxy {
  /** A configuration for it: it asks as whoever KUBECONFIG names. */
  readonly config: string
  /** What was asked since the last time that somebody asked this, by verb. */
  counted(): Readonly<Record<string, number>>
  close(): Promise<void>
}

/** Listens on loopback. */
export async function countingProxy(): Promise<CountingProxy> {
  const config = new KubeConfig()
  config.loadFromDefault()
  const target = config.getCurrentCluster()!.server
  const agent = new Agent({ keepAlive: true })
  let counts: Record<string, number> = {}

  const pass = async (asked: IncomingMessage, answer: ServerResponse) => {
    const { method = '', url = '' } = asked
    const verb = method !== 'GET' ? method.toLowerCase() : /[?&]watch=true/.test(url) ? 'watch' : 'list'
    counts[verb] = (counts[verb] ?? 0) + 1
    const { host: _, ...headers } = asked.headers
    const options: RequestOptions = { method, headers }
    await config.applyToHTTPSOptions(options)
    const sent = request(target + url, { ...options, agent }, (given) => {
      answer.writeHead(given.statusCode!, given.headers)
      // A watch begins with nothing but its head.
      answer.flushHeaders()
      given.pipe(answer)
    })
    sent.on('error', () => answer.destroy())
    answer.on('close', () => sent.destroy())
    asked.pipe(sent)
  }
  const server = createServer((asked, answer) => void pass(asked, answer))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const context = { name: 'counted', user: 'nobody', cluster: 'counted' }
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
    counted() {
      const before = counts
      counts = {}
      return before
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      agent.destroy()
    },
  }
}
