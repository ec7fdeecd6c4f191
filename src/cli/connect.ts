// Connects a command to a running server, or to the store itself, which then handles the same requests in this process.
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { settings } from '../config.ts'
import {
  findRedirect,
  type HttpStream,
  openStream,
  readBody,
  readEvents,
  type ServerEvent,
} from '../lib/http/http-request.ts'
import { isLoopback } from '../lib/http/loopback.ts'
import { UNRESTRICTED } from '../lib/http/outbound.ts'
import { expireOnAbort } from '../lib/timing/deadline.ts'
import { listenToProgress } from '../lib/timing/progress.ts'
import type { Service } from '../service/context/service.ts'
import { readKey, type StoreKey } from './commands/key.ts'
import type { AccessTokens } from './login/access-tokens.ts'
import { type CommandServer, findCommandServer, openLogin, type StoreFlags } from './login/find-login.ts'
import { describeNetworkError } from './login/network-errors.ts'
import { ApiError, findMissingRealm, renderMissingRealm } from './render-error.ts'
import { describePlace, hasStore, reportNewStore, requireStore, toLocation } from './store-place.ts'
import { printHint } from './terminal/hint.ts'
import { interruptible } from './terminal/interruption.ts'
import { clearProgress } from './terminal/progress.ts'
import { WorkTracker } from './terminal/work-tracker.ts'

export type { StoreFlags } from './login/find-login.ts'

/** Body and headers of a request. */
export interface RequestContent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the operation reports its progress, and is cancelled by closing the connection. */
  readonly reportsProgress?: boolean
}

/** Sends requests to Regent's API, on a server or in this process. */
export interface Connection {
  /** Returns the parsed response body. @throws ApiError for a status of 400 or more. */
  request<Result>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, content?: RequestContent): Promise<Result>
  /** Yields the server-sent events of a path until the stream ends. @throws ApiError, or the reason of `signal`. */
  events(path: string, signal: AbortSignal): AsyncIterable<ServerEvent>
  /** Returns the response body as a stream of bytes. @throws ApiError for a status of 400 or more. */
  download(path: string): Promise<Readable>
  close(): Promise<void>
}

/**
 * The behaviour of a command if there is no store: it fails, creates one, or uses an empty one in memory, which is discarded. A command
 * that only reads must not create a store.
 */
export type MissingStorePolicy = 'fail' | 'create' | 'discard'

/** The requests of a connection, and the signal that cancels them. */
interface ConnectionWork {
  readonly tracker: WorkTracker
  readonly signal?: AbortSignal
}

/** Connects to the store that flags and environment name. If a server has the folder open, connects to that server. */
export async function connect(
  flags: StoreFlags,
  missingStore: MissingStorePolicy = 'fail',
  work: ConnectionWork = { tracker: new WorkTracker() },
): Promise<Connection> {
  const commandServer = await findCommandServer(flags)
  if (commandServer) {
    reportContext(commandServer)
    return openRemote(commandServer.server, openLogin(commandServer, flags), work)
  }
  const { FolderInUse } = await import('../service/context/store-types.ts')
  try {
    return await openLocal(toStoreKey(flags), missingStore, work)
  } catch (error) {
    if (!(error instanceof FolderInUse) || !error.url) throw error
    demandLoopback(error.url, error.message)
    return openRemote(error.url, openLogin({ server: error.url }, flags, DEVELOPMENT_ADMIN), work)
  }
}

/** The credentials of the administrator that a server in development mode has. */
export const DEVELOPMENT_ADMIN = { user: 'admin', password: 'admin' }

let reported: string | undefined

/** Reports the server of a context that the command has not named, once. */
function reportContext({ server, context, isImplied }: CommandServer): void {
  if (!isImplied || !context || reported === context.name) return
  reported = context.name
  printHint(`Context ${context.name}: ${server}`)
}

/** Returns the URL of the server that has the data folder open, if any. @throws Error if it runs on another machine. */
export async function findServerOfFolder(flags: StoreFlags): Promise<string | undefined> {
  const { database, data } = toStoreKey(flags)
  if (database) return undefined
  const { findFolderServer: serverHolding } = await import('../service/context/store-types.ts')
  const url = await serverHolding(data)
  if (url) demandLoopback(url, `The folder ${data} is in use by the server at ${url}.`)
  return url
}

// The lock file of a folder must not send credentials to another machine.
function demandLoopback(url: string, message: string): void {
  if (!isLoopback(new URL(url).hostname)) throw new Error(`${message} To use it, pass its URL with --server.`)
}

/** Sends one request to the existing store that flags and environment name. @throws ApiError for a status of 400 or more. */
export async function request<Result>(
  flags: StoreFlags,
  ...parameters: Parameters<Connection['request']>
): Promise<Result> {
  return withConnection(flags, 'fail', (connection) => connection.request<Result>(...parameters))
}

/** Runs the work with a connection to the store that flags and environment name. Ctrl-C cancels its requests. */
export async function withConnection<Result>(
  flags: StoreFlags,
  missingStore: MissingStorePolicy,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const tracker = new WorkTracker()
  return interruptible(
    async (signal) => {
      const connection = await connect(flags, missingStore, { tracker, signal })
      try {
        signal.throwIfAborted()
        return await work(connection).catch((error: unknown) => completeError(connection, error))
      } finally {
        await connection.close()
      }
    },
    () => tracker.describeEffect(),
  )
}

/** Throws the error again: one about a missing realm with the existing ones, if the caller may see them. */
async function completeError(connection: Connection, error: unknown): Promise<never> {
  const realm = findMissingRealm(error)
  if (realm === undefined) throw error
  const realms = await connection
    .request<{ realm: string }[]>('GET', '/admin/realms?briefRepresentation=true')
    .catch(() => [])
  if (!realms.length) throw error
  const message = renderMissingRealm(
    realm,
    realms.map(({ realm }) => realm),
  )
  throw new ApiError(404, { error: message })
}

/**
 * Returns the place of the store: from flags, else environment, else defaults. --data takes precedence over a database in the
 * environment. REGENT_DATABASE may be the URL of a connection pooler, so the direct URL takes precedence.
 */
export function toStoreKey(flags: StoreFlags): StoreKey {
  const { REGENT_DATABASE, REGENT_DATABASE_DIRECT, REGENT_DATA, REGENT_KEY_FILE } = process.env
  const database = REGENT_DATABASE_DIRECT || REGENT_DATABASE || undefined
  return {
    database: flags.database ?? (flags.data ? undefined : database),
    data: flags.data ?? (REGENT_DATA || 'data'),
    keyFile: flags.keyFile ?? (REGENT_KEY_FILE || undefined),
  }
}

type RemoteRequest = Omit<Parameters<typeof openStream>[2], 'idleTimeout'>

/** The accepted media types: JSON rather than YAML, and texts of operations that return no JSON. */
const ACCEPT = 'application/json, */*;q=0.5'
/** Milliseconds without data after which a request fails. Applying many objects takes minutes. */
const IDLE_TIMEOUT = 10 * 60_000
/** The most bytes of a response that is read as a whole: the longest string of V8. */
const MAX_RESPONSE_BYTES = 512 * 1024 * 1024

function openRemote(server: string, tokens: AccessTokens, { tracker, signal: cancelled }: ConnectionWork): Connection {
  tracker.isRemote = true
  const open = (path: string, request: RemoteRequest) => openAuthorized(tokens, server + path, request)
  return {
    request: (method, path, { body, headers, reportsProgress } = {}) => {
      const accept = reportsProgress ? `text/event-stream, ${ACCEPT}` : ACCEPT
      const type = body !== undefined && { 'content-type': 'application/json' }
      const content = body !== undefined && { body: JSON.stringify(body) }
      const request = { method, headers: { accept, ...headers, ...type }, ...content }
      return tracker.run(method, reportsProgress, async () => {
        if (!reportsProgress)
          return send(tokens, server + path, { ...request, ...(cancelled && { signal: cancelled }) })
        const response = await openCancellable((signal) => open(path, { ...request, signal }), cancelled)
        const isStream = response.headers['content-type']?.startsWith('text/event-stream')
        if (!isStream) return toResult(response, await readBody(response.body, MAX_RESPONSE_BYTES), path)
        const { status, body } = await tracker.readOutcome(response, cancelled)
        return toResult({ status, headers: response.headers }, body, path)
      })
    },
    async *events(path, signal) {
      const response = await open(path, { headers: { accept: 'text/event-stream' }, signal })
      if (!response.ok) toResult(response, await readBody(response.body, MAX_RESPONSE_BYTES), path)
      else yield* readEvents(response.body)
    },
    async download(path) {
      const response = await openCancellable((signal) => open(path, { signal }), cancelled)
      if (!response.ok) toResult(response, await readBody(response.body, MAX_RESPONSE_BYTES), path)
      return response.body
    },
    close: async () => {},
  }
}

async function send<Result>(tokens: AccessTokens, url: string, request: RemoteRequest): Promise<Result> {
  const headers = { ...request.headers, 'accept-encoding': 'gzip' }
  const response = await openAuthorized(tokens, url, { ...request, headers })
  const { pathname, search } = new URL(url)
  return toResult(response, await readBody(response.body, MAX_RESPONSE_BYTES), pathname + search)
}

/** Sends a request with an access token. If the server refuses the token, sends it again with a new one, if there is one. */
async function openAuthorized(tokens: AccessTokens, url: string, request: RemoteRequest): Promise<HttpStream> {
  const sendWith = (token: string) =>
    openResponse(url, { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } })
  const token = await tokens.get()
  const response = await sendWith(token)
  const renewed = response.status === 401 ? await tokens.get(token) : token
  if (renewed === token) return response
  response.body.destroy()
  return sendWith(renewed)
}

async function openResponse(url: string, request: RemoteRequest): Promise<HttpStream> {
  const { origin } = new URL(url)
  // The user names the server, so any address is permitted.
  const response = await openStream(UNRESTRICTED, url, { ...request, idleTimeout: IDLE_TIMEOUT }).catch(
    (error: Error) => {
      throw new Error(describeNetworkError(url, error))
    },
  )
  const redirect = findRedirect(response)
  if (redirect === undefined) return response
  response.body.destroy()
  throw new Error(`${origin} redirects to ${redirect}. Pass that URL with --server.`)
}

/** Sends a request that the signal cancels until the response begins. */
async function openCancellable(
  open: (signal: AbortSignal) => Promise<HttpStream>,
  cancelled: AbortSignal | undefined,
): Promise<HttpStream> {
  const starting = new AbortController()
  const cancel = () => starting.abort(cancelled?.reason)
  cancelled?.addEventListener('abort', cancel)
  return open(starting.signal).finally(() => cancelled?.removeEventListener('abort', cancel))
}

/** Opens the service on a store of its own, or on an empty one in memory, which is discarded. */
async function openOwnService(at: StoreKey, isDiscarded: boolean): Promise<Service> {
  const { openService } = await import('../service/operations/open-service.ts')
  const { openPasswordBlacklists } = await import('../service/context/password-blacklists.ts')
  const { openKeyStoreDirectory } = await import('../service/context/key-store-directory.ts')
  const { openVaultDirectory } = await import('../service/context/vault-directory.ts')
  const { listAuditSinks } = await import('./audit-receivers.ts')
  return openService({
    ...(isDiscarded ? { location: {}, key: randomBytes(32) } : { location: toLocation(at), key: await readKey(at) }),
    passwordBlacklists: openPasswordBlacklists(process.env.REGENT_PASSWORD_LISTS),
    vaultDirectory: openVaultDirectory(process.env.REGENT_VAULT_DIR || undefined),
    // A server delivers the entries.
    auditSinks: listAuditSinks({
      auditLog: process.env[settings.auditLog.variable],
      auditWebhook: process.env[settings.auditWebhook.variable],
    }),
    keyStoreDirectory: openKeyStoreDirectory(process.env.REGENT_KEY_STORE_DIR || undefined),
    searchableClientAttributes: settings.clientSearchableAttributes.schema.parse(
      process.env[settings.clientSearchableAttributes.variable] ?? [],
    ),
  })
}

async function openLocal(
  at: StoreKey,
  missingStore: MissingStorePolicy,
  { tracker, signal }: ConnectionWork,
): Promise<Connection> {
  const { SYSTEM } = await import('../service/context/service.ts')
  const { failure } = await import('../service/context/errors.ts')
  const { bootstrap } = await import('../service/operations/bootstrap.ts')
  const { createServer } = await import('../http/server.ts')
  const isDiscarded = missingStore === 'discard' && !(await hasStore(at))
  if (isDiscarded) printHint(`There is no store in ${describePlace(at)}. This is the plan for a new one.`)
  else if (missingStore === 'create') tracker.newStore = (await reportNewStore(at)) ? describePlace(at) : undefined
  else await requireStore(at)
  const service = await listenToProgress(tracker.report, () => openOwnService(at, isDiscarded)).finally(clearProgress)
  await bootstrap(service)
  const caller = { ...SYSTEM, ...(signal && { deadline: expireOnAbort(signal, failure('timeout', 'Cancelled.')) }) }
  const app = await createServer(service, { caller, progressListener: tracker.report })
  return {
    request: (method, url, { body, headers, reportsProgress } = {}) =>
      tracker.run(method, reportsProgress, async () => {
        const payload = body !== undefined && { payload: body as object }
        const response = await app.inject({ method, url, headers: { accept: ACCEPT, ...headers }, ...payload })
        return toResult(response, response.body, url)
      }),
    async *events(url, signal) {
      const response = await app.inject({ method: 'GET', url, payloadAsStream: true })
      const stream = response.stream()
      signal.addEventListener('abort', () => stream.destroy(), { once: true })
      if (response.statusCode >= 400) toResult(response, await text(stream), url)
      else yield* readEvents(stream)
    },
    async download(url) {
      const response = await app.inject({ method: 'GET', url, payloadAsStream: true })
      if (response.statusCode >= 400) toResult(response, await text(response.stream()), url)
      return response.stream()
    },
    async close() {
      await app.close()
      await service.close()
    },
  }
}

/** The status and the headers of a response, of a server or in this process. */
interface ReceivedHead {
  readonly status?: number
  readonly statusCode?: number
  readonly headers: Readonly<Record<string, unknown>>
}

// A response has the type that the OpenAPI document gives it: server and command are of the same version.
function toResult<Result>(response: ReceivedHead, content: unknown, path: string): Result {
  const body = typeof content === 'string' ? parseJson(content) : content
  const { status = response.statusCode!, headers } = response
  const requestId = headers['x-request-id']
  if (status >= 400) throw new ApiError(status, body, { path, ...(typeof requestId === 'string' && { requestId }) })
  return body as Result
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
