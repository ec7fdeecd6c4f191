// npm run bench [-- --engine postgres] [--json FILE]: what operations cost, and how far that is from the least possible.
// npm run bench -- --people 100000: only how much memory an apply of so many people takes, on PostgreSQL.
// npm run bench -- --pushes 100: only what lies between a webhook and the commit of what was pushed, over HTTP and ssh.
// npm run bench -- --crowd 100000: only what reads cost in a realm with so many people, on PostgreSQL.
// npm run bench -- --reference URL --config-cli JAR [--java PATH]: only the same realms through keycloak-config-cli into the
// reference server, and through `regent apply` into Regent.
// npm run bench -- --kubernetes 1000: only the operator with so many resources, at the API server that KUBECONFIG names.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { startPostgres } from '../test/support/postgres.ts'
import { creation, peopled, reading, realmsPerSecond, sized } from './cases.ts'
import { besideConfigCli } from './config-cli.ts'
import { crowdReads } from './crowd-reads.ts'
import { kubernetes } from './kubernetes.ts'
import { lists } from './lists.ts'
import { type Bench, type Case, inexact, measure, openBench, quantile, type Result } from './measure.ts'
import { peopleMemory } from './memory.ts'
import { pointReads } from './point-read.ts'
import { pushes } from './pushes.ts'
import { readsBesidePasswords, tokens } from './tokens.ts'

/** Clients of a realm, and seconds for each of its bulk cases. */
const SIZES = [
  [10, 4],
  [100, 4],
  [1_000, 10],
  [5_000, 16],
] as const

/** People of a realm of 1,000 clients, and seconds for its bulk case. */
const PEOPLE = [
  [100, 4],
  [10_000, 20],
] as const

const columns: [title: string, width: number, value: (result: Result) => string][] = [
  ['operation', -25, ({ name }) => name],
  ['size', 7, ({ size }) => size?.toLocaleString('en') ?? ''],
  ['rounds', 7, ({ operation }) => String(operation.length)],
  ['statements', 11, ({ cost }) => String(cost.statements)],
  ['inserted', 9, ({ cost }) => cost.inserted.toLocaleString('en')],
  ['updated', 8, ({ cost }) => cost.updated.toLocaleString('en')],
  ['deleted', 8, ({ cost }) => cost.deleted.toLocaleString('en')],
  ['ms', 9, ({ operation }) => quantile(operation, 0.5).toFixed(2)],
  ['p95', 9, ({ operation }) => quantile(operation, 0.95).toFixed(2)],
  ['floor ms', 9, ({ floor }) => quantile(floor, 0.5).toFixed(2)],
  ['ratio', 8, ({ ratio }) => ratio.toFixed(2)],
]

function line(cell: (column: (typeof columns)[number]) => string): string {
  return columns.map((one) => (one[1] < 0 ? cell(one).padEnd(-one[1]) : cell(one).padStart(one[1]))).join('')
}

async function run(bench: Bench): Promise<Result[]> {
  const results: Result[] = []
  const add = async (cases: readonly Case[]) => results.push(...(await measured(bench, cases)))
  title(bench)
  await add([reading(5_000), await creation(bench)])
  let largest = ''
  for (const [size, seconds] of SIZES) {
    const { realm, cases } = await sized(bench, size, seconds)
    await add(cases)
    largest = realm
  }
  for (const [people, seconds] of PEOPLE) {
    const { realm, cases } = await peopled(bench, people, seconds)
    await add(cases)
    await add(await lists(bench, realm, people))
  }
  const reads = await pointReads(bench, largest)
  await add(reads.cases)
  await add(await tokens(bench))
  const busy = await readsBesidePasswords(bench, reads)
  await reads.close()
  const [one, four] = [await realmsPerSecond(bench, 1), await realmsPerSecond(bench, 4)]
  console.log(`\n${one.toFixed(0)} realms a second one after the other, ${four.toFixed(0)} with 4 callers at once`)
  const [idle, beside] = [busy.idle, busy.beside].map((times) => quantile(times, 0.99).toFixed(1))
  console.log(
    `reads while ${busy.passwords} passwords were checked: 99th percentile ${beside} ms, otherwise ${idle} ms`,
  )
  const { operation, floor } = results[1]!
  const { length } = operation
  console.log(
    `realms ${length - 9}-${length} took ${flatness(operation)} times as long as the first ten (floor: ${flatness(floor)})`,
  )
  return results
}

function title({ service }: Bench): void {
  console.log(`${service.engine}, Node ${process.version}\n`)
  console.log(line(([title]) => title))
}

/** Measures the cases, and prints a line for each. */
async function measured(bench: Bench, cases: readonly Case[]): Promise<Result[]> {
  const results: Result[] = []
  for (const one of cases) {
    const result = await measure(bench, one)
    results.push(result)
    console.log(line(([, , value]) => value(result)))
  }
  return results
}

/** How the last ten compare with the first ten. */
function flatness(times: readonly number[]): string {
  return (quantile(times.slice(-10), 0.5) / quantile(times.slice(0, 10), 0.5)).toFixed(2)
}

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: 'pglite' },
    json: { type: 'string' },
    people: { type: 'string' },
    crowd: { type: 'string' },
    pushes: { type: 'string' },
    reference: { type: 'string' },
    'config-cli': { type: 'string' },
    java: { type: 'string', default: 'java' },
    kubernetes: { type: 'string' },
  },
})
if (!['pglite', 'postgres'].includes(options.engine)) throw new Error('--engine is pglite or postgres')
const { reference, 'config-cli': jar, java } = options
if (!reference !== !jar) throw new Error('--reference and --config-cli belong together')
const postgres = options.engine === 'postgres' || options.people || options.crowd ? await startPostgres() : undefined
try {
  if (options.pushes) process.exitCode = (await pushes(Number(options.pushes))) ? 0 : 1
  else if (reference && jar) await besideConfigCli({ reference, jar, java })
  else if (options.kubernetes) process.exitCode = (await kubernetes(Number(options.kubernetes))) ? 0 : 1
  else if (options.people) await memory(postgres!.url, Number(options.people))
  else if (options.crowd) await large(postgres!.url, Number(options.crowd))
  else await all(postgres?.url)
} finally {
  await postgres?.stop()
}

/** Everything but the memory of many people, which takes minutes. */
async function all(url: string | undefined): Promise<void> {
  const bench = await openBench({ url })
  const results = await run(bench)
  await bench.service.close()
  const wrong = inexact(results)
  for (const problem of wrong) console.error(problem)
  console.log(
    wrong.length
      ? 'statements or rows depend on what they must not depend on'
      : 'statements do not depend on the size (per kind and chunk), and rows only on what is written',
  )
  if (options.json) {
    const report = { engine: bench.service.engine, node: process.version, exact: !wrong.length, results }
    await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`)
  }
  process.exitCode = wrong.length ? 1 : 0
}

/** Reads in a realm with so many people. */
async function large(url: string, people: number): Promise<void> {
  const bench = await openBench({ url })
  const reads = await crowdReads(bench, people)
  title(bench)
  await measured(bench, reads.cases)
  await reads.close()
  await bench.service.close()
}

/** Each step of an apply of so many people, with the most memory that its process has had until then. */
async function memory(url: string, people: number): Promise<void> {
  console.log(`${people.toLocaleString('en')} people, in a process that is told to keep to 512 MB`)
  await peopleMemory(url, people, ({ name, seconds, peak }) =>
    console.log(`${name.padEnd(36)}${seconds.toFixed(1).padStart(8)} s${peak.toFixed(0).padStart(8)} MB at most`),
  )
}
