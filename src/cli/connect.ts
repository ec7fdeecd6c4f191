// Where a command finds the store: a running server, or the store itself, which then answers the same requests in-process.
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type HttpStream, openStream, reasonOf, redirectOf, textOf } from '../lib/http/http-request.ts'
import { isLoopback } from '../lib/http/loopback.ts'
import { ANYWHERE } from '../lib/http/outbound.ts'
import { readKey, type StoreKey } from './commands/key.ts'
import { readEvents, type ServerEvent } from './event-stream.ts'
import { ApiError } from './report.ts'

/** The flags that say where the store is, and who asks. */
export interface StoreFlags {
  readonly server?: string
  readonly database?: string
  readonly data?: string
  readonly keyFile?: string
  readonly token?: string
  readonly user?: string
  readonly password?: string
}

/** What a request carries besides its address. */
export interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers requests of Regent's API, wherever the store is. */
export interface Connection {
  /** The parsed answer. Throws ApiError when it is none of success. */
  request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, sent?: Sent): Promise<unknown>
  /** The events that the address sends, until it ends. Throws ApiError, or what ended it, also `signal`. */
  events(path: string, signal: AbortSignal): AsyncIterable<ServerEvent>
  /** The bytes at an address. Throws ApiError when there are none. */
  download(path: string): Promise<Readable>
  close(): Promise<void>
}

/** Connects to the store that flags and environment name. A folder in use leads to the server that holds it. */
export async function connect(flags: StoreFlags): Promise<Connection> {
  const server = serverOf(flags)
  if (server) return remote(server, await login(server, flags))
  const { FolderInUse } = await import('../service/context/store-types.ts')
  try {
    return await local(storeOf(flags))
  } catch (error) {
    if (!(error instanceof FolderInUse) || !error.url) throw error
    demandLoopback(error.url, error.message)
    return remote(error.url, await login(error.url, orAdmin(flags)))
  }
}

/** The server that flags or the environment name. Throws where that is no address. */
export function serverOf(flags: StoreFlags): string | undefined {
  const server = flags.server ?? process.env.REGENT_SERVER
  if (server && !/^https?:$/.test(URL.parse(server)?.protocol ?? ''))
    throw new Error(`${server} is no address of a server: name it in full, such as http://127.0.0.1:8080`)
  return server?.replace(/\/+$/, '')
}

/** The server that holds the folder which flags and environment name. Throws where that is another machine. */
export async function serverOfFolder(flags: StoreFlags): Promise<string | undefined> {
  const { database, data } = storeOf(flags)
  if (database) return undefined
  const { serverHolding } = await import('../service/context/store-types.ts')
  const url = await serverHolding(data)
  if (url) demandLoopback(url, `${data} is in use by the server at ${url}`)
  return url
}

/** Credentials go where a folder says only when that cannot be another machine. */
function demandLoopback(url: string, message: string): void {
  if (!isLoopback(new URL(url).hostname)) throw new Error(`${message}: name it with --server if you mean it`)
}

/** The answer to one request, to the store that flags and environment name. Throws ApiError. */
export async function request(flags: StoreFlags, ...what: Parameters<Connection['request']>): Promise<unknown> {
  const connection = await connect(flags)
  try {
    return await connection.request(...what)
  } finally {
    await connection.close()
  }
}

/** Where the store is by flags, else by the environment, else by default. A flag for one place outdoes the variable for the other. */
export function storeOf(flags: StoreFlags): StoreKey {
  const { REGENT_DATABASE, REGENT_DATA, REGENT_KEY_FILE } = process.env
  return {
    database: flags.database ?? (flags.data ? undefined : REGENT_DATABASE || undefined),
    data: flags.data ?? (REGENT_DATA || 'data'),
    keyFile: flags.keyFile ?? (REGENT_KEY_FILE || undefined),
  }
}

/** An access token of the server's. Throws ApiError. */
export async function login(server: string, flags: StoreFlags): Promise<string> {
  const token = flags.token ?? process.env.REGENT_TOKEN
  if (token) return token
  const username = flags.user ?? process.env.REGENT_USER
  const password = flags.password ?? process.env.REGENT_PASSWORD
  if (!username || !password) {
    throw new Error(
      `${server} wants to know who asks: give --token, or --user and --password (REGENT_TOKEN, REGENT_USER, REGENT_PASSWORD)`,
    )
  }
  const body = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username, password })
  const url = `${server}/realms/master/protocol/openid-connect/token`
  const answer = await call(url, { method: 'POST', body }).catch((error: Error) => {
    throw error instanceof ApiError ? new Error(`${username} cannot log in at ${server}: ${error.message}`) : error
  })
  return (answer as { access_token: string }).access_token
}

/** Whoever started a server here in development mode has its administrator. */
export function orAdmin(flags: StoreFlags): StoreFlags {
  const { REGENT_USER: user, REGENT_PASSWORD: password } = process.env
  return { user: 'admin', password: 'admin', ...(user && { user }), ...(password && { password }), ...flags }
}

type RemoteRequest = Omit<Parameters<typeof openStream>[2], 'idleTimeout'>

/** Milliseconds in which the server must send something: to apply many objects takes minutes. */
const IDLE = 10 * 60_000
/** Bytes that an answer which is read as a whole may have; more do not fit into a text. */
const LONGEST = 512 * 1024 * 1024

function remote(server: string, token: string): Connection {
  return {
    request: (method, path, { body, headers } = {}) =>
      call(server + path, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async *events(path, signal) {
      const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
      const answer = await answerOf(server + path, { headers, signal })
      if (!answer.ok) result(answer.status, await textOf(answer.body, LONGEST))
      else yield* readEvents(answer.body)
    },
    async download(path) {
      const answer = await answerOf(server + path, { headers: { authorization: `Bearer ${token}` } })
      if (!answer.ok) result(answer.status, await textOf(answer.body, LONGEST))
      return answer.body
    },
    close: async () => {},
  }
}

async function call(url: string, request: RemoteRequest): Promise<unknown> {
  const headers = { ...request.headers, 'accept-encoding': 'gzip' }
  const answer = await answerOf(url, { ...request, headers })
  return result(answer.status, await textOf(answer.body, LONGEST))
}

async function answerOf(url: string, request: RemoteRequest): Promise<HttpStream> {
  const { origin } = new URL(url)
  // The command line or its environment names the server.
  const answer = await openStream(ANYWHERE, url, { ...request, idleTimeout: IDLE }).catch((error: Error) => {
    throw new Error(
      `nobody answers at ${origin} (${reasonOf(error)}): is the server running? Start it with "regent serve"`,
    )
  })
  const redirect = redirectOf(answer)
  if (redirect === undefined) return answer
  answer.body.destroy()
  throw new Error(`${origin} redirects to ${redirect}: name that server with --server`)
}

async function local(at: StoreKey): Promise<Connection> {
  const { openService } = await import('../service/operations/open-service.ts')
  const { SYSTEM } = await import('../service/context/service.ts')
  const { bootstrap } = await import('../service/operations/bootstrap.ts')
  const { createServer } = await import('../http/server.ts')
  const service = await openService({
    location: at.database ? { url: at.database } : { folder: at.data },
    key: await readKey(at),
    passwordLists: process.env.REGENT_PASSWORD_LISTS,
  })
  await bootstrap(service)
  const app = await createServer(service, { caller: SYSTEM })
  return {
    async request(method, url, { body, headers } = {}) {
      const payload = body !== undefined && { payload: body as object }
      const answer = await app.inject({ method, url, ...(headers && { headers }), ...payload })
      return result(answer.statusCode, answer.body)
    },
    async *events(url, signal) {
      const answer = await app.inject({ method: 'GET', url, payloadAsStream: true })
      const stream = answer.stream()
      signal.addEventListener('abort', () => stream.destroy(), { once: true })
      if (answer.statusCode >= 400) result(answer.statusCode, await text(stream))
      else yield* readEvents(stream)
    },
    async download(url) {
      const answer = await app.inject({ method: 'GET', url, payloadAsStream: true })
      if (answer.statusCode >= 400) result(answer.statusCode, await text(answer.stream()))
      return answer.stream()
    },
    async close() {
      await app.close()
      await service.close()
    },
  }
}

function result(status: number, text: string): unknown {
  const body = parsed(text)
  if (status >= 400) throw new ApiError(status, body)
  return body
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
