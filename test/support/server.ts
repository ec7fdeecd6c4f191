// A server on the real engine for tests: one database per worker, and as many realms in it as tests ask for.
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { inject } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { bootstrap } from '../../src/service/bootstrap.ts'
import { openService, type Service, type StatementListener } from '../../src/service/service.ts'
import { createDatabase } from './database.ts'

/** An answer, its body parsed. */
export interface TestAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form
  readonly body: any
}

/** A request: a body is JSON, unless it is a text or bytes; `token: null` sends none. */
export interface TestRequest {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly token?: string | null
}

/** A server with an administrator, who calls. */
export interface TestServer {
  readonly service: Service
  readonly app: FastifyInstance
  call(method: string, path: string, request?: TestRequest): Promise<TestAnswer>
  /** A new realm's name. */
  realm(settings?: object): Promise<string>
  /** The statements that the work executes. */
  statements(work: () => Promise<unknown>): Promise<string[]>
  /** Listens; gives its address. Started once. */
  listen(): Promise<string>
}

const shared = globalThis as { regentTestServer?: Promise<TestServer> }

/** The worker's server. */
export function testServer(): Promise<TestServer> {
  shared.regentTestServer ??= start()
  return shared.regentTestServer
}

async function start(): Promise<TestServer> {
  let listener: StatementListener | undefined
  const databaseUrl = inject('databaseUrl')
  const service = await openService({
    location: databaseUrl ? { url: await createDatabase(databaseUrl) } : {},
    key: Buffer.from('the key of all tests, which is long enough'),
    onStatement: (statement) => listener?.(statement),
  })
  await bootstrap(service, { user: 'admin', password: 'admin' })
  const app = await createServer(service, { basePath: '/v1' })
  const token = await logIn(app)
  let address: Promise<string> | undefined

  const call: TestServer['call'] = async (method, path, request = {}) => {
    const { body, headers = {} } = request
    const raw = typeof body === 'string' || Buffer.isBuffer(body)
    const bearer = request.token === undefined ? token : request.token
    const answer = await app.inject({
      method: method as 'GET',
      url: path,
      headers: {
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: raw ? body : JSON.stringify(body) }),
    })
    return { status: answer.statusCode, headers: answer.headers, body: parsed(answer.body) }
  }
  return {
    service,
    app,
    call,
    async realm(settings = {}) {
      const name = `test-${randomUUID().slice(0, 8)}`
      const { status, body } = await call('POST', '/admin/realms', { body: { realm: name, enabled: true, ...settings } })
      if (status !== 201) throw new Error(`no realm: ${status} ${JSON.stringify(body)}`)
      return name
    },
    async statements(work) {
      const seen: string[] = []
      listener = ({ sql }) => seen.push(sql)
      await work()
      listener = undefined
      return seen
    },
    listen() {
      address ??= app.listen({ host: '127.0.0.1', port: 0 })
      return address
    },
  }
}

async function logIn(app: FastifyInstance): Promise<string> {
  const answer = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
  })
  if (answer.statusCode !== 200) throw new Error(`no token: ${answer.statusCode} ${answer.body}`)
  return answer.json<{ access_token: string }>().access_token
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
