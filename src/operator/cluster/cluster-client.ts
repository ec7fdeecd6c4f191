// The API server of Kubernetes: requests, and watches as streams of events.
import type { RequestOptions } from 'node:https'
import { createInterface } from 'node:readline'
import { KubeConfig } from '@kubernetes/client-node'
import {
  createConnectionPool,
  getFailureReason,
  type HttpMethod,
  type HttpStream,
  type HttpStreamRequest,
  openStream,
  readBody,
} from '../lib/http/http-request.ts'
import { UNRESTRICTED } from '../lib/http/outbound.ts'
import { retry } from '../lib/timing/retry.ts'

/** An API server, asked as whoever the configuration names. */
export interface Cluster {
  /** Its address, for messages. */
  readonly server: string
  /** Asks for JSON. Throws ClusterError where the answer is a refusal. `type`: of the body. */
  ask<T>(method: HttpMethod, path: string, body?: unknown, type?: string): Promise<T>
  /** Gives each line of an answer until the server ends it, the last one perhaps in part. Throws ClusterError, or what the connection broke by. */
  lines(path: string, line: (value: string) => void, signal: AbortSignal): Promise<void>
}

/** What the API server refused. */
export class ClusterError extends Error {
  readonly status: number
  /** Seconds after which it may be asked again, where it says so. */
  readonly retryAfter: number | undefined
  constructor(status: number, message: string, retryAfter?: number) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** Milliseconds in which an answer, or the next event, must come: an API server sends bookmarks every minute. */
const SILENCE = 90_000
/** Bytes that an answer which is no watch may have. */
const LONGEST_ANSWER = 512 * 1024 * 1024
/** So many times an API server that is asked too much is asked, and each wait that it asks for is at most so many seconds. */
const [PATIENCE, LONGEST] = [4, 10]

type ClusterRequest = Omit<HttpStreamRequest, 'idleTimeout' | 'credentials'>

/** The cluster that the file names; without one, that of `KUBECONFIG`, or the one that this runs in. Throws where there is none. */
export function openCluster(file?: string): Cluster {
  const config = new KubeConfig()
  if (file === undefined) config.loadFromDefault()
  else config.loadFromFile(file)
  const cluster = config.getCurrentCluster()
  if (!cluster)
    throw new Error('there is no cluster: name a configuration in KUBECONFIG, or run the server in a cluster')
  const { server, proxyUrl } = cluster
  const requests = createConnectionPool(server, 64)
  // A watch has its connection for good: what is asked for must never wait for one of those to end.
  const watches = createConnectionPool(server)

  /** The server is one that the server's own settings, or the cluster that this runs in, name. */
  const send = async (path: string, { connections, headers, ...request }: ClusterRequest): Promise<HttpStream> => {
    const credentials: RequestOptions = { headers: {}, timeout: SILENCE }
    await config.applyToHTTPSOptions(credentials)
    // The agent that is made there keeps no connection; it is needed for a proxy only.
    const options = { ...request, headers, credentials, connections: proxyUrl ? undefined : connections }
    return openStream(UNRESTRICTED, server + path, { ...options, idleTimeout: SILENCE }).catch((error: Error) => {
      throw new Error(`${server} gives no answer (${getFailureReason(error)})`, { cause: error })
    })
  }
  const granted = async (path: string, request: ClusterRequest): Promise<HttpStream> => {
    const answer = await send(path, request)
    if (answer.status < 400) return answer
    throw refusal(answer, await readBody(answer.body, LONGEST_ANSWER))
  }
  /** Asks until it is granted, or refused for good: an API server that has no time now says when it will have. */
  const ask = (path: string, request: ClusterRequest): Promise<HttpStream> =>
    retry(() => granted(path, request), { delayAfter, signal: request.signal })

  return {
    server,
    async ask<T>(method: HttpMethod, path: string, content?: unknown, type = 'application/json') {
      const headers = { accept: 'application/json', 'content-type': type }
      const body = content === undefined ? undefined : JSON.stringify(content)
      const answer = await ask(path, { method, headers, body, connections: requests })
      return JSON.parse(await readBody(answer.body, LONGEST_ANSWER)) as T
    },
    async lines(path, line, signal) {
      const headers = { accept: 'application/json' }
      const { body } = await ask(path, { headers, connections: watches, signal })
      try {
        for await (const one of createInterface({ input: body })) line(one)
      } finally {
        body.destroy()
      }
    },
  }
}

/** Returns the milliseconds after which a refused request is sent again; undefined where it is refused for good. */
function delayAfter(error: unknown, failures: number): number | undefined {
  if (!(error instanceof ClusterError) || error.retryAfter === undefined || failures === PATIENCE) return undefined
  return Math.min(error.retryAfter, LONGEST) * 1000 * (1 + Math.random() / 5)
}

function refusal({ status, headers }: HttpStream, text: string): ClusterError {
  const seconds = Number(headers['retry-after'])
  const retryAfter = Number.isNaN(seconds) ? undefined : seconds
  try {
    return new ClusterError(status, (JSON.parse(text) as { message: string }).message, retryAfter)
  } catch {
    return new ClusterError(status, `the API server answers ${status}`, retryAfter)
  }
}
