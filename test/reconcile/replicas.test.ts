// Two server processes with one PostgreSQL database: one applies the sources, and one that was paused meanwhile commits nothing.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, test as baseTest, beforeAll, expect, inject } from 'vitest'
import { type CommandFolder, createCommandFolder, type RunningServer } from '../support/cli.ts'

const test = baseTest.runIf(inject('databaseUrl'))

let at: CommandFolder
let database: pg.Client
let locking: pg.Client
let applying: RunningServer
let waiting: RunningServer

beforeAll(async () => {
  if (!inject('databaseUrl')) return
  at = await createCommandFolder()
  database = new pg.Client(at.database)
  await database.connect()
  locking = new pg.Client(at.database)
  await locking.connect()
  await declare('Begun')
  const serve = () => at.serve('--source', 'acme.yaml', '--source-lease', '3', '--source-interval', '1')
  applying = await serve()
  waiting = await serve()
})
afterAll(async () => {
  await database?.end()
  await locking?.end()
  await at?.remove()
})

const declare = (name: string) => writeFile(join(at.folder, 'acme.yaml'), `realm: acme\ndisplayName: ${name}\n`)

/** The display names of the realm, in order. */
const listNames = async () => {
  const { rows } = await database.query<{ to: string }>(`
    select c ->> 'to' as to from history h, jsonb_array_elements(h.plan -> 'actions') a, jsonb_array_elements(a -> 'changes') c
    where c ->> 'path' = 'displayName' order by h.number`)
  return rows.map(({ to }) => to)
}

/** Pauses the server that holds the lease; the other one takes over and applies a change; then the first one continues. */
async function takeOver(change: string): Promise<void> {
  applying.pause()
  await locking.query('rollback')
  const takenOver = waiting.until(`→ ${change}`)
  await declare(change)
  expect(await takenOver).toContain('This server now applies the sources.')
  const standby = applying.until('takes over when that one stops')
  applying.resume()
  expect(await standby).toContain('Another server has taken over')
  ;[applying, waiting] = [waiting, applying]
}

test('a server that is paused beyond its lease is replaced, and waits for the lease when it continues', async () => {
  expect(waiting.output()).toMatch(/The server \S+ applies the sources. This one takes over when that one stops/)
  expect(await fetch(`${waiting.url}/health/ready`)).toMatchObject({ status: 200 })
  await takeOver('Taken over')
  expect(await listNames()).toEqual(['Begun', 'Taken over'])
})

test.for([
  ['before its transaction', 'lock table inventory in access exclusive mode', 'from inventory'],
  [
    'within its transaction',
    `select pg_advisory_xact_lock(1, number) from realm where name = 'acme'`,
    'pg_advisory_xact_lock',
  ],
  ['between its lease check and its commit', 'select from lease for update', 'for share'],
])('a run of a server that is paused %s is not committed', async ([moment, lock, statement]) => {
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1`
  await locking.query('begin')
  await locking.query(lock!)
  await declare('Lost')
  const countWaiting = async () => (await database.query(waits, [`%${statement}%`])).rowCount
  await expect.poll(countWaiting, { timeout: 60_000 }).toBeGreaterThan(0)
  await takeOver(moment!)
  expect(await listNames()).not.toContain('Lost')
})

test('a request about a source reaches the server that applies it, whichever server receives it', async () => {
  const read = applying.until('test at sha256:')
  const account = ['--server', waiting.url, '--user', 'admin', '--password', 'admin']
  expect(await at.run('source', 'force', 'test', ...account)).toMatchObject({ code: 0 })
  await read
})

test('a temporary failure is retried automatically', async () => {
  const failed = applying.until('cannot be applied now')
  await database.query('alter table history rename to renamed_history')
  await declare('Tried again')
  expect(await failed).toContain('acme.yaml')
  const readStatus = async () => (await database.query('select status from source')).rows[0].status
  const readNextTry = async () => (await readStatus()).nextTryAt as string | undefined
  await expect.poll(readNextTry, { timeout: 60_000 }).toBeDefined()
  const first = await readNextTry()
  await expect.poll(readNextTry, { timeout: 60_000 }).not.toBe(first)
  expect(await readStatus()).toMatchObject({ reconciling: { status: 'True', reason: 'Retrying' } })
  const again = applying.until('can be applied again')
  await database.query('alter table renamed_history rename to history')
  expect(await again).toContain('→ Tried again')
  await expect.poll(readStatus, { timeout: 60_000 }).not.toHaveProperty('nextTryAt')
})

test('a server that stops releases the lease, and the other one takes over', async () => {
  const next = waiting.until('This server now applies the sources.')
  expect(await applying.stop()).toBe(0)
  await next
  const applied = waiting.until('→ At last')
  await declare('At last')
  await applied
})
