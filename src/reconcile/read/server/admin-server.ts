// A client of Keycloak's admin API that reads from another server.
import { isList, isObject, type Json, type Representation, readObjects, readText } from '../../../kinds/json.ts'
import { createConnectionPool, findRedirect, type HttpResponse, sendRequest } from '../../../lib/http/http-request.ts'
import { UNRESTRICTED } from '../../../lib/http/outbound.ts'
import { getBackOff } from '../../../lib/timing/back-off.ts'
import { limitConcurrency } from '../../../lib/timing/limit-concurrency.ts'
import { hasProgressListener, reportProgress } from '../../../lib/timing/progress.ts'
import { retry } from '../../../lib/timing/retry.ts'
import { getAccessToken, type ServerCredentials } from './access-token.ts'
import { parseBody, ServerError, toUnreachableError } from './server-error.ts'

/** Concurrent requests: the server has other clients too. */
const CONCURRENCY = 8
/** Objects per request of a list. */
const PAGE_SIZE = 100
/** Attempts of a request that fails temporarily. */
const ATTEMPTS = 6
/** First and longest delay before a request to a busy server is retried, in milliseconds; `Retry-After` cannot exceed the longest. */
const MIN_DELAY = 200
const MAX_DELAY = 30_000
/** Statuses of an endpoint that does not exist or is disabled. */
const UNAVAILABLE: readonly (number | undefined)[] = [400, 404, 405, 501]

/** Timeout in milliseconds, and the largest response in bytes: a partial export is one response. */
const TIMEOUT = 10 * 60_000
const MAX_SIZE = 512 * 1024 * 1024

const ADVICE: Readonly<Record<number, string>> = {
  401: 'Use a new token, or log in with user name and password.',
  403: 'Log in as an administrator with the role realm-admin of the realm.',
  404: 'Check the name of the realm, and the path of the URL (/auth in old Keycloak versions).',
}

/**
 * Reads from the admin API of a server. Paths are below `/admin/realms`. Requests are limited in number, retried where the server
 * is overloaded or fails temporarily, and throw ServerError.
 */
export class AdminServer {
  readonly #baseUrl: string
  readonly #credentials: ServerCredentials
  #responses = 0
  /** The number of lists that are being read, and whose objects are counted instead of responses. */
  #countedLists = 0
  readonly #connections: ReturnType<typeof createConnectionPool>
  readonly #limit = limitConcurrency(CONCURRENCY)
  #token: Promise<string> | undefined
  /** Whether a request has succeeded, so that the URL and the credentials are right. */
  #hasSucceeded = false
  /** The error after which all further requests fail, since the import cannot succeed any more. */
  #fatalError: ServerError | undefined

  /** Sends no request yet. `url` may have a path. */
  constructor(url: string, credentials: ServerCredentials) {
    this.#baseUrl = url.replace(/\/+$/, '')
    this.#credentials = credentials
    this.#connections = createConnectionPool(this.#baseUrl)
  }

  /** Returns the response of a POST request that only reads. */
  post(path: string): Promise<Json> {
    return this.#request('POST', path)
  }

  /** Returns the response of a GET request, or `fallback` where the server does not have the endpoint or has it disabled. */
  async get(path: string, fallback?: Json): Promise<Json> {
    try {
      return await this.#request('GET', path)
    } catch (error) {
      if (fallback !== undefined && error instanceof ServerError && UNAVAILABLE.includes(error.status)) return fallback
      throw error
    }
  }

  /** Returns the objects of all pages of a list. */
  async list(
    path: string,
    query: Readonly<Record<string, string>> = {},
    onPage: (objects: readonly Representation[]) => Promise<void> = async () => {},
  ): Promise<Representation[]> {
    const readPage = async (first: number) => {
      const parameters = new URLSearchParams({ ...query, first: String(first), max: String(PAGE_SIZE) })
      const objects = toObjects(await this.#request('GET', `${path}?${parameters}`))
      await onPage(objects)
      return objects
    }
    const all = [...(await readPage(0))]
    // A list without paging is returned whole.
    if (all.length !== PAGE_SIZE) return all
    for (let first = PAGE_SIZE; ; first += CONCURRENCY * PAGE_SIZE) {
      const starts = Array.from({ length: CONCURRENCY }, (_, index) => first + index * PAGE_SIZE)
      const pages = await Promise.all(starts.map(readPage))
      all.push(...pages.flat())
      if (pages.at(-1)!.length < PAGE_SIZE) return all
    }
  }

  /** Returns the objects of a list as `list` does. Reports its progress by their number, which is at `${path}/count`. */
  async listCounted(
    path: string,
    kind: string,
    query: Readonly<Record<string, string>> = {},
  ): Promise<Representation[]> {
    if (!hasProgressListener()) return this.list(path, query)
    const total = Number(await this.get(`${path}/count`, 0)) || undefined
    let done = 0
    this.#countedLists++
    return this.list(path, query, async (objects) => {
      done += objects.length
      await reportProgress({ phase: 'fetch', kind, done, ...(total && { total }) })
    }).finally(() => {
      this.#countedLists--
    })
  }

  #request(method: 'GET' | 'POST', path: string): Promise<Json> {
    let token: Promise<string> | undefined
    const attempt = async () => {
      if (this.#fatalError) throw this.#fatalError
      this.#token ??= getAccessToken(this.#baseUrl, this.#credentials)
      token = this.#token
      const body = await this.#send(method, path, await token)
      this.#hasSucceeded = true
      this.#responses++
      if (!this.#countedLists) await reportProgress({ phase: 'fetch', done: this.#responses })
      return body
    }
    const delayAfter = (error: unknown, failures: number) => {
      if (!(error instanceof ServerError) || error === this.#fatalError) return undefined
      if (!this.#isTemporary(error) || failures === ATTEMPTS) {
        if (!UNAVAILABLE.includes(error.status)) this.#fatalError = error
        return undefined
      }
      // Tokens expire after a minute. The first request that fails for that gets a new one for all.
      if (this.#token === token) this.#token = undefined
      return this.#isTokenExpired(error) ? 0 : getDelay(failures, error)
    }
    return this.#limit(() => retry(attempt, { delayAfter }))
  }

  async #send(method: 'GET' | 'POST', path: string, token: string): Promise<Json> {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
    const request = { method, headers, timeout: TIMEOUT, limit: MAX_SIZE, connections: this.#connections }
    // The host is not restricted, since the user of the command line chose the server.
    const response = await sendRequest(UNRESTRICTED, `${this.#baseUrl}/admin/realms/${path}`, request).catch(
      (error: Error) => {
        throw toUnreachableError(this.#baseUrl, error)
      },
    )
    if (response.ok) return JSON.parse(response.text)
    throw Object.assign(toServerError(method, path, response), { retryAfter: response.headers['retry-after'] })
  }

  /** Whether the same request may succeed later, or with another token. */
  #isTemporary(error: ServerError): boolean {
    return (
      this.#isTokenExpired(error) || (this.#hasSucceeded && error.status === undefined) || isOverloaded(error.status)
    )
  }

  /** Whether the token has expired, and a new one can be requested. */
  #isTokenExpired({ status }: ServerError): boolean {
    return status === 401 && this.#hasSucceeded && !('token' in this.#credentials)
  }
}

/** Whether the server is overloaded, or fails temporarily. */
function isOverloaded(status = 0): boolean {
  return status === 429 || (status >= 500 && !UNAVAILABLE.includes(status))
}

function getDelay(attempt: number, error: ServerError & { retryAfter?: string | undefined }): number {
  const requested = Number(error.retryAfter ?? Number.NaN) * 1000
  return requested > 0 ? Math.min(requested, MAX_DELAY) : getBackOff(attempt, MIN_DELAY, MAX_DELAY)
}

function toServerError(method: string, path: string, response: HttpResponse): ServerError {
  const { error_description, errorMessage, error } = parseBody(response.text)
  const reason = readText(error_description ?? errorMessage ?? error)
  const redirect = findRedirect(response)
  const advice = redirect ? `Use the server that it redirects to: ${redirect}` : ADVICE[response.status]
  const request = `${method} /admin/realms/${path.split('?')[0]}`
  const status = `${response.status}${reason === undefined ? '' : ` (${reason})`}`
  return new ServerError(
    `${request} failed with status ${status}. ${advice ?? 'Check the log of the server.'}`,
    response.status,
  )
}

/** Returns the objects of a list in a response; none where it is absent. Throws ServerError where it is something else. */
export function toObjects(value: Json | undefined): readonly Representation[] {
  if (value === undefined || value === null) return []
  const objects = readObjects(value)
  if (isList(value) && objects.length === value.length) return objects
  throw new ServerError('the server returned something other than a list of objects. Check the URL.')
}

/** Returns the object of a response. Throws ServerError where it is something else. */
export function toObject(value: Json): Representation {
  if (isObject(value)) return value
  throw new ServerError('the server returned something other than an object. Check the URL.')
}
