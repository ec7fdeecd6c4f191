// An apply that is killed at any step leaves its realm as it was or as it was to be, history and status say which, and the next
// apply finishes it. More steps, and a larger realm: `npm run campaign:kill`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { readFileSource } from '../../src/reconcile/read/file-source.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import type { StoreLocation } from '../../src/service/context/store-types.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { DONE, KILL_REQUEST, type KilledApplyOptions } from '../support/killed-apply.ts'
import { isFullRun } from '../support/property-options.ts'
import { newDatabase } from '../support/service.ts'
import { withoutDeletionGuards } from '../support/sources.ts'

const STEPS = Number(process.env.REGENT_STEPS ?? 3)
const CLIENTS = Number(process.env.REGENT_CLIENTS ?? 10)
const PEOPLE = Number(process.env.REGENT_PEOPLE ?? 20)

const SOURCE = 'documents'

const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const location: StoreLocation = inject('databaseUrl') ? await newDatabase() : { folder: join(folder, 'data') }
const key = Buffer.alloc(32)

/** A realm in one of two states, of which each has objects that the other one lacks, and all differ. */
async function state(realm: string, name: string) {
  const many = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
  const both = (count: number, what: string) => [
    ...many(Math.ceil(count * 0.9), what),
    ...many(Math.floor(count * 0.1), `${name}-${what}`),
  ]
  const document = {
    realm,
    displayName: name,
    roles: { realm: [{ name: 'staff', description: name }] },
    groups: [{ name: 'all', attributes: { state: [name] } }],
    clients: both(CLIENTS, 'client').map((clientId) => ({
      clientId,
      description: name,
      redirectUris: [`https://${clientId}.example.com/${name}`],
    })),
    users: both(PEOPLE, 'person').map((username, at) => ({
      username,
      email: `${username}@${name}.example.com`,
      enabled: true,
      realmRoles: at % 2 ? ['staff'] : [],
      groups: ['/all'],
    })),
  }
  const file = join(folder, `${realm}-${name}.json`)
  await writeFile(file, JSON.stringify(document))
  return readFileSource(file, { name: SOURCE, displayName: SOURCE, env: {}, isAllowed: () => false }).then((read) => ({
    ...read,
    settings: { guards: withoutDeletionGuards },
    realm,
    file,
  }))
}

type State = Awaited<ReturnType<typeof state>>
type Step = NonNullable<KilledApplyOptions['step']>

/** Runs the child to its end, whatever that is. Gives the lines that it has told. */
async function child({ file, settings }: State, step?: KilledApplyOptions['step']): Promise<string[]> {
  const errand: KilledApplyOptions = {
    location,
    key: key.toString('base64url'),
    file,
    source: SOURCE,
    settings,
    ...(step && { step }),
  }
  const entry = join(import.meta.dirname, '..', 'support', 'killed-apply.ts')
  const process_ = spawn(process.execPath, [entry, JSON.stringify(errand)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(process_, 'close')
  let errors = ''
  process_.stderr.on('data', (text) => {
    errors += text
  })
  const lines: string[] = []
  for await (const line of createInterface(process_.stdout)) {
    if (line === KILL_REQUEST) process_.kill('SIGKILL')
    else lines.push(line)
  }
  const [code, signal] = await ended
  if (step ? signal !== 'SIGKILL' && lines.at(-1) !== DONE : code !== 0) throw new Error(`the child failed: ${errors}`)
  await forgotten()
  return lines
}

/** PostgreSQL ends what a process that is gone was about to do when it notices. */
async function forgotten(): Promise<void> {
  if (!location.url) return
  const client = new pg.Client(location.url)
  await client.connect()
  try {
    for (;;) {
      const { rows } = await client.query(
        'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = $1',
        ['client backend'],
      )
      if (!rows.length) return
    }
  } finally {
    await client.end()
  }
}

/** All rows when the store was closed. */
let left: Rows = {}

/** Opens the store again, as the next process would, and closes it. */
async function reopened<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const service = await openService({ location, key })
  try {
    const result = await work(service)
    left = await rowsOf(service)
    return result
  } finally {
    await service.close()
  }
}

type Rows = Record<string, { rows: number; sum: string }>

/** Each table: how many rows, and a sum of them all that any change of any of them changes. */
function rowsOf(service: Service): Promise<Rows> {
  return service.query(async (db) => {
    const { rows: tables } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(db)
    const all: Rows = {}
    for (const { name } of tables) {
      const { rows } = await sql<{ rows: number; sum: string }>`
        select count(*)::integer as rows, coalesce(sum(hashtextextended(t::text, 0)), 0)::text as sum
        from ${sql.table(name)} t`.execute(db)
      all[name] = rows[0]!
    }
    return all
  })
}

/** How many rows there are of what is live: the past grows. */
function counts(rows: Rows): Record<string, number> {
  const past = ['journal', 'user_journal', 'history', 'admin_event', 'deleted_realm']
  return Object.fromEntries(
    Object.entries(rows).flatMap(([table, { rows }]) => (past.includes(table) ? [] : [[table, rows]])),
  )
}

/** What history, the list of sources and drift say over REST. */
async function told(service: Service, realm: string) {
  const app = await createServer(service, { caller: SYSTEM })
  const get = async (url: string) => {
    const answer = await app.inject({ url })
    return answer.statusCode === 200 ? answer.json() : answer.statusCode
  }
  const history = await get(`/regent/v1/history/${realm}`)
  const sources = (await get('/regent/v1/sources')) as { realm: string; revision: string }[]
  const drift = await get(`/regent/v1/drift?realm=${realm}`)
  await app.close()
  return {
    history: history === 404 ? undefined : history[0].sources[0]?.revision,
    source: sources.find((one) => one.realm === realm)?.revision,
    drift: history === 404 ? [] : drift,
  }
}

/** Whether the store says one thing only: that the realm is in this state, or is not there. */
const saying = (state: State | undefined) => ({ history: state?.revision, source: state?.revision, drift: [] })

const apply = (service: Service, state: State) =>
  applySources(service, { actor: { kind: 'source', source: SOURCE } }, [state])

/** So many steps of a run whose lines these are: at its decisive points, and evenly between them. */
function stepsOf(lines: readonly string[], count: number): Step[] {
  const last = decisive(lines)
  const chosen = [last - 1, last, lines.indexOf('lock'), 0].map((lines) => ({ lines, when: 'after' as const }))
  const between = count - chosen.length
  for (let at = 0; at < between; at++)
    chosen.push({ lines: 1 + Math.floor(((last - 2) * at) / between), when: at % 2 ? 'after' : 'during' } as never)
  return chosen.slice(0, count)
}

/** The line after which the work is kept. */
function decisive(lines: readonly string[]): number {
  const commit = lines.findLastIndex((line) => line.startsWith('commit'))
  return commit < 0 ? lines.indexOf(DONE) : commit
}

const ended = { before: 0, after: 0 }

/** A run that nobody kills: its lines, and how many rows there are afterwards. */
interface Measured {
  readonly lines: readonly string[]
  readonly whole: Record<string, number>
}

async function measured(state: State): Promise<Measured> {
  const lines = await child(state)
  await reopened(async () => {})
  return { lines, whole: counts(left) }
}

/** Removes a realm over REST. */
function removed(realm: string): Promise<void> {
  return reopened(async (service) => {
    const app = await createServer(service, { caller: SYSTEM })
    expect((await app.inject({ method: 'DELETE', url: `/admin/realms/${realm}` })).statusCode).toBe(204)
    await app.close()
  })
}

/** Kills an apply at the step, and finishes it. Fails where anything is half. */
async function killedAt(step: Step, { lines, whole }: Measured, from: State | undefined, to: State): Promise<void> {
  const before = left
  const name = `${step.when} ${(await child(to, step)).at(-1)}`
  await reopened(async (service) => {
    const rows = await rowsOf(service)
    const said = await told(service, to.realm)
    const kept = said.history === to.revision
    expect(said, name).toEqual(saying(kept ? to : from))
    if (step.when === 'after') expect(kept, name).toBe(step.lines >= decisive(lines))
    ended[kept ? 'after' : 'before']++
    if (!kept) expect(rows, name).toEqual(before)
    await apply(service, to)
    const now = await rowsOf(service)
    expect(counts(now), name).toEqual(whole)
    expect(await told(service, to.realm), name).toEqual(saying(to))
    if (kept) expect(now, name).toEqual(rows)
    // Another source, which trusts no row of the first one, finds everything as it states it.
    const { realms } = await planSources(service, SYSTEM, [{ ...to, name: 'somebody else' }])
    expect(realms[0]!.plan.actions, name).toEqual([])
  })
}

test.runIf(isFullRun)(
  'an apply that is killed at any step is done whole, or not at all, and the next one finishes it',
  async () => {
    await reopened((service) => bootstrap(service))
    const half = Math.ceil(STEPS / 2)

    const made = await measured(await state('made', 'first'))
    await removed('made')
    for (const [at, step] of stepsOf(made.lines, half).entries()) {
      await killedAt(step, made, undefined, await state(`made-${at}`, 'first'))
      await removed(`made-${at}`)
    }

    let [from, to] = [await state('changed', 'second'), await state('changed', 'first')]
    await reopened((service) => apply(service, to))
    const changed = await measured(from)
    for (const step of stepsOf(changed.lines, STEPS - half)) {
      await killedAt(step, changed, from, to)
      ;[from, to] = [to, from]
    }
    expect(ended.before).toBeGreaterThan(0)
    expect(ended.after).toBeGreaterThan(0)
    if (process.env.REGENT_STEPS)
      console.log(
        `${STEPS} steps of ${made.lines.length} and ${changed.lines.length}: ${ended.before} as before, ${ended.after} as after`,
      )
  },
  3_600_000,
)
