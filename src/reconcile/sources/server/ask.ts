// A server with the admin API of Keycloak, asked as one of its administrators for what it has.
import { setTimeout } from 'node:timers/promises'
import type { Json } from '../../../kinds/fields.ts'
import type { Representation } from '../../../kinds/kind.ts'
import { backOff } from '../../../lib/back-off.ts'
import { limited } from '../../../lib/limited.ts'
import { type LogIn, logIn } from './log-in.ts'
import { ServerError, unreachable } from './server-error.ts'

/**
 * A server that is asked. Addresses are below `/admin/realms`. A request waits for its turn, is sent again while the server
 * is busy or broken, and throws ServerError.
 */
export interface AdminServer {
  /** What stands there; `otherwise`: what counts where the server has no such thing, or has it switched off. */
  get(path: string, otherwise?: Json): Promise<Json>
  /** What a POST gives that only reads. */
  post(path: string): Promise<Json>
  /** The whole list, page by page. */
  list(path: string, query?: Readonly<Record<string, string>>): Promise<Representation[]>
}

/** Requests at a time: the server has others to serve. */
const AT_A_TIME = 8
/** Objects of a list that one request asks for. */
const PAGE = 100
/** A request that fails for the moment is sent so many times. */
const ATTEMPTS = 6
/** Milliseconds until a server that is busy is asked again: at first, and at most, also where it says how long it is busy. */
const FIRST_WAIT = 200
const LONGEST_WAIT = 30_000
/** What a server answers where it does not have something, or has it switched off. */
const NOT_THERE: readonly (number | undefined)[] = [400, 404, 405, 501]

const ADVICE: Readonly<Record<number, string>> = {
  401: 'take a new token, or log in with user and password',
  403: 'log in as an administrator of the realm, who has its role realm-admin',
  404: 'look at the name of the realm, and at the path of the address (/auth of old versions)',
}

/** The server at an address, which may have a path. Nothing is asked yet. `answered`: told of each answer. */
export function adminServer(url: string, how: LogIn, answered: () => void = () => {}): AdminServer {
  const base = url.replace(/\/+$/, '')
  const turn = limited(AT_A_TIME)
  let token: Promise<string> | undefined
  let known = false
  /** What was given up for: what still waits for its turn would be of no use. */
  let broken: ServerError | undefined

  const send = async (method: string, path: string, bearer: Promise<string>) => {
    const headers = { authorization: `Bearer ${await bearer}`, accept: 'application/json' }
    const answer = await fetch(`${base}/admin/realms/${path}`, { method, headers, redirect: 'error' }).catch(
      (error: Error) => {
        throw unreachable(base, error)
      },
    )
    if (answer.ok) return (await answer.json()) as Json
    throw Object.assign(await refusal(method, path, answer), { retryAfter: answer.headers.get('retry-after') })
  }

  const ask = (method: string, path: string) =>
    turn(async () => {
      for (let attempt = 1; ; attempt++) {
        if (broken) throw broken
        token ??= logIn(base, how)
        const used = token
        try {
          const body = await send(method, path, used)
          known = true
          answered()
          return body
        } catch (error) {
          if (!(error instanceof ServerError)) throw error
          const ended = error.status === 401 && known && !('token' in how)
          const passes = ended || (known && error.status === undefined) || isPassing(error.status)
          if (!passes || attempt === ATTEMPTS) {
            if (!NOT_THERE.includes(error.status)) broken = error
            throw error
          }
          // Tokens live for a minute: the first whose token has ended logs in for all.
          if (token === used) token = undefined
          if (!ended) await setTimeout(waitAfter(attempt, error))
        }
      }
    })

  const page = (path: string, query: Readonly<Record<string, string>>, first: number) =>
    ask('GET', `${path}?${new URLSearchParams({ ...query, first: String(first), max: String(PAGE) })}`) as Promise<
      Representation[]
    >

  return {
    post: (path) => ask('POST', path),
    async get(path, otherwise) {
      try {
        return await ask('GET', path)
      } catch (error) {
        if (otherwise !== undefined && NOT_THERE.includes((error as ServerError).status)) return otherwise
        throw error
      }
    },
    async list(path, query = {}) {
      const all = await page(path, query, 0)
      // A list that has no pages comes whole.
      if (all.length !== PAGE) return all
      for (let first = PAGE; ; first += AT_A_TIME * PAGE) {
        const starts = Array.from({ length: AT_A_TIME }, (_, at) => first + at * PAGE)
        const pages = await Promise.all(starts.map((start) => page(path, query, start)))
        all.push(...pages.flat())
        if (pages.at(-1)!.length < PAGE) return all
      }
    },
  }
}

/** Whether the same request may be answered otherwise in a moment. */
function isPassing(status = 0): boolean {
  return status === 429 || (status >= 500 && !NOT_THERE.includes(status))
}

function waitAfter(attempt: number, error: ServerError & { retryAfter?: string | null }): number {
  const asked = Number(error.retryAfter ?? Number.NaN) * 1000
  return asked > 0 ? Math.min(asked, LONGEST_WAIT) : backOff(attempt, FIRST_WAIT, LONGEST_WAIT)
}

async function refusal(method: string, path: string, answer: Response): Promise<ServerError> {
  const body = (await answer.json().catch(() => null)) as Representation | null
  const said = body?.error_description ?? body?.errorMessage ?? body?.error
  const why = typeof said === 'string' ? ` (${said})` : ''
  const advice = ADVICE[answer.status] ?? 'look at its log'
  const address = path.split('?')[0]
  return new ServerError(
    `the server answers ${answer.status}${why} to ${method} /admin/realms/${address}: ${advice}`,
    answer.status,
  )
}
