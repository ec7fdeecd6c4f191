// A server on the engine under test: one per worker, with as many realms as tests ask for.
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { createServer } from '../../src/http/server.ts'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { startOutbox } from '../../src/service/messages/outbox.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { expectDescribedResponse } from './described.ts'
import { testService, withoutCounting } from './service.ts'

/** An answer, its body parsed. */
export interface TestResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form
  readonly body: any
}

/** A request: a body is JSON, unless it is a text; `token: null` sends none. */
export interface TestRequest {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly token?: string | null
}

/** A server with an administrator, who calls. */
export interface TestServer {
  readonly app: FastifyInstance
  call(method: string, path: string, request?: TestRequest): Promise<TestResponse>
  /** The administrator's token. */
  adminToken(): Promise<string>
  /** Logs the administrator in, so that no call of the next half minute does, which would write. */
  logIn(): Promise<void>
  /** A new realm's address under /admin/realms. */
  realm(settings?: object): Promise<string>
  /** Makes an object and gives its address. Fails when it cannot be made. */
  make(path: string, body: object): Promise<string>
  /** Listens; gives its address. */
  listen(): Promise<string>
}

declare global {
  var openTestServer: Promise<TestServer> | undefined
}

/** An administrator's token is valid for a minute. */
const TOKEN_AGE = 30_000

/** The worker's server. */
export function testServer(): Promise<TestServer> {
  globalThis.openTestServer ??= start()
  return globalThis.openTestServer
}

async function start(): Promise<TestServer> {
  const { service } = await testService()
  await bootstrap(service, { user: 'admin', password: 'admin' })
  await startOutbox(service, deliverers, () => {}).whenIdle()
  const app = await createServer(service, { basePath: '/v1' })
  let token = { text: '', at: 0 }
  let address: Promise<string> | undefined

  const logIn = async () => {
    token = { text: await withoutCounting.run(true, () => newToken(app)), at: Date.now() }
  }
  const adminToken = async () => {
    if (Date.now() - token.at > TOKEN_AGE) await logIn()
    return token.text
  }
  const call: TestServer['call'] = async (method, path, { body, headers = {}, token: own } = {}) => {
    const bearer = own === undefined ? await adminToken() : own
    const answer = await app.inject({
      method: method as 'GET',
      url: path,
      headers: {
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const result = { status: answer.statusCode, headers: answer.headers, body: parseBody(answer.body) }
    expectDescribedResponse(method, path, result)
    return result
  }
  const make: TestServer['make'] = async (path, body) => {
    const answer = await call('POST', path, { body })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return new URL(String(answer.headers.location)).pathname
  }
  return {
    app,
    call,
    adminToken,
    logIn,
    make,
    realm: (settings = {}) =>
      make('/admin/realms', { realm: `test-${randomUUID().slice(0, 8)}`, enabled: true, ...settings }),
    listen() {
      address ??= app.listen({ host: '127.0.0.1', port: 0 })
      return address
    },
  }
}

async function newToken(app: FastifyInstance): Promise<string> {
  const answer = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
  })
  if (answer.statusCode !== 200) throw new Error(`no token: ${answer.statusCode} ${answer.body}`)
  return answer.json<{ access_token: string }>().access_token
}

function parseBody(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
