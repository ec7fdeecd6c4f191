// npm run bench [-- --engine postgres] [--json FILE]: what operations cost, and how far that is from the least possible.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { applySource, planSource, type SourceState } from '../src/reconcile/run.ts'
import { type Caller, SYSTEM } from '../src/service/service.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { sourceOf } from './data.ts'
import { copyOf, type Rows, rowsOf } from './floors.ts'
import { type Bench, type Case, inexact, measure, openBench, quantile, type Result } from './measure.ts'

const { values: options } = parseArgs({
  options: { engine: { type: 'string', default: 'pglite' }, json: { type: 'string' } },
})
if (!['pglite', 'postgres'].includes(options.engine)) throw new Error('--engine is pglite or postgres')

let count = 0
const newName = () => `measured-${++count}`
const apply = (bench: Bench, source: SourceState) => applySource(bench.service, callerOf(source), source)
const plan = (bench: Bench, source: SourceState) => planSource(bench.service, callerOf(source), source)
const createRealm = (bench: Bench, realm: string) =>
  bench.service.create(SYSTEM, { representation: { realm, enabled: true } }, async () => {})

function callerOf({ name }: SourceState): Caller {
  return { actor: { kind: 'source', source: name } }
}

/** The cases of a realm with so many clients; the rows of its first apply are what the floor writes. */
function sized(bench: Bench, size: number, realm: string, rows: Rows, seconds: number): Case[] {
  const same = { rounds: 30, seconds, size, writesEach: true }
  return [
    // First, since the cleaner of PostgreSQL is busy after bulk writes.
    ...(size > 1_000 ? [] : small(bench, size, realm)),
    {
      ...same,
      name: 'apply a new realm',
      floor: async () => {
        const copy = await copyOf(bench, rows)
        return () => bench.raw(copy)
      },
      operation: () => {
        const source = sourceOf(newName(), size)
        return () => apply(bench, source)
      },
    },
    {
      ...same,
      name: 'plan a new realm',
      floor: async () => {
        const copy = await copyOf(bench, rows)
        return () => bench.raw(copy, 'rollback')
      },
      operation: () => {
        const source = sourceOf(newName(), size)
        return () => plan(bench, source)
      },
    },
  ]
}

/** Runs of a source that has been applied: with nothing to do, and with one field changed. */
function small(bench: Bench, size: number, realm: string): Case[] {
  const unchanged = sourceOf(realm, size)
  return [
    {
      name: 'apply what is unchanged',
      size,
      rounds: 100,
      seconds: 4,
      floor: () => () => bench.raw([['select 1']]),
      operation: () => () => apply(bench, unchanged),
    },
    {
      name: 'apply one changed field',
      size,
      rounds: 50,
      seconds: 6,
      floor: () => {
        const statements = oneChange(copied.number, ++count)
        return () => bench.raw(statements)
      },
      operation: () => {
        const source = sourceOf(realm, size, `note ${++count}`)
        return () => apply(bench, source)
      },
    },
  ]
}

/** The least that a changed field costs: its object, its entry of the journal, its line of history. */
function oneChange(realm: number, note: number): Statement[] {
  const text = `note ${note}`
  return [
    [
      `update client set body = jsonb_set(body, '{description}', to_jsonb($1::text))
       where realm = $2 and client_id = 'client-0'`,
      [text, realm],
    ],
    [
      `insert into journal (realm, number, at, actor, operation, kind, object, key, fields)
       values ($1, $2, now(), '{}', 'update', 'client', 'client-0', '["client-0"]', '{"description": "a note"}')`,
      [realm, 1_000_000 + note],
    ],
    [
      `insert into history (realm, revision, at, actor, plan) values ($1, $2, now(), '{}', '{"actions": []}')`,
      [realm, text],
    ],
  ]
}

async function creation(bench: Bench): Promise<Case> {
  for (let at = 0; at < 10; at++) await createRealm(bench, newName())
  const realm = newName()
  const rows = await rowsOf(bench, realm, () => createRealm(bench, realm))
  return {
    name: 'create a realm',
    rounds: 100,
    seconds: 20,
    floor: async () => {
      const copy = await copyOf(bench, rows)
      return () => bench.raw(copy)
    },
    operation: () => {
      const name = newName()
      return () => createRealm(bench, name)
    },
  }
}

const columns: [title: string, width: number, value: (result: Result) => string][] = [
  ['operation', -25, ({ name }) => name],
  ['clients', 7, ({ size }) => size?.toLocaleString('en') ?? ''],
  ['rounds', 7, ({ operation }) => String(operation.length)],
  ['statements', 11, ({ cost }) => String(cost.statements)],
  ['inserted', 9, ({ cost }) => cost.inserted.toLocaleString('en')],
  ['updated', 8, ({ cost }) => cost.updated.toLocaleString('en')],
  ['deleted', 8, ({ cost }) => cost.deleted.toLocaleString('en')],
  ['ms', 9, ({ operation }) => quantile(operation, 0.5).toFixed(2)],
  ['p95', 9, ({ operation }) => quantile(operation, 0.95).toFixed(2)],
  ['floor ms', 9, ({ floor }) => quantile(floor, 0.5).toFixed(2)],
  ['ratio', 7, ({ ratio }) => ratio.toFixed(2)],
]

function line(cell: (column: (typeof columns)[number]) => string): string {
  return columns.map((one) => (one[1] < 0 ? cell(one).padEnd(-one[1]) : cell(one).padStart(one[1]))).join('')
}

/** How the last ten compare with the first ten. */
function flatness(times: readonly number[]): string {
  return (quantile(times.slice(-10), 0.5) / quantile(times.slice(0, 10), 0.5)).toFixed(2)
}

async function run(bench: Bench): Promise<Result[]> {
  const results: Result[] = []
  const add = async (one: Case) => {
    results.push(await measure(bench, one))
    console.log(line(([, , value]) => value(results.at(-1)!)))
  }
  console.log(`${bench.service.engine}, Node ${process.version}\n`)
  console.log(line(([title]) => title))
  await add(await creation(bench))
  const { operation, floor } = results[0]!
  for (const [size, seconds] of [
    [10, 4],
    [100, 5],
    [1_000, 14],
    [5_000, 24],
  ] as const) {
    const realm = newName()
    const rows = await rowsOf(bench, realm, () => apply(bench, sourceOf(realm, size)))
    for (const one of sized(bench, size, realm, rows, seconds)) await add(one)
  }
  console.log(`\nrealms 91-100 took ${flatness(operation)} times as long as realms 1-10 (floor: ${flatness(floor)})`)
  if (!existsSync(new URL('../src/http/server.ts', import.meta.url)))
    console.log('point read: skipped, there is no server yet')
  return results
}

const postgres = options.engine === 'postgres' ? await startPostgres() : undefined
try {
  const bench = await openBench({ url: postgres?.url })
  const results = await run(bench)
  await bench.service.close()
  const wrong = inexact(results)
  for (const problem of wrong) console.error(problem)
  console.log(
    wrong.length
      ? 'statements or rows depend on the size'
      : 'statements are independent of the size (per kind and chunk), rows are proportional to what is written',
  )
  if (options.json) {
    const report = { engine: bench.service.engine, node: process.version, exact: !wrong.length, results }
    await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`)
  }
  process.exitCode = wrong.length ? 1 : 0
} finally {
  await postgres?.stop()
}
