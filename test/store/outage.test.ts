// A database that cannot be reached: requests get the status 503, and are served again as soon as it is back.
import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type Relay, startRelay } from '../support/tcp-relay.ts'

/** Milliseconds within which requests are served again, on a busy machine. */
const LIMIT = 20_000
const CLIENTS = 12
/** Crashes of the database, and the milliseconds between them. */
const CRASHES = 3
const PAUSE = 700

describe.runIf(inject('databaseUrl'))('a database that cannot be reached', () => {
  const opened: { close(): Promise<unknown> }[] = []
  let postgres: TestPostgres
  let relay: Relay
  let app: FastifyInstance
  let log = ''
  let token = ''
  let url = ''

  beforeAll(async () => {
    // The test crashes the database, so that it has a server of its own.
    postgres = await startPostgres()
    url = postgres.url
    await execute('alter database postgres set synchronous_commit = on')
    relay = await startRelay(new URL(url))
    const location = { url: Object.assign(new URL(url), { port: relay.port }).href }
    const service = await openService({ location, key: new Uint8Array(32) })
    await bootstrap(service, { user: 'admin', password: 'admin' })
    const logTo = new Writable({
      write(line, _encoding, done) {
        log += line
        done()
      },
    })
    app = await createServer(service, { logLevel: 'info', logTo })
    opened.push(app, service, relay)
    token = await requestToken()
  })
  afterAll(async () => {
    relay.restore()
    for (const resource of opened) await resource.close()
    await postgres.stop()
  })

  /** Connects, also to a database that still recovers from a crash (code 57P03). */
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      if ((error as { code?: string }).code !== '57P03') throw error
      await setTimeout(100)
      return connect()
    }
  }
  const execute = async (statement: string) => {
    const client = await connect()
    return client.query(statement).finally(() => client.end())
  }
  /** Kills a process of the database, which then ends all connections and recovers from its log. */
  const crashPostgres = async () => {
    const client = await connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    process.kill(rows[0].pid, 'SIGKILL')
    await client.end().catch(() => {})
  }
  const getStatus = async () => (await send('GET', '/admin/realms/master/users')).statusCode

  const requestToken = async () => {
    const response = await send('POST', '/realms/master/protocol/openid-connect/token', {
      payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    return response.json().access_token as string
  }
  const send = (method: 'GET' | 'POST', path: string, options: object = {}) =>
    app.inject({ method, url: path, headers: { authorization: `Bearer ${token}` }, ...options })
  const createRole = (name: string) =>
    send('POST', '/admin/realms/master/roles', {
      payload: JSON.stringify({ name }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })

  test('every interface responds 503 with Retry-After, and the outage is logged once', async () => {
    relay.cut()
    log = ''
    const responses = await Promise.all([
      ...Array.from({ length: 10 }, () => send('GET', '/admin/realms/master/users')),
      createRole('during-the-outage'),
      send('GET', '/regent/v1/drift'),
      send('POST', '/realms/master/protocol/openid-connect/token', {
        payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
      send('GET', '/realms/master/protocol/openid-connect/certs'),
    ])
    for (const { statusCode, headers, body } of responses) {
      expect({ statusCode, retryAfter: headers['retry-after'] }).toEqual({ statusCode: 503, retryAfter: '1' })
      expect(JSON.parse(body).error).toBe('temporarily_unavailable')
    }
    expect((await send('GET', '/health/ready')).statusCode).toBe(503)
    expect((await send('GET', '/health/live')).statusCode).toBe(200)
    expect(log.match(/The database cannot be reached/g)).toHaveLength(1)
    relay.restore()
    await expect.poll(getStatus, { timeout: LIMIT, interval: 20 }).toBe(200)
    await expect.poll(() => log, { timeout: LIMIT }).toContain('The database is reachable again')
    expect((await send('GET', '/admin/realms/master/roles/during-the-outage')).statusCode).toBe(404)
  })

  test('after a restart of the database, the first read succeeds, although all idle connections are broken', async () => {
    await Promise.all(Array.from({ length: CLIENTS }, () => send('GET', '/admin/realms/master/users')))
    relay.cut()
    relay.restore()
    expect((await send('GET', '/admin/realms/master/users')).statusCode).toBe(200)
  })

  test('when the database crashes under load, no response is a fault, and no acknowledged write is lost', async () => {
    const acknowledged: string[] = []
    const statuses = new Set<number>()
    let isOver = false
    const work = async (at: number) => {
      while (!isOver) {
        const name = randomUUID()
        const response = at % 2 ? await createRole(name) : await send('GET', '/admin/realms/master/users?max=5')
        statuses.add(response.statusCode)
        if (response.statusCode === 201) acknowledged.push(name)
        else await setTimeout(5)
      }
    }
    const workers = Array.from({ length: CLIENTS }, (_, at) => work(at))
    try {
      for (let crash = 0; crash < CRASHES; crash++) {
        await setTimeout(PAUSE)
        await crashPostgres()
        await expect.poll(getStatus, { timeout: LIMIT, interval: 20 }).toBe(200)
      }
    } finally {
      isOver = true
      await Promise.all(workers)
    }
    expect([...statuses].sort()).toEqual([200, 201, 503])
    const names = new Set((await execute('select name from role where client is null')).rows.map(({ name }) => name))
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([])
    expect(acknowledged.length).toBeGreaterThan(CRASHES)
  })
})
