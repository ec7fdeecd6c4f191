// Measures an operation against its floor: statements and rows exactly, times in pairs.
import { CompiledQuery } from 'kysely'
import { type Service, SYSTEM } from '../src/service/context/service.ts'
import type { StoreLocation } from '../src/service/context/store-types.ts'
import { openService } from '../src/service/operations/open-service.ts'

/** A statement and its parameters. */
export type Statement = readonly [text: string, parameters?: readonly unknown[]]

/** A service under measurement, and the way past it to the same database. */
export interface Bench {
  readonly service: Service
  /** Runs the statements in one transaction on the driver. */
  raw(statements: Iterable<Statement>, end?: 'commit' | 'rollback'): Promise<void>
  /** The rows that a statement gives. */
  rows<T>(...statement: Statement): Promise<T[]>
  /** What the work executes, transaction control left out. */
  executed(work: () => Promise<unknown>): Promise<CompiledQuery[]>
}

/** What an operation did, which does not depend on the machine. */
export interface Cost {
  /** Without the further chunks of a bulk statement, and without begin and commit. */
  readonly statements: number
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
}

/** An operation and its floor. Each prepares a round, untimed, and gives what is timed. */
export interface Case {
  readonly name: string
  /** How many clients. */
  readonly size?: number
  /** Whether the operation writes rows for each client. */
  readonly writesEach?: boolean
  readonly rounds: number
  /** After so long no round begins, but two are made unless the bench as a whole is late. */
  readonly seconds: number
  /** How often one round does it: times and costs are those of once. */
  readonly times?: number
  operation(): Work | Promise<Work>
  floor(): Work | Promise<Work>
}

type Work = () => Promise<unknown>

/** The outcome of a case. Times in milliseconds, in order. */
export interface Result {
  readonly name: string
  readonly size?: number
  readonly writesEach?: boolean
  readonly cost: Cost
  /** Whether every round cost the same. */
  readonly steady: boolean
  readonly operation: readonly number[]
  readonly floor: readonly number[]
  /** The median of the ratios of the pairs. */
  readonly ratio: number
}

/** After so long every case makes one round only. */
const LATE = 100_000
/** Rows per statement of a bulk write: a statement with a full chunk may be followed by another of the same text. */
const CHUNK = 5_000

/** Opens a service with a master realm on an empty database. */
export async function openBench(location: StoreLocation): Promise<Bench> {
  let listening: CompiledQuery[] | undefined
  const onStatement = (statement: CompiledQuery) => {
    if (!/^(begin|start|commit|rollback|set transaction)/.test(statement.sql)) listening?.push(statement)
  }
  const service = await openService({ location, key: new Uint8Array(32), onStatement })
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  return {
    service,
    raw: (statements, end = 'commit') =>
      service.query((db) =>
        db.connection().execute(async (connection) => {
          await connection.executeQuery(CompiledQuery.raw('begin'))
          for (const [text, parameters = []] of statements) {
            await connection.executeQuery(CompiledQuery.raw(text, [...parameters]))
          }
          await connection.executeQuery(CompiledQuery.raw(end))
        }),
      ),
    rows: async <T>(text: string, parameters: readonly unknown[] = []) =>
      (await service.query((db) => db.executeQuery<T>(CompiledQuery.raw(text, [...parameters])))).rows,
    async executed(work) {
      listening = []
      await work()
      const executed = listening
      listening = undefined
      return executed
    },
  }
}

/** Measures a case: rounds of floor and operation, so that a load on the machine weighs on both alike. */
export async function measure(bench: Bench, { operation, floor, ...one }: Case): Promise<Result> {
  const { rounds, seconds, times: often = 1, ...labels } = one
  const times = { operation: [] as number[], floor: [] as number[] }
  const costs: Cost[] = []
  const once = {
    async operation() {
      const work = await operation()
      const before = await rowCounts(bench)
      const executed = await bench.executed(async () => times.operation.push((await time(work)) / often))
      const after = await rowCounts(bench)
      const cost = (name: keyof typeof after) => (after[name] - before[name]) / often
      const rows = { inserted: cost('inserted'), updated: cost('updated'), deleted: cost('deleted') }
      costs.push({ statements: withoutChunks(executed) / often, ...rows })
    },
    async floor() {
      times.floor.push((await time(await floor())) / often)
    },
  }
  const end = performance.now() + seconds * 1000
  const least = () => (performance.now() < LATE ? 2 : 1)
  for (let round = 0; round < rounds && (round < least() || performance.now() < end); round++) {
    // Whoever comes second may pay for the garbage of the first.
    for (const which of round % 2 ? (['operation', 'floor'] as const) : (['floor', 'operation'] as const)) {
      await once[which]()
    }
  }
  return {
    ...labels,
    cost: costs[0]!,
    steady: costs.every((cost) => JSON.stringify(cost) === JSON.stringify(costs[0])),
    ...times,
    ratio: quantile(
      times.operation.map((took, round) => took / times.floor[round]!),
      0.5,
    ),
  }
}

/** The value below which that share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
}

/** What is wrong with the exact part: statements must not depend on the size, rows only on how many clients are written. */
export function inexact(results: readonly Result[]): string[] {
  const counts = ['inserted', 'updated', 'deleted'] as const
  const wrong = results.filter(({ steady }) => !steady).map(({ name }) => `${name}: not every round cost the same`)
  for (const [name, group] of Map.groupBy(results, (one) => one.name)) {
    const [first, second = first] = group.toSorted((a, b) => (a.size ?? 0) - (b.size ?? 0))
    for (const { size = 0, cost, writesEach } of group) {
      const expected = (count: (typeof counts)[number]) => {
        const steps = (second!.size ?? 0) - (first!.size ?? 0)
        const each = writesEach && steps ? (second!.cost[count] - first!.cost[count]) / steps : 0
        return first!.cost[count] + each * (size - (first!.size ?? 0))
      }
      if (cost.statements !== first!.cost.statements)
        wrong.push(`${name} ${size}: ${cost.statements} statements, not ${first!.cost.statements}`)
      for (const count of counts)
        if (cost[count] !== expected(count))
          wrong.push(`${name} ${size}: ${cost[count]} rows ${count}, not ${expected(count)}`)
    }
  }
  return wrong
}

async function time(work: Work): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/**
 * A bulk statement that was full goes on in others: of the same text, to the same end, or one that writes to a table that
 * the full one wrote to with others. All of them count as one.
 */
function withoutChunks(executed: readonly CompiledQuery[]): number {
  const end = ({ sql, parameters }: CompiledQuery) =>
    JSON.stringify([sql, ...parameters.filter((one) => !elements(one))])
  const full = new Set<string>()
  return executed.filter((statement, at) => {
    const before = full.has(end(statement))
    if (statement.parameters.some((one) => elements(one) === CHUNK)) full.add(end(statement))
    if (before) return false
    const previous = executed[at - 1]
    if (!previous?.parameters.some((one) => elements(one) === CHUNK)) return true
    const [into, ...others] = targets(statement)
    return into === undefined || others.length > 0 || targets(previous).length < 2 || !targets(previous).includes(into)
  }).length
}

function targets({ sql }: CompiledQuery): string[] {
  return [...sql.matchAll(/insert into "?(\w+)/g)].map(([, table]) => table!)
}

function elements(parameter: unknown): number {
  if (Array.isArray(parameter)) return parameter.length
  return typeof parameter === 'string' && parameter.startsWith('[') ? JSON.parse(parameter).length : 0
}

/**
 * Rows written so far by the engine's own statistics, which see cascades and rolled back work too. A session reports
 * them when it is idle, at most once a second, unless it is told to.
 */
async function rowCounts({ rows }: Bench): Promise<Omit<Cost, 'statements'>> {
  await rows('select pg_stat_force_next_flush()')
  const [counts] = await rows<Omit<Cost, 'statements'>>(`select sum(n_tup_ins)::int as inserted,
    sum(n_tup_upd)::int as updated, sum(n_tup_del)::int as deleted from pg_stat_user_tables`)
  return counts!
}
