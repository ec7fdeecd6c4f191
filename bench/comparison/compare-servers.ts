// Compares Regent with Keycloak and with a minimal server: the same requests to each in turns, on the same PostgreSQL server.
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { quantile } from '../measure.ts'
import { startServer } from '../server-process.ts'
import { AdminClient } from './admin-client.ts'
import { type CaseRequest, COMPARISON_CASES, type ComparisonCase } from './comparison-cases.ts'
import { type LoadClient, startLoadClient } from './load.ts'
import type { Load } from './load-process.ts'
import { createMeasuredRealm, type MeasuredRealm, SIZE } from './measured-realm.ts'

const ROUNDS = 5
/** Seconds of each case per server and round. */
const SECONDS = 1.5
/** Requests to each server before the first round, and at most so many seconds for each case. */
const WARM_UP = { requests: 20_000, seconds: 3 } as const

/** The options of a comparison. */
export interface ComparisonOptions {
  /** The URL of Keycloak; empty to leave it out. */
  readonly reference: string
  /** The URL of an empty database for Regent, on the PostgreSQL server that Keycloak uses. */
  readonly database: string
  /** The file for the table. Absent: it is only printed. */
  readonly file?: string
  /** A part of the names of the measured cases, by default all. */
  readonly only?: string
  readonly rounds?: number
  /** Number of Regent's processes, 1 by default. */
  readonly workers?: number
}

type TargetName = 'Regent' | 'Keycloak' | 'minimal'

/** A server with its realm. */
interface Target {
  readonly name: TargetName
  readonly url: string
  readonly admin: AdminClient
  readonly realm: MeasuredRealm
  /** The number of the next request of each case. */
  readonly next: Map<string, number>
}

/** The measurements of a case in each round. */
interface CaseResult {
  readonly rates: Record<TargetName, number[]>
  readonly p99: Record<TargetName, number[]>
  readonly clientMilliseconds: number[]
}

/** Measures all cases, and prints the table. */
export async function compareServers(options: ComparisonOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const database = new pg.Client({ connectionString: options.database })
  await database.connect()
  const keyFile = join(folder, 'key')
  await writeFile(keyFile, randomBytes(32).toString('base64'))
  const workers = options.workers ?? 1
  const flags = ['--source=', '--database', options.database, '--key-file', keyFile, '--workers', String(workers)]
  const regent = await startServer({ folder, flags })
  const bare = await startBareServer(options.database)
  const client = startLoadClient()
  try {
    const createTarget = async (name: TargetName, url: string): Promise<Target> => {
      const admin = new AdminClient(url)
      return { name, url, admin, realm: await createMeasuredRealm(admin), next: new Map() }
    }
    const targets = [await createTarget('Regent', regent.url)]
    if (options.reference) targets.push(await createTarget('Keycloak', options.reference))
    targets.push({ ...targets[0]!, name: 'minimal', url: bare.url, next: new Map() })
    const cases = COMPARISON_CASES.filter(({ name }) => name.includes(options.only ?? ''))
    await copyResponses(database, targets[0]!, cases)
    await database.query('vacuum analyze')
    const rounds = options.rounds ?? ROUNDS
    const results = await measureCases(client, targets, cases, rounds)
    const table = renderTable(cases, results)
    console.log(`\n${table}`)
    if (options.file)
      await writeFile(options.file, renderPage(table, { rounds, workers }) + (await readFurtherSections(options.file)))
  } finally {
    client.close()
    bare.close()
    await regent.stop()
    await database.end()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureCases(
  client: LoadClient,
  targets: readonly Target[],
  cases: readonly ComparisonCase[],
  rounds: number,
): Promise<CaseResult[]> {
  for (const target of targets) {
    const requests = Math.ceil(WARM_UP.requests / cases.length)
    for (const measured of cases)
      await send(client, target, measured, {
        seconds: WARM_UP.seconds,
        limit: Math.min(requests, measured.limit ?? requests),
      })
  }
  const results = cases.map(
    (): CaseResult => ({
      rates: { Regent: [], Keycloak: [], minimal: [] },
      p99: { Regent: [], Keycloak: [], minimal: [] },
      clientMilliseconds: [],
    }),
  )
  for (let round = 0; round < rounds; round++) {
    for (const [at, measured] of cases.entries()) {
      for (const target of targets) {
        const result = await send(client, target, measured, { seconds: SECONDS, limit: measured.limit })
        if (!result?.requests) continue
        results[at]!.rates[target.name].push(result.requests / result.seconds)
        results[at]!.p99[target.name].push(quantile(result.times, 0.99))
        results[at]!.clientMilliseconds.push(result.clientMilliseconds)
      }
    }
    console.log(`round ${round + 1} of ${rounds}`)
  }
  return results
}

/** Sends the requests of a case to a server. Returns undefined where the minimal server has none. */
async function send(
  client: LoadClient,
  { name, url, admin, realm, next }: Target,
  measured: ComparisonCase,
  { seconds, limit }: { seconds: number; limit?: number | undefined },
) {
  const request = name === 'minimal' ? toBareRequest(measured, realm) : measured.request(realm)
  if (!request) return undefined
  const first = next.get(measured.name) ?? 0
  const existing = measured.deletes === undefined ? undefined : (next.get(measured.deletes) ?? 0) - first
  if (existing === 0) return undefined
  const load: Load = {
    method: 'GET',
    url,
    seconds,
    first,
    connections: measured.connections,
    ...request,
    headers: {
      'content-type': 'application/json',
      ...(name !== 'minimal' && { authorization: await admin.getAuthorization() }),
      ...request.headers,
    },
    limit: existing ?? limit,
  }
  const result = await client.send(load)
  next.set(measured.name, first + result.requests)
  return result
}

function toBareRequest({ bare }: ComparisonCase, realm: MeasuredRealm): CaseRequest | undefined {
  if (!bare || 'path' in bare) return bare
  if (bare.of === 'list') return { path: `/lists/${bare.list}` }
  const items = realm.userIds.map((_, at) => String(at))
  return { path: `/rows/${bare.list}/{item}`, items }
}

/** Stores Regent's responses as the rows of the minimal server. */
async function copyResponses(database: pg.Client, target: Target, cases: readonly ComparisonCase[]): Promise<void> {
  await database.query(
    'create table bare_row (list text, position int, body jsonb not null, primary key (list, position))',
  )
  await database.query(`create table bare_user (realm int, id uuid, username text not null, email text, body jsonb not null,
    primary key (realm, id), unique (realm, username), unique (realm, email))`)
  for (const { request, bare } of cases) {
    if (!bare || 'path' in bare) continue
    const { path, method = 'GET', items = [''] } = request(target.realm)
    const samples = bare.of === 'list' ? items : target.realm.userIds.map((_, at) => items[at % items.length]!)
    const read = async (item: string) => {
      const filled = path.replaceAll('{item}', item)
      return method === 'GET' ? target.admin.get(filled) : target.admin.post(filled)
    }
    const responses: unknown[] = []
    for (const item of samples) responses.push(await read(item))
    const rows = bare.of === 'list' ? (responses[0] as unknown[]) : responses
    await database.query(
      'insert into bare_row select $1, position - 1, body from jsonb_array_elements($2) with ordinality as rows (body, position)',
      [bare.list, JSON.stringify(rows)],
    )
  }
}

/** Starts the minimal server. */
async function startBareServer(database: string): Promise<{ url: string; close(): void }> {
  const child = fork(join(import.meta.dirname, 'bare-process.ts'), [database])
  const [port] = (await once(child, 'message')) as [number]
  return { url: `http://127.0.0.1:${port}`, close: () => child.disconnect() }
}

/** Renders the medians as a Markdown table. */
function renderTable(cases: readonly ComparisonCase[], results: readonly CaseResult[]): string {
  const header = [
    'what',
    'Regent/s',
    'spread',
    'p99 ms',
    'Keycloak/s',
    'ratio',
    'minimal/s',
    'share',
    'to reach',
    'client ms',
  ]
  const rows = cases.map(({ name, toReach }, at) => {
    const { rates, p99, clientMilliseconds } = results[at]!
    const median = (values: readonly number[]) => (values.length ? quantile(values, 0.5) : Number.NaN)
    const [regent, reference, bare] = [median(rates.Regent), median(rates.Keycloak), median(rates.minimal)]
    const spread = `${formatNumber(Math.min(...rates.Regent))}–${formatNumber(Math.max(...rates.Regent))}`
    const goals = [
      toReach.reference !== undefined && `${toReach.reference} ×`,
      toReach.bare !== undefined && `${toReach.bare * 100} %`,
    ]
    return [
      name,
      formatNumber(regent),
      spread,
      formatNumber(median(p99.Regent)),
      formatNumber(reference),
      Number.isNaN(reference) ? '–' : `${(regent / reference).toFixed(2)} ×`,
      formatNumber(bare),
      Number.isNaN(bare) ? '–' : `${((regent / bare) * 100).toFixed(0)} %`,
      goals.filter(Boolean).join(', ') || '–',
      median(clientMilliseconds).toFixed(3),
    ]
  })
  const lines = [header, header.map((_, at) => (at ? '--:' : '---')), ...rows]
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

/** Renders the page of the documentation with the table. */
function renderPage(table: string, { rounds, workers }: { readonly rounds: number; readonly workers: number }): string {
  const machine = `${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}`
  return `# How fast is Regent?

The table compares Regent with Keycloak, and with a minimal server that does the least work for the same response: one prepared
statement or one signature per request. All three run on one machine, in turns, on the same PostgreSQL server.

- Requests per second are medians of ${rounds} rounds. The spread is that of Regent's rounds.
- Regent ran with \`--workers ${workers}\`. Each server was warmed up. Reads are of a realm with ${SIZE.users.toLocaleString('en')} users, ${SIZE.clients} clients, ${SIZE.groups.toLocaleString('en')} groups and ${SIZE.roles.toLocaleString('en')} roles.
- The machine: ${machine}.

${table}
[Test and measure Regent](development.md#benchmarks) says how to measure it yourself.
`
}

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return '–'
  return value < 100 ? value.toPrecision(3) : Math.round(value).toLocaleString('en')
}

/** Returns the sections of a page that are about other measurements: they begin with a heading. Empty if there is no page yet. */
async function readFurtherSections(file: string): Promise<string> {
  const page = await readFile(file, 'utf8').catch(() => '')
  const start = page.indexOf('\n## ')
  return start < 0 ? '' : page.slice(start)
}
