// A server on the engine under test: one per worker, in which each test creates realms.
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { createServer } from '../../src/http/server.ts'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { startOutbox } from '../../src/service/messages/outbox.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { startWorkflowRunner } from '../../src/service/workflows/run-steps.ts'
import { expectDescribedResponse } from './described-responses.ts'
import { testService, withoutCounting } from './service.ts'

/** A response with its parsed body. */
export interface TestResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every form
  readonly body: any
}

/** A request. The body is JSON, unless it is a text; `token: null` sends no token. */
export interface TestRequest {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly token?: string | null
}

/** A server, with functions to call it as an administrator. */
export interface TestServer {
  readonly app: FastifyInstance
  call(method: string, path: string, request?: TestRequest): Promise<TestResponse>
  /** Returns an access token of the administrator. */
  adminToken(): Promise<string>
  /** Logs the administrator in, so that no call of the next half minute logs in, which would execute more statements. */
  logIn(): Promise<void>
  /** Creates a realm, and returns its address below /admin/realms. */
  createRealm(settings?: object): Promise<string>
  /** Creates an object, and returns its address. Throws if it fails. */
  create(path: string, body: object): Promise<string>
  /** Starts listening, and returns the address. */
  listen(): Promise<string>
}

declare global {
  var openTestServer: Promise<TestServer> | undefined
}

/** Milliseconds after which a token is replaced. It is valid for a minute. */
const TOKEN_AGE = 30_000

/** Returns the server of the worker. */
export function testServer(): Promise<TestServer> {
  globalThis.openTestServer ??= start()
  return globalThis.openTestServer
}

async function start(): Promise<TestServer> {
  const { service } = await testService()
  await bootstrap(service, { user: 'admin', password: 'admin' })
  await startOutbox(service, deliverers, () => {}).whenIdle()
  await startWorkflowRunner(service, () => {}).whenIdle()
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
  const call: TestServer['call'] = async (method, path, { body, headers = {}, token: requestToken } = {}) => {
    const bearer = requestToken === undefined ? await adminToken() : requestToken
    const response = await app.inject({
      method: method as 'GET',
      url: path,
      headers: {
        // Some operations return YAML to callers without a preference.
        accept: 'application/json, */*;q=0.5',
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const result = { status: response.statusCode, headers: response.headers, body: parseBody(response.body) }
    expectDescribedResponse(method, path, result)
    return result
  }
  const create: TestServer['create'] = async (path, body) => {
    const response = await call('POST', path, { body })
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`)
    return new URL(String(response.headers.location)).pathname
  }
  const createRealm: TestServer['createRealm'] = (settings = {}) =>
    create('/admin/realms', { realm: `test-${randomUUID().slice(0, 8)}`, enabled: true, ...settings })
  return {
    app,
    call,
    adminToken,
    logIn,
    create,
    createRealm,
    listen() {
      address ??= app.listen({ host: '127.0.0.1', port: 0 })
      return address
    },
  }
}

async function newToken(app: FastifyInstance): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
  })
  if (response.statusCode !== 200) throw new Error(`no token: ${response.statusCode} ${response.body}`)
  return response.json<{ access_token: string }>().access_token
}

function parseBody(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
