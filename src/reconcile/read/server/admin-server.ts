// A server with the admin API of Keycloak, asked as one of its administrators for what it has.
import type { Json, Representation } from '../../../kinds/json.ts'
import { type HttpAnswer, jsonIn, keepConnections, redirectOf, sendRequest } from '../../../lib/http/http-request.ts'
import { limited } from '../../../lib/http/limited.ts'
import { ANYWHERE } from '../../../lib/http/outbound.ts'
import { backOff } from '../../../lib/timing/back-off.ts'
import { retry } from '../../../lib/timing/retry.ts'
import { type LogIn, logIn } from './log-in.ts'
import { ServerError, unreachable } from './server-error.ts'

/** Requests at a time: the server has others to serve. */
const AT_A_TIME = 8
/** Objects of a list that one request asks for. */
const PAGE = 100
/** A request that fails for the moment is sent so many times. */
const ATTEMPTS = 6
/** First and longest delay before a request to a busy server is retried, in milliseconds; `Retry-After` cannot exceed the longest. */
const FIRST_WAIT = 200
const LONGEST_WAIT = 30_000
/** What a server answers where it does not have something, or has it switched off. */
const NOT_THERE: readonly (number | undefined)[] = [400, 404, 405, 501]

/** Milliseconds in which an answer must be there, and the bytes that it may have: an export is one answer. */
const PATIENCE = 10 * 60_000
const LONGEST = 512 * 1024 * 1024

const ADVICE: Readonly<Record<number, string>> = {
  401: 'take a new token, or log in with user and password',
  403: 'log in as an administrator of the realm, who has its role realm-admin',
  404: 'look at the name of the realm, and at the path of the address (/auth of old versions)',
}

/**
 * A server that is asked. Addresses are below `/admin/realms`. A request waits for its turn, is sent again while the server
 * is busy or broken, and throws ServerError.
 */
export class AdminServer {
  readonly #base: string
  readonly #logIn: LogIn
  readonly #answered: () => void
  readonly #connections: ReturnType<typeof keepConnections>
  readonly #slot = limited(AT_A_TIME)
  #token: Promise<string> | undefined
  /** Whether it has answered a request: then it is the right server, and the log-in is right. */
  #isKnown = false
  /** What was given up for: what still waits for its turn would be of no use. */
  #broken: ServerError | undefined

  /** `url` may have a path; nothing is asked yet. `answered` is called after each answer. */
  constructor(url: string, logIn: LogIn, answered: () => void = () => {}) {
    this.#base = url.replace(/\/+$/, '')
    this.#logIn = logIn
    this.#answered = answered
    this.#connections = keepConnections(this.#base)
  }

  /** Returns what a POST gives that only reads. */
  post(path: string): Promise<Json> {
    return this.#ask('POST', path)
  }

  /** Returns what is at the path; `otherwise`: what counts where the server has no such thing, or has it switched off. */
  async get(path: string, otherwise?: Json): Promise<Json> {
    try {
      return await this.#ask('GET', path)
    } catch (error) {
      if (otherwise !== undefined && NOT_THERE.includes((error as ServerError).status)) return otherwise
      throw error
    }
  }

  /** Returns the whole list, asked for page by page. */
  async list(path: string, query: Readonly<Record<string, string>> = {}): Promise<Representation[]> {
    const page = (first: number) => {
      const parameters = new URLSearchParams({ ...query, first: String(first), max: String(PAGE) })
      return this.#ask('GET', `${path}?${parameters}`) as Promise<Representation[]>
    }
    const all = await page(0)
    // A list that has no pages comes whole.
    if (all.length !== PAGE) return all
    for (let first = PAGE; ; first += AT_A_TIME * PAGE) {
      const starts = Array.from({ length: AT_A_TIME }, (_, at) => first + at * PAGE)
      const pages = await Promise.all(starts.map(page))
      all.push(...pages.flat())
      if (pages.at(-1)!.length < PAGE) return all
    }
  }

  #ask(method: 'GET' | 'POST', path: string): Promise<Json> {
    let token: Promise<string> | undefined
    const attempt = async () => {
      if (this.#broken) throw this.#broken
      this.#token ??= logIn(this.#base, this.#logIn)
      token = this.#token
      const body = await this.#send(method, path, await token)
      this.#isKnown = true
      this.#answered()
      return body
    }
    const delayAfter = (error: unknown, failures: number) => {
      if (!(error instanceof ServerError) || error === this.#broken) return undefined
      if (!this.#isPassing(error) || failures === ATTEMPTS) {
        if (!NOT_THERE.includes(error.status)) this.#broken = error
        return undefined
      }
      // Tokens live for a minute: the first whose token has ended logs in for all.
      if (this.#token === token) this.#token = undefined
      return this.#hasEnded(error) ? 0 : waitAfter(failures, error)
    }
    return this.#slot(() => retry(attempt, { delayAfter }))
  }

  async #send(method: 'GET' | 'POST', path: string, token: string): Promise<Json> {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
    const request = { method, headers, timeout: PATIENCE, limit: LONGEST, connections: this.#connections }
    // The command line names the server.
    const answer = await sendRequest(ANYWHERE, `${this.#base}/admin/realms/${path}`, request).catch((error: Error) => {
      throw unreachable(this.#base, error)
    })
    if (answer.ok) return JSON.parse(answer.text) as Json
    throw Object.assign(refusal(method, path, answer), { retryAfter: answer.headers['retry-after'] })
  }

  /** Whether the same request may be answered otherwise in a moment, or with another token. */
  #isPassing(error: ServerError): boolean {
    return this.#hasEnded(error) || (this.#isKnown && error.status === undefined) || isBusy(error.status)
  }

  /** Whether the token has ended, and another one can be had. */
  #hasEnded({ status }: ServerError): boolean {
    return status === 401 && this.#isKnown && !('token' in this.#logIn)
  }
}

/** Whether the server has no time now, or is broken for the moment. */
function isBusy(status = 0): boolean {
  return status === 429 || (status >= 500 && !NOT_THERE.includes(status))
}

function waitAfter(attempt: number, error: ServerError & { retryAfter?: string | undefined }): number {
  const asked = Number(error.retryAfter ?? Number.NaN) * 1000
  return asked > 0 ? Math.min(asked, LONGEST_WAIT) : backOff(attempt, FIRST_WAIT, LONGEST_WAIT)
}

function refusal(method: string, path: string, answer: HttpAnswer): ServerError {
  const body = jsonIn(answer.text) as Representation | null
  const said = body?.error_description ?? body?.errorMessage ?? body?.error
  const why = typeof said === 'string' ? ` (${said})` : ''
  const redirect = redirectOf(answer)
  const elsewhere = redirect && `it redirects to ${redirect}, so name that server instead`
  const advice = elsewhere ?? ADVICE[answer.status] ?? 'look at its log'
  const address = path.split('?')[0]
  return new ServerError(
    `the server answers ${answer.status}${why} to ${method} /admin/realms/${address}: ${advice}`,
    answer.status,
  )
}
