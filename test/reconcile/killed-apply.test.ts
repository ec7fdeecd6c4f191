// An apply that is killed at any step leaves the realm in the state before or after it, which history and source status show, and the next
// apply completes it. `npm run campaign:kill` runs more steps on a larger realm.
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
const USERS = Number(process.env.REGENT_USERS ?? 20)

const SOURCE = 'documents'

const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const location: StoreLocation = inject('databaseUrl') ? await newDatabase() : { folder: join(folder, 'data') }
const key = Buffer.alloc(32)

/** Writes a file with a realm in one of two states. Each state has objects that the other one lacks, and all fields differ. */
async function createState(realm: string, name: string) {
  const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
  const createNames = (count: number, prefix: string) => [
    ...numbered(Math.ceil(count * 0.9), prefix),
    ...numbered(Math.floor(count * 0.1), `${name}-${prefix}`),
  ]
  const document = {
    realm,
    displayName: name,
    roles: { realm: [{ name: 'staff', description: name }] },
    groups: [{ name: 'all', attributes: { state: [name] } }],
    clients: createNames(CLIENTS, 'client').map((clientId) => ({
      clientId,
      description: name,
      redirectUris: [`https://${clientId}.example.com/${name}`],
    })),
    users: createNames(USERS, 'user').map((username, at) => ({
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

type State = Awaited<ReturnType<typeof createState>>
type Step = NonNullable<KilledApplyOptions['step']>

/** Runs the child process until it ends or is killed, and returns the lines that it has printed. */
async function runChild({ file, settings }: State, step?: KilledApplyOptions['step']): Promise<string[]> {
  const options: KilledApplyOptions = {
    location,
    key: key.toString('base64url'),
    file,
    source: SOURCE,
    settings,
    ...(step && { step }),
  }
  const entry = join(import.meta.dirname, '..', 'support', 'killed-apply.ts')
  const childProcess = spawn(process.execPath, [entry, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(childProcess, 'close')
  let errors = ''
  childProcess.stderr.on('data', (text) => {
    errors += text
  })
  const lines: string[] = []
  for await (const line of createInterface(childProcess.stdout)) {
    if (line === KILL_REQUEST) childProcess.kill('SIGKILL')
    else lines.push(line)
  }
  const [code, signal] = await closed
  if (step ? signal !== 'SIGKILL' && lines.at(-1) !== DONE : code !== 0) throw new Error(`the child failed: ${errors}`)
  await waitForDisconnect()
  return lines
}

/** Waits until PostgreSQL has closed the connections of the killed process. */
async function waitForDisconnect(): Promise<void> {
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

/** The rows when the store was last closed. */
let lastRows: Rows = {}

/** Opens the store as the next process would, does the work, and closes the store. */
async function withService<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const service = await openService({ location, key })
  try {
    const result = await work(service)
    lastRows = await digestRows(service)
    return result
  } finally {
    await service.close()
  }
}

type Rows = Record<string, { rows: number; sum: string }>

/** Returns the number of rows of each table, and a checksum of them. */
function digestRows(service: Service): Promise<Rows> {
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

/** Returns the number of rows of each table, except of history tables, which grow with each run. */
function countRows(rows: Rows): Record<string, number> {
  const historyTables = ['journal', 'user_journal', 'history', 'admin_event', 'deleted_realm']
  return Object.fromEntries(
    Object.entries(rows).flatMap(([table, { rows }]) => (historyTables.includes(table) ? [] : [[table, rows]])),
  )
}

/** Returns the latest revision, the revision of the source, and drift, as REST shows them. */
async function readStatus(service: Service, realm: string) {
  const app = await createServer(service, { caller: SYSTEM })
  const get = async (url: string) => {
    const response = await app.inject({ url })
    return response.statusCode === 200 ? response.json() : response.statusCode
  }
  const history = await get(`/regent/v1/history/${realm}`)
  const sources = (await get('/regent/v1/sources')) as { realm: string; revision: string }[]
  const drift = await get(`/regent/v1/drift?realm=${realm}`)
  await app.close()
  return {
    history: history === 404 ? undefined : history[0].sources[0]?.revision,
    source: sources.find((source) => source.realm === realm)?.revision,
    drift: history === 404 ? [] : drift,
  }
}

/** Returns the status of a realm in the state, or of a realm that does not exist. */
const toStatus = (state: State | undefined) => ({ history: state?.revision, source: state?.revision, drift: [] })

const apply = (service: Service, state: State) =>
  applySources(service, { actor: { kind: 'source', source: SOURCE } }, [state])

/** Returns the given number of steps of a run with these lines: around its lock and commit, and evenly between them. */
function chooseSteps(lines: readonly string[], count: number): Step[] {
  const last = findCommit(lines)
  const steps = [last - 1, last, lines.indexOf('lock'), 0].map((lines) => ({ lines, when: 'after' as const }))
  const remaining = count - steps.length
  for (let at = 0; at < remaining; at++)
    steps.push({ lines: 1 + Math.floor(((last - 2) * at) / remaining), when: at % 2 ? 'after' : 'during' } as never)
  return steps.slice(0, count)
}

/** Returns the index of the line after which the changes are durable. */
function findCommit(lines: readonly string[]): number {
  const commit = lines.findLastIndex((line) => line.startsWith('commit'))
  return commit < 0 ? lines.indexOf(DONE) : commit
}

const outcomes = { before: 0, after: 0 }

/** A complete run: its lines, and the numbers of rows afterwards. */
interface CompleteRun {
  readonly lines: readonly string[]
  readonly rowCounts: Record<string, number>
}

async function runCompletely(state: State): Promise<CompleteRun> {
  const lines = await runChild(state)
  await withService(async () => {})
  return { lines, rowCounts: countRows(lastRows) }
}

/** Deletes a realm by REST. */
function deleteRealm(realm: string): Promise<void> {
  return withService(async (service) => {
    const app = await createServer(service, { caller: SYSTEM })
    expect((await app.inject({ method: 'DELETE', url: `/admin/realms/${realm}` })).statusCode).toBe(204)
    await app.close()
  })
}

/** Kills an apply at the step, and completes it. Fails if the realm is in neither state in between. */
async function killAt(
  step: Step,
  { lines, rowCounts, from, to }: CompleteRun & { readonly from: State | undefined; readonly to: State },
): Promise<void> {
  const before = lastRows
  const name = `${step.when} ${(await runChild(to, step)).at(-1)}`
  await withService(async (service) => {
    const rows = await digestRows(service)
    const status = await readStatus(service, to.realm)
    const isApplied = status.history === to.revision
    expect(status, name).toEqual(toStatus(isApplied ? to : from))
    if (step.when === 'after') expect(isApplied, name).toBe(step.lines >= findCommit(lines))
    outcomes[isApplied ? 'after' : 'before']++
    if (!isApplied) expect(rows, name).toEqual(before)
    await apply(service, to)
    const now = await digestRows(service)
    expect(countRows(now), name).toEqual(rowCounts)
    expect(await readStatus(service, to.realm), name).toEqual(toStatus(to))
    if (isApplied) expect(now, name).toEqual(rows)
    // Another source ignores the inventory of the first one, and compares every object.
    const { realms } = await planSources(service, SYSTEM, [{ ...to, name: 'another source' }])
    expect(realms[0]!.plan.actions, name).toEqual([])
  })
}

test.runIf(isFullRun)(
  'an apply that is killed at any step is applied completely or not at all, and the next apply completes it',
  async () => {
    await withService((service) => bootstrap(service))
    const half = Math.ceil(STEPS / 2)

    const creation = await runCompletely(await createState('created', 'first'))
    await deleteRealm('created')
    for (const [at, step] of chooseSteps(creation.lines, half).entries()) {
      await killAt(step, { ...creation, from: undefined, to: await createState(`created-${at}`, 'first') })
      await deleteRealm(`created-${at}`)
    }

    let [from, to] = [await createState('updated', 'second'), await createState('updated', 'first')]
    await withService((service) => apply(service, to))
    const update = await runCompletely(from)
    for (const step of chooseSteps(update.lines, STEPS - half)) {
      await killAt(step, { ...update, from, to })
      ;[from, to] = [to, from]
    }
    expect(outcomes.before).toBeGreaterThan(0)
    expect(outcomes.after).toBeGreaterThan(0)
    if (process.env.REGENT_STEPS)
      console.log(
        `${STEPS} steps of ${creation.lines.length} and ${update.lines.length}: ${outcomes.before} as before, ${outcomes.after} as after`,
      )
  },
  3_600_000,
)
