// The API server of Kubernetes: requests, and watches as streams of events.
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { createInterface } from 'node:readline'
import { setTimeout as after } from 'node:timers/promises'
import { KubeConfig } from '@kubernetes/client-node'

/** An API server, asked as whoever the configuration names. */
export interface Cluster {
  /** Its address, for messages. */
  readonly server: string
  /** Asks for JSON. Throws ClusterError where the answer is a refusal. `type`: of the body. */
  ask<T>(method: string, path: string, body?: unknown, type?: string): Promise<T>
  /** Gives each line of an answer until the server ends it, the last one perhaps in part. Throws ClusterError, or what the connection broke by. */
  lines(path: string, line: (value: string) => void, signal: AbortSignal): Promise<void>
}

/** What the API server refused. */
export class ClusterError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Milliseconds in which an answer, or the next event, must come: an API server sends bookmarks every minute. */
const SILENCE = 90_000
/** So many times an API server that is asked too much is asked, and each wait that it asks for is at most so many seconds. */
const [PATIENCE, LONGEST] = [4, 10]

/** The cluster that the file names; without one, that of `KUBECONFIG`, or the one that this runs in. Throws where there is none. */
export function openCluster(file?: string): Cluster {
  const config = new KubeConfig()
  if (file === undefined) config.loadFromDefault()
  else config.loadFromFile(file)
  const cluster = config.getCurrentCluster()
  if (!cluster)
    throw new Error('there is no cluster: name a configuration in KUBECONFIG, or run the server in a cluster')
  const { server, proxyUrl } = cluster
  const requests = new Agent({ keepAlive: true, maxSockets: 64 })
  // A watch has its connection for good: what is asked for must never wait for one of those to end.
  const watches = new Agent({ keepAlive: true })

  const send = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    agent: Agent,
    signal?: AbortSignal,
  ) => {
    const options: RequestOptions = { method, headers, ...(signal && { signal }), timeout: SILENCE }
    await config.applyToHTTPSOptions(options)
    // The one that is made there keeps no connection.
    if (!proxyUrl) options.agent = server.startsWith('https:') ? agent : undefined
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const sent = (server.startsWith('https:') ? request : plainRequest)(server + path, options, resolve)
    sent.on('error', reject).on('timeout', () => sent.destroy(new Error(`${server} gives no answer`)))
    return { sent, promise }
  }
  const textOf = async (answer: IncomingMessage) => Buffer.concat(await answer.toArray()).toString()
  /** What the API server grants. One that has no time now says when it will have. */
  const granted = async (
    method: string,
    path: string,
    { body, type, agent, signal }: { body?: unknown; type?: string; agent: Agent; signal?: AbortSignal },
  ): Promise<IncomingMessage> => {
    const headers = { accept: 'application/json', ...(type && { 'content-type': type }) }
    for (let times = 1; ; times++) {
      const { sent, promise } = await send(method, path, headers, agent, signal)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
      const answer = await promise
      if (answer.statusCode! < 400) return answer
      const text = await textOf(answer)
      const seconds = Number(answer.headers['retry-after'])
      if (Number.isNaN(seconds) || times === PATIENCE) throw refusal(answer, text)
      await after(Math.min(seconds, LONGEST) * 1000 * (1 + Math.random() / 5), undefined, { signal })
    }
  }

  return {
    server,
    async ask<T>(method: string, path: string, body?: unknown, type = 'application/json') {
      return JSON.parse(await textOf(await granted(method, path, { body, type, agent: requests }))) as T
    },
    async lines(path, line, signal) {
      const answer = await granted('GET', path, { agent: watches, signal })
      try {
        for await (const one of createInterface({ input: answer })) line(one)
      } finally {
        answer.destroy()
      }
    },
  }
}

function refusal({ statusCode }: IncomingMessage, text: string): ClusterError {
  try {
    return new ClusterError(statusCode!, (JSON.parse(text) as { message: string }).message)
  } catch {
    return new ClusterError(statusCode!, `the API server answers ${statusCode}`)
  }
}
