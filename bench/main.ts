// Benchmarks. Each command measures one thing:
//   npm run bench [-- --engine postgres] [--json FILE]   operations: time and SQL, compared with the least possible for each
//   npm run bench -- --users 100000                      memory that an apply of this many users takes, on PostgreSQL
//   npm run bench -- --large-realm 100000                admin reads in a realm with this many users, on PostgreSQL
//   npm run bench -- --clients 3000                      lists and exports of this many clients, on PostgreSQL
//   npm run bench -- --directory 10000                   synchronizations of an LDAP directory with this many users, on PostgreSQL
//   npm run bench -- --pushes 100                        time from a Git webhook to the applied commit, over HTTP and SSH, on PostgreSQL
//   npm run bench -- --start-up 9                       start-up and memory of the build, with this many rounds, on PostgreSQL
//   npm run bench -- --kubernetes 1000 [--realms 100]    the operator with this many resources, on the cluster in KUBECONFIG
//   npm run bench -- --wrong-resources 500                edits of a realm with and without this many wrong resources, likewise
//   npm run bench -- --reference URL --database URL [--markdown FILE] [--only PART] [--rounds N] [--workers N]
//                     the same requests to Regent, to Keycloak at this URL, and to a minimal server; Regent uses the empty database
//   npm run bench -- --reference URL --config-cli JAR [--java PATH]
//                     `regent apply`, compared with keycloak-config-cli and the reference server at this URL
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { startPostgres } from '../test/support/postgres.ts'
import { measureApplyMemory } from './apply-memory.ts'
import { casesWithClients, casesWithUsers, createRealmCase, measureRealmsPerSecond, readYamlCase } from './cases.ts'
import { clientListCases } from './client-lists.ts'
import { openClientReads } from './client-reads.ts'
import { compareServers } from './comparison/compare-servers.ts'
import { compareWithConfigCli } from './config-cli.ts'
import { openDirectoryCases } from './directory.ts'
import { measureKubernetes } from './kubernetes.ts'
import { openLargeRealmReads } from './large-realm-reads.ts'
import { type Bench, type Case, findDeviations, measure, openBench, quantile, type Result } from './measure.ts'
import { decisionCases } from './permission-decisions.ts'
import { measurePushes } from './pushes.ts'
import { restrictedListCases } from './restricted-lists.ts'
import { measureStartUp } from './start-up.ts'
import { measureReadsDuringLogins, tokenCases } from './tokens.ts'
import { measureWrongResources } from './wrong-resources.ts'

/** Number of clients in a realm, and the time limit in seconds for each of its bulk cases. */
const CLIENT_COUNTS = [
  [10, 4],
  [100, 4],
  [1_000, 10],
  [5_000, 16],
] as const

/** Number of users in a realm with 1,000 clients, and the time limit in seconds for its bulk case. */
const USER_COUNTS = [
  [100, 4],
  [10_000, 20],
] as const

const COLUMNS: [title: string, width: number, value: (result: Result) => string][] = [
  ['operation', -34, ({ name }) => name],
  ['size', 7, ({ size }) => size?.toLocaleString('en') ?? ''],
  ['rounds', 7, ({ operation }) => String(operation.length)],
  ['statements', 11, ({ cost }) => String(cost.statements)],
  ['inserted', 9, ({ cost }) => cost.inserted.toLocaleString('en')],
  ['updated', 8, ({ cost }) => cost.updated.toLocaleString('en')],
  ['deleted', 8, ({ cost }) => cost.deleted.toLocaleString('en')],
  ['ms', 9, ({ operation }) => quantile(operation, 0.5).toFixed(2)],
  ['p99', 9, ({ operation }) => quantile(operation, 0.99).toFixed(2)],
  ['baseline ms', 13, ({ baseline }) => quantile(baseline, 0.5).toFixed(2)],
  ['p99', 9, ({ baseline }) => quantile(baseline, 0.99).toFixed(2)],
  ['ratio', 8, ({ ratio }) => ratio.toFixed(2)],
]

function formatLine(cell: (column: (typeof COLUMNS)[number]) => string): string {
  return COLUMNS.map((column) => {
    const [, width] = column
    return width < 0 ? cell(column).padEnd(-width) : cell(column).padStart(width)
  }).join('')
}

async function measureOperations(bench: Bench): Promise<Result[]> {
  const results: Result[] = []
  const add = async (cases: readonly Case[]) => results.push(...(await measureCases(bench, cases)))
  printTitle(bench)
  await add([readYamlCase(5_000), await createRealmCase(bench)])
  let largestRealm = ''
  for (const [clientCount, seconds] of CLIENT_COUNTS) {
    const { realm, cases } = await casesWithClients(bench, clientCount, seconds)
    await add(cases)
    largestRealm = realm
  }
  for (const [userCount, seconds] of USER_COUNTS) {
    const { realm, cases } = await casesWithUsers(bench, userCount, seconds)
    await add(cases)
    await add(await restrictedListCases(bench, realm, userCount))
  }
  const reads = await openClientReads(bench, largestRealm)
  await add(reads.cases)
  await add(await tokenCases(bench))
  await add(await decisionCases(bench))
  const { idle, busy, passwords } = await measureReadsDuringLogins(bench, reads)
  await reads.close()
  const [sequential, concurrent] = [await measureRealmsPerSecond(bench, 1), await measureRealmsPerSecond(bench, 4)]
  console.log(
    `\n${sequential.toFixed(0)} realms created per second by one caller, ${concurrent.toFixed(0)} by 4 concurrent callers`,
  )
  const [idleTime, busyTime] = [idle, busy].map((times) => quantile(times, 0.99).toFixed(1))
  console.log(
    `reads, 99th percentile: ${busyTime} ms while ${passwords} passwords were checked, ${idleTime} ms without logins`,
  )
  const { operation, baseline } = results[1]!
  const { length } = operation
  console.log(
    `creating realms ${length - 9}-${length} took ${compareLastToFirst(operation)} times as long as the first ten (baseline: ${compareLastToFirst(baseline)})`,
  )
  return results
}

function printTitle({ service }: Bench): void {
  console.log(`${service.engine}, Node ${process.version}\n`)
  console.log(formatLine(([title]) => title))
}

/** Measures the cases and prints a line for each. */
async function measureCases(bench: Bench, cases: readonly Case[]): Promise<Result[]> {
  const results: Result[] = []
  for (const benchCase of cases) {
    const result = await measure(bench, benchCase)
    results.push(result)
    console.log(formatLine(([, , value]) => value(result)))
  }
  return results
}

/** Returns the ratio of the medians of the last ten and the first ten times, as text. */
function compareLastToFirst(times: readonly number[]): string {
  return (quantile(times.slice(-10), 0.5) / quantile(times.slice(0, 10), 0.5)).toFixed(2)
}

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: 'pglite' },
    json: { type: 'string' },
    users: { type: 'string' },
    'large-realm': { type: 'string' },
    clients: { type: 'string' },
    directory: { type: 'string' },
    pushes: { type: 'string' },
    'start-up': { type: 'string' },
    reference: { type: 'string' },
    'config-cli': { type: 'string' },
    database: { type: 'string' },
    markdown: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string' },
    workers: { type: 'string' },
    java: { type: 'string', default: 'java' },
    kubernetes: { type: 'string' },
    realms: { type: 'string', multiple: true, default: ['10', '1'] },
    'wrong-resources': { type: 'string' },
  },
})
if (!['pglite', 'postgres'].includes(options.engine)) throw new Error('--engine must be pglite or postgres')
const { reference, 'config-cli': jar, 'large-realm': largeRealm, 'start-up': startUpRounds, java, database } = options
if (jar && !reference) throw new Error('--config-cli needs --reference')
if (reference !== undefined && !jar && !database) throw new Error('--reference needs --database or --config-cli')
const postgres =
  options.engine === 'postgres' || options.users || options.clients || options.directory || largeRealm || startUpRounds
    ? await startPostgres()
    : undefined
try {
  if (options.pushes) process.exitCode = (await measurePushes(Number(options.pushes))) ? 0 : 1
  else if (reference && jar) await compareWithConfigCli({ reference, jar, java, database })
  else if (reference !== undefined && database)
    await compareServers({
      reference,
      database,
      ...(options.markdown && { file: options.markdown }),
      ...(options.only && { only: options.only }),
      ...(options.rounds && { rounds: Number(options.rounds) }),
      ...(options.workers && { workers: Number(options.workers) }),
    })
  else if (options['wrong-resources'])
    process.exitCode = (await measureWrongResources(Number(options['wrong-resources']))) ? 0 : 1
  else if (options.kubernetes)
    process.exitCode = (await measureKubernetes(Number(options.kubernetes), options.realms.map(Number))) ? 0 : 1
  else if (startUpRounds) await measureStartUp(postgres!.url, Number(startUpRounds))
  else if (options.users) await measureMemory(postgres!.url, Number(options.users))
  else if (options.clients) await measureClientLists(postgres!.url, Number(options.clients))
  else if (options.directory) await measureDirectory(postgres!.url, Number(options.directory))
  else if (largeRealm) await measureLargeRealm(postgres!.url, Number(largeRealm))
  else await measureAll(postgres?.url)
} finally {
  await postgres?.stop()
}

/** Measures all operations, and sets the exit code to 1 where statements or rows deviate. */
async function measureAll(url: string | undefined): Promise<void> {
  const bench = await openBench({ url })
  const results = await measureOperations(bench)
  await bench.service.close()
  const deviations = findDeviations(results)
  for (const deviation of deviations) console.error(deviation)
  console.log(
    deviations.length
      ? 'The number of statements or rows deviates: see above.'
      : 'The number of statements does not depend on the size, and the number of rows grows linearly.',
  )
  if (options.json) {
    const report = { engine: bench.service.engine, node: process.version, exact: !deviations.length, results }
    await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`)
  }
  process.exitCode = deviations.length ? 1 : 0
}

/** Measures reads in a realm with this many users. */
async function measureLargeRealm(url: string, userCount: number): Promise<void> {
  const bench = await openBench({ url })
  const reads = await openLargeRealmReads(bench, userCount)
  printTitle(bench)
  await measureCases(bench, reads.cases)
  await reads.close()
  await bench.service.close()
}

/** Measures lists and exports of a realm with this many clients. */
async function measureClientLists(url: string, clientCount: number): Promise<void> {
  const bench = await openBench({ url })
  printTitle(bench)
  await measureCases(bench, await clientListCases(bench, clientCount))
  await bench.service.close()
}

/** Measures synchronizations of a directory with this many users. */
async function measureDirectory(url: string, userCount: number): Promise<void> {
  const bench = await openBench({ url })
  const directory = await openDirectoryCases(bench, userCount)
  printTitle(bench)
  await measureCases(bench, directory.cases)
  await directory.close()
  await bench.service.close()
}

/** Prints for each step of an apply of this many users its time and the peak memory of its process up to then. */
async function measureMemory(url: string, userCount: number): Promise<void> {
  console.log(`${userCount.toLocaleString('en')} users, in a process that is limited to 512 MB`)
  await measureApplyMemory(url, userCount, ({ name, seconds, peak }) =>
    console.log(`${name.padEnd(36)}${seconds.toFixed(1).padStart(8)} s${peak.toFixed(0).padStart(8)} MB peak`),
  )
}
