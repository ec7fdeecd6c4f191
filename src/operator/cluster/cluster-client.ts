// A client of the Kubernetes API server: JSON requests, and watches as streams of lines.
import type { RequestOptions } from 'node:https'
import { arch, platform } from 'node:os'
import { createInterface } from 'node:readline'
import { type Cluster, KubeConfig } from '@kubernetes/client-node'
import { isObject, type Json, readText } from '../../kinds/json.ts'
import { getErrorCode } from '../../lib/error-code.ts'
import { getErrorMessage } from '../../lib/error-message.ts'
import {
  createConnectionPool,
  getFailureReason,
  type HttpMethod,
  type HttpStream,
  type HttpStreamRequest,
  openStream,
  readBody,
} from '../../lib/http/http-request.ts'
import { UNRESTRICTED } from '../../lib/http/outbound.ts'
import type { Measurements } from '../../lib/measurements.ts'
import { retry } from '../../lib/timing/retry.ts'
import { version } from '../../lib/version.ts'

/** The body of a request. */
export interface RequestPayload {
  /** Any value that can be serialized as JSON. */
  readonly body: unknown
  /** The content type. Default: `application/json`. */
  readonly type?: string
}

/** A client of an API server, authenticated with the credentials of its kubeconfig. */
export interface ClusterClient {
  /** URL of the API server. */
  readonly server: string
  /** The namespace of the kubeconfig, or of the pod. */
  readonly namespace: string
  /** Sends a request, and returns the JSON of the response. @throws ClusterError if the server refuses the request. */
  request<T>(method: HttpMethod, path: string, content?: RequestPayload): Promise<T>
  /**
   * Calls `onLine` for each line of a response until the server ends it. The last line may be incomplete.
   * @throws ClusterError if the server refuses the request, and the error of a broken connection.
   */
  streamLines(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void>
}

/** A request that the API server refused. */
export class ClusterError extends Error {
  /** HTTP status of the response. */
  readonly status: number
  /** Seconds until the request may be repeated, if the server returned them. */
  readonly retryAfter: number | undefined
  constructor(status: number, message: string, retryAfter?: number) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** The API server cannot be reached, or has broken the connection. */
export class ClusterUnreachable extends Error {
  readonly server: string
  constructor(server: string, cause: Error) {
    super(`The API server ${server} does not respond: ${getFailureReason(cause)}`, { cause })
    this.server = server
  }
}

/** Logs outages of an API server: their beginning and their end, whatever the number of requests that fail. */
class ClusterOutageLog {
  readonly #server: string
  readonly #log: (line: string) => void
  #isReachable = true

  constructor(server: string, log: (line: string) => void) {
    this.#server = server
    this.#log = log
  }

  /** Returns the error to throw for a request that failed. */
  report(cause: Error): ClusterUnreachable {
    const error = new ClusterUnreachable(this.#server, cause)
    if (this.#isReachable) this.#log(`${error.message}. The operator continues when it responds again.`)
    this.#isReachable = false
    return error
  }

  /** Ends an outage, since the server has responded. */
  end(): void {
    if (!this.#isReachable) this.#log(`The API server ${this.#server} responds again.`)
    this.#isReachable = true
  }
}

/** Milliseconds until a silent connection is closed. Watches are not silent: API servers send a bookmark every minute. */
const IDLE_TIMEOUT = 90_000
/** Maximum bytes of a response that is not a watch. */
const MAX_RESPONSE = 512 * 1024 * 1024
/** Maximum attempts of a request that an overloaded API server postpones. */
const MAX_ATTEMPTS = 4
/** Maximum seconds between two attempts. */
const MAX_RETRY_AFTER = 10
/** Maximum connections of requests other than watches. */
const MAX_CONNECTIONS = 64

/** The field manager of all writes, which `managedFields` of resources name. */
export const FIELD_MANAGER = 'regent'
/** The user agent has the form of those of Kubernetes' programs, and appears in its audit log. */
const HEADERS = { accept: 'application/json', 'user-agent': `regent/${version} (${platform()}/${arch()})` }

type ClusterRequest = Omit<HttpStreamRequest, 'idleTimeout' | 'credentials'>

function loadConfig(file: string | undefined): KubeConfig {
  const config = new KubeConfig()
  try {
    if (file === undefined) config.loadFromDefault()
    else config.loadFromFile(file)
  } catch (error) {
    throw new Error(`The kubeconfig cannot be read: ${getErrorMessage(error)}`, { cause: error })
  }
  return config
}

/**
 * Creates a client for the cluster of a kubeconfig file. Without a file, uses `KUBECONFIG`, or the service account of the pod.
 * `log` prints the beginning and the end of each outage; `measurements` counts the requests.
 * @throws Error if no cluster is configured.
 */
export function connectToCluster(
  file?: string,
  log: (line: string) => void = () => {},
  measurements?: Measurements,
): ClusterClient {
  const config = loadConfig(file)
  const cluster = config.getCurrentCluster()
  if (!cluster)
    throw new Error('No Kubernetes cluster is configured. Set KUBECONFIG, or run the server in a pod of the cluster.')
  const { server } = cluster
  const requestConnections = createConnectionPool(server, MAX_CONNECTIONS)
  // Watches occupy their connections for minutes: requests must not wait for those.
  const watchConnections = createConnectionPool(server)

  const outages = new ClusterOutageLog(server, log)
  const send = createSender(config, cluster, { outages, measurements })

  return {
    server,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    async request<T>(method: HttpMethod, path: string, content?: RequestPayload) {
      const headers = { ...HEADERS, 'content-type': content?.type ?? 'application/json' }
      const body = content === undefined ? undefined : JSON.stringify(content.body)
      const request = { method, headers, body, connections: requestConnections }
      const response = await send(isWrite(method) ? withFieldManager(path) : path, request)
      const text = await readBody(response.body, MAX_RESPONSE).catch((error: Error) => {
        throw outages.report(error)
      })
      return JSON.parse(text) as T
    },
    async streamLines(path, onLine, signal) {
      const { body } = await send(path, { headers: HEADERS, connections: watchConnections, signal })
      try {
        for await (const line of createInterface({ input: body })) onLine(line)
      } catch (error) {
        // A watch that ends is no outage: it is continued. The next request shows whether the server responds.
        throw isBrokenConnection(error) ? new ClusterUnreachable(server, error) : error
      } finally {
        body.destroy()
      }
    },
  }
}

interface SenderOptions {
  readonly outages: ClusterOutageLog
  readonly measurements: Measurements | undefined
}

/** Creates a function that sends requests with the credentials of a kubeconfig, and repeats those that an overloaded server postpones. */
function createSender(
  config: KubeConfig,
  { server, proxyUrl }: Cluster,
  { outages, measurements }: SenderOptions,
): (path: string, request: ClusterRequest) => Promise<HttpStream> {
  const countRequest = createRequestCounter(measurements)
  const open = async (path: string, { connections, headers, ...request }: ClusterRequest): Promise<HttpStream> => {
    const credentials: RequestOptions = { headers: {}, timeout: IDLE_TIMEOUT }
    await config.applyToHTTPSOptions(credentials)
    // The agent of the credentials keeps no connections alive, and is needed for a proxy only.
    const options = { ...request, headers, credentials, connections: proxyUrl ? undefined : connections }
    // The kubeconfig is a setting of the server, so that any address is allowed.
    const response = await openStream(UNRESTRICTED, server + path, { ...options, idleTimeout: IDLE_TIMEOUT }).catch(
      (error: Error) => {
        if (request.signal?.aborted) throw error
        countRequest(path, request, 'unreachable')
        throw outages.report(error)
      },
    )
    outages.end()
    countRequest(path, request, String(response.status))
    return response
  }
  const openAccepted = async (path: string, request: ClusterRequest): Promise<HttpStream> => {
    const response = await open(path, request)
    if (response.status < 400) return response
    throw toClusterError(response, await readBody(response.body, MAX_RESPONSE))
  }
  return (path, request) =>
    retry(() => openAccepted(path, request), { delayAfter: getRetryDelay, signal: request.signal })
}

const isWrite = (method: HttpMethod): boolean => ['POST', 'PUT', 'PATCH'].includes(method)

/** Returns the path of a write with the field manager, unless it has one. */
function withFieldManager(path: string): string {
  if (/[?&]fieldManager=/.test(path)) return path
  return `${path}${path.includes('?') ? '&' : '?'}fieldManager=${FIELD_MANAGER}`
}

const isBrokenConnection = (error: unknown): error is Error =>
  error instanceof Error && ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(getErrorCode(error) ?? '')

/** Returns the milliseconds until a refused request is repeated; undefined if it is not. */
function getRetryDelay(error: unknown, failures: number): number | undefined {
  if (!(error instanceof ClusterError) || error.retryAfter === undefined || failures === MAX_ATTEMPTS) return undefined
  return Math.min(error.retryAfter, MAX_RETRY_AFTER) * 1000 * (1 + Math.random() / 5)
}

function toClusterError({ status, headers }: HttpStream, body: string): ClusterError {
  const seconds = Number(headers['retry-after'])
  const message = readStatusMessage(body) ?? `The API server responded with status ${status}.`
  return new ClusterError(status, message, Number.isNaN(seconds) ? undefined : seconds)
}

/** Returns the message of a `Status` object of Kubernetes; undefined for any other body. */
function readStatusMessage(body: string): string | undefined {
  try {
    const status: Json = JSON.parse(body)
    return isObject(status) ? readText(status.message) : undefined
  } catch {
    return undefined
  }
}

const VERBS: Readonly<Record<HttpMethod, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Returns a function that counts a request by the status of its response. */
function createRequestCounter(measurements: Measurements | undefined) {
  return (path: string, { method = 'GET' }: Pick<ClusterRequest, 'method'>, status: string) =>
    measurements?.record('clusterRequest', { ...describeRequest(method, path), status })
}

/** Returns the verb of a request as Kubernetes names it, and its resource, such as `realms/status`. */
function describeRequest(method: HttpMethod, path: string): { readonly verb: string; readonly resource: string } {
  const { pathname, searchParams } = new URL(path, 'https://kubernetes')
  const [resource = '', name, subresource] = pathname
    .replace(/^\/(?:api|apis\/[^/]+)\/[^/]+\//, '')
    .replace(/^namespaces\/[^/]+\/(?=.)/, '')
    .split('/')
  const isList = method === 'GET' && name === undefined
  const readVerb = searchParams.get('watch') === 'true' ? 'watch' : 'list'
  return { verb: isList ? readVerb : VERBS[method], resource: subresource ? `${resource}/${subresource}` : resource }
}
