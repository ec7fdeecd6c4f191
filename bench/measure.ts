// Measures an operation and its baseline: counts statements and rows, and compares times in pairs.
import { setTimeout } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import { createOutbound } from '../src/lib/http/outbound.ts'
import { type Service, SYSTEM } from '../src/service/context/service.ts'
import type { StoreLocation } from '../src/service/context/store-types.ts'
import { openService } from '../src/service/operations/open-service.ts'

/** A statement and its parameters. */
export type Statement = readonly [text: string, parameters?: readonly unknown[]]

/** A service that is measured, with direct access to its database. */
export interface Bench {
  readonly service: Service
  /** Runs the statements in one transaction, directly on the database driver. */
  runStatements(statements: Iterable<Statement>, end?: 'commit' | 'rollback'): Promise<void>
  /** Runs the statement and returns its rows. */
  query<T>(...statement: Statement): Promise<T[]>
  /** Returns the statements that the work executes, without those that begin or end transactions. */
  recordStatements(work: () => Promise<unknown>): Promise<CompiledQuery[]>
}

/** The statements and rows of an operation, which do not depend on the machine. */
export interface Cost {
  /** The chunks of a bulk statement count as one. Begin and commit do not count. */
  readonly statements: number
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
}

/** An operation and its baseline: each prepares a round, which is not timed, and returns the function that is timed. */
export interface Case {
  readonly name: string
  /** Number of clients or users. */
  readonly size?: number
  /** Whether the number of written rows grows with the size. */
  readonly writesPerClient?: boolean
  readonly rounds: number
  /** No round begins after this time. The first two rounds always run, or only one where the whole benchmark is late. */
  readonly seconds: number
  /** Number of repetitions in a round, by default 1. Times and costs are those of one repetition. */
  readonly repetitions?: number
  operation(): Work | Promise<Work>
  baseline(): Work | Promise<Work>
}

type Work = () => Promise<unknown>

/** The measurements of a case. Times are in milliseconds, in the order of the rounds. */
export interface Result {
  readonly name: string
  readonly size?: number
  readonly writesPerClient?: boolean
  readonly cost: Cost
  /** Costs of rounds that differ from the first one. */
  readonly otherCosts: readonly Cost[]
  readonly operation: readonly number[]
  readonly baseline: readonly number[]
  /** The median over the rounds of the time of the operation divided by the time of the baseline. */
  readonly ratio: number
}

/** Milliseconds after the start of the process from which every case has one round only. */
const LATE = 100_000
/** Rows per statement of a bulk write. After a statement with this many, another one may continue the bulk write. */
const CHUNK_SIZE = 5_000

/** Opens a service on an empty database and creates the master realm. */
export async function openBench(location: StoreLocation): Promise<Bench> {
  let recorded: CompiledQuery[] | undefined
  const onStatement = (statement: CompiledQuery) => {
    // The statistics of the query planner are updated in the background.
    if (!/^(begin|commit|rollback)|\banalyze\b/.test(statement.sql)) recorded?.push(statement)
  }
  const outbound = createOutbound({ development: true })
  const service = await openService({ location, key: new Uint8Array(32), onStatement, outbound })
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  return {
    service,
    runStatements: (statements, end = 'commit') =>
      service.query((db) =>
        db.connection().execute(async (connection) => {
          await connection.executeQuery(CompiledQuery.raw('begin'))
          for (const [text, parameters = []] of statements) {
            await connection.executeQuery(CompiledQuery.raw(text, [...parameters]))
          }
          await connection.executeQuery(CompiledQuery.raw(end))
        }),
      ),
    query: async <T>(text: string, parameters: readonly unknown[] = []) =>
      (await service.query((db) => db.executeQuery<T>(CompiledQuery.raw(text, [...parameters])))).rows,
    async recordStatements(work) {
      const statements: CompiledQuery[] = []
      recorded = statements
      await work()
      recorded = undefined
      return statements
    },
  }
}

/** Measures a case. Rounds of baseline and operation alternate, so that other load on the machine affects both. */
export async function measure(bench: Bench, benchCase: Case): Promise<Result> {
  const { operation, baseline, rounds, seconds, repetitions = 1, ...labels } = benchCase
  const times = { operation: [] as number[], baseline: [] as number[] }
  const costs: Cost[] = []
  const runRound = {
    async operation() {
      const work = await operation()
      const before = await countRows(bench)
      const executed = await bench.recordStatements(async () => times.operation.push((await time(work)) / repetitions))
      if (benchCase.writesPerClient) await waitForStatistics(bench)
      const after = await countRows(bench)
      const cost = (name: keyof typeof after) => (after[name] - before[name]) / repetitions
      const rows = { inserted: cost('inserted'), updated: cost('updated'), deleted: cost('deleted') }
      costs.push({ statements: countStatements(executed) / repetitions, ...rows })
    },
    async baseline() {
      times.baseline.push((await time(await baseline())) / repetitions)
    },
  }
  const end = performance.now() + seconds * 1000
  const minRounds = () => (performance.now() < LATE ? 2 : 1)
  for (let round = 0; round < rounds && (round < minRounds() || performance.now() < end); round++) {
    // The order alternates, since the second one may have to collect the garbage of the first.
    for (const part of round % 2 ? (['operation', 'baseline'] as const) : (['baseline', 'operation'] as const)) {
      await runRound[part]()
    }
  }
  return {
    ...labels,
    cost: costs[0]!,
    otherCosts: costs.filter((cost) => JSON.stringify(cost) !== JSON.stringify(costs[0])),
    ...times,
    ratio: quantile(
      times.operation.map((duration, round) => duration / times.baseline[round]!),
      0.5,
    ),
  }
}

/** Returns a quantile of the values, such as the median for a share of 0.5. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
}

/**
 * Returns a line for each result with unexpected counts: statements must not depend on the size, and rows must grow linearly with
 * it where the operation writes rows for each object, else stay the same.
 */
export function findDeviations(results: readonly Result[]): string[] {
  const counts = ['inserted', 'updated', 'deleted'] as const
  const deviations = results
    .filter(({ otherCosts }) => otherCosts.length)
    .map(
      ({ name, cost, otherCosts: [other] }) =>
        `${name}: rounds cost ${JSON.stringify(cost)} and ${JSON.stringify(other)}`,
    )
  for (const [name, group] of Map.groupBy(results, ({ name }) => name)) {
    const [first, second = first] = group.toSorted((a, b) => (a.size ?? 0) - (b.size ?? 0))
    for (const { size = 0, cost, writesPerClient } of group) {
      const expected = (count: (typeof counts)[number]) => {
        const steps = (second!.size ?? 0) - (first!.size ?? 0)
        const perObject = writesPerClient && steps ? (second!.cost[count] - first!.cost[count]) / steps : 0
        return first!.cost[count] + perObject * (size - (first!.size ?? 0))
      }
      if (cost.statements !== first!.cost.statements)
        deviations.push(`${name} ${size}: ${cost.statements} statements, expected ${first!.cost.statements}`)
      for (const count of counts)
        if (cost[count] !== expected(count))
          deviations.push(`${name} ${size}: ${cost[count]} rows ${count}, expected ${expected(count)}`)
    }
  }
  return deviations
}

async function time(work: Work): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/**
 * Counts statements, with all chunks of a bulk write as one. After a statement with a full chunk, a later one belongs to the same
 * bulk write if it has the same text and the same parameters other than lists, or if it directly follows and inserts only into a table that the full
 * one inserted into together with others.
 */
function countStatements(executed: readonly CompiledQuery[]): number {
  const toKey = ({ sql, parameters }: CompiledQuery) =>
    JSON.stringify([sql, ...parameters.filter((parameter) => !countElements(parameter))])
  const isFull = ({ parameters }: CompiledQuery) =>
    parameters.some((parameter) => countElements(parameter) === CHUNK_SIZE)
  const fullKeys = new Set<string>()
  return executed.filter((statement, index) => {
    const isContinued = fullKeys.has(toKey(statement))
    if (isFull(statement)) fullKeys.add(toKey(statement))
    if (isContinued) return false
    const previous = executed[index - 1]
    if (!previous || !isFull(previous)) return true
    const [into, ...furtherTables] = listInsertedTables(statement)
    return (
      into === undefined ||
      furtherTables.length > 0 ||
      listInsertedTables(previous).length < 2 ||
      !listInsertedTables(previous).includes(into)
    )
  }).length
}

function listInsertedTables({ sql }: CompiledQuery): string[] {
  return [...sql.matchAll(/insert into "?(\w+)/g)].map(([, table]) => table!)
}

function countElements(parameter: unknown): number {
  if (Array.isArray(parameter)) return parameter.length
  return typeof parameter === 'string' && parameter.startsWith('[') ? JSON.parse(parameter).length : 0
}

/** Concurrent queries that reach every connection which was used by the measured operation or after it. */
const USED_CONNECTIONS = 3

/**
 * Returns the rows written so far according to PostgreSQL's statistics, which include cascades and rolled back transactions.
 * Sessions report them when idle and at most once per second, unless forced to.
 */
async function countRows(bench: Bench): Promise<Omit<Cost, 'statements'>> {
  const flush = () => bench.query('select pg_stat_force_next_flush()')
  await Promise.all(Array.from({ length: USED_CONNECTIONS }, flush))
  const [counts] = await bench.query<Omit<Cost, 'statements'>>(`select sum(n_tup_ins)::int as inserted,
    sum(n_tup_upd)::int as updated, sum(n_tup_del)::int as deleted from pg_stat_user_tables`)
  return counts!
}

/** Waits for the update of the query planner's statistics, which starts after a large write. */
async function waitForStatistics(bench: Bench): Promise<void> {
  do await setTimeout(10)
  while (await isBusy(bench))
}

/** Whether another connection executes a statement. */
async function isBusy(bench: Bench): Promise<boolean> {
  const [connections] = await bench.query<{ isBusy: boolean }>(`select exists (
    select from pg_stat_activity
    where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()) as "isBusy"`)
  return connections!.isBusy
}
