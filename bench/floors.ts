// The least that an operation could cost: the same rows, written by bare statements to the same tables.
import { randomUUID } from 'node:crypto'
import { chunks } from '../src/lib/chunks.ts'
import type { Bench, Statement } from './measure.ts'

type Row = Record<string, unknown>

/** The rows that the creation of a realm left, by table, in the order in which it wrote to them. */
export interface Rows {
  readonly realm: string
  readonly tables: ReadonlyMap<string, readonly Row[]>
}

/** Realms that floors make have numbers of their own. */
let nextRealm = 1_000_000

/** Does the work, which makes the realm, and gives all rows that its transaction left, in master too. */
export async function rowsOf(bench: Bench, realm: string, work: () => Promise<unknown>): Promise<Rows> {
  const executed = await bench.executed(work)
  const names = new Set(
    executed.flatMap(({ sql }) => [...sql.matchAll(/insert into "?(\w+)/g)].map(([, name]) => name!)),
  )
  // The row of a source belongs to no realm; a copy names the same one.
  names.delete('source')
  const tables = new Map<string, readonly Row[]>()
  for (const table of names) {
    const [found] = await bench.rows<{ rows: string }>(
      `select coalesce(jsonb_agg(to_jsonb(t) ${await withoutGenerated(bench, table)}), '[]')::text as rows from "${table}" t
       where t.xmin = (select xmin from realm where name = $1)`,
      [realm],
    )
    tables.set(table, JSON.parse(found!.rows))
  }
  return { realm, tables }
}

/** What takes from a row the columns that the database fills by itself. */
async function withoutGenerated(bench: Bench, table: string): Promise<string> {
  const columns = await bench.rows<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = $1::regclass and attgenerated <> ''`,
    [table],
  )
  return columns.map(({ name }) => `- '${name}'`).join(' ')
}

/** A copy of the rows for a realm of another name: its number, and the statements, made text only as they are executed. */
export async function copyOf(
  bench: Bench,
  { realm, tables }: Rows,
): Promise<{ realm: number; statements: Iterable<Statement> }> {
  const number = nextRealm++
  const original = tables.get('realm')![0]!
  const [{ next }] = (await bench.rows<{ next: number }>(
    `select max(j.number) + 1 as next from journal j join realm r on r.number = j.realm where r.name = 'master'`,
  )) as [{ next: number }]
  const names = new Map([[realm, `copy-${number}`]])
  const inMaster = (row: Row) => row !== original && row.realm !== original.number
  for (const row of [original, ...[...tables.values()].flat().filter(inMaster)]) {
    if (typeof row.id === 'string') names.set(row.id, randomUUID())
  }
  const copies = new Map<string, Row[]>()
  for (const [table, rows] of tables) {
    let entry = Number(next)
    copies.set(
      table,
      rows.map((row): Row => {
        if (row === original) return { ...renamed(row, names), number }
        if (!inMaster(row)) return { ...row, realm: number }
        return { ...renamed(row, names), ...(table === 'journal' && { number: entry++ }) }
      }),
    )
  }
  return { realm: number, statements: statements(copies) }
}

/** In rows of master and in that of the realm, ids and the realm's name may stand anywhere. */
function renamed(row: Row, names: ReadonlyMap<string, string>): Row {
  return JSON.parse([...names].reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(row)))
}

function* statements(tables: ReadonlyMap<string, readonly Row[]>): Generator<Statement> {
  // The realm refers to what belongs to it: that comes last.
  const [realm] = tables.get('realm')!
  const { number, id, name, version, body, ...references } = realm!
  const bare = { number, id, name, version, body }
  for (const [table, rows] of tables) {
    for (const chunk of chunks(table === 'realm' ? [bare] : rows, 5_000)) {
      const columns = Object.keys(chunk[0]!).map((column) => `"${column}"`)
      yield [
        `insert into "${table}" (${columns}) overriding system value
         select ${columns} from jsonb_populate_recordset(null::"${table}", $1::jsonb)`,
        [JSON.stringify(chunk)],
      ]
    }
  }
  yield [
    `update realm t set ${Object.keys(references)
      .map((column) => `${column} = x.${column}`)
      .join(', ')}
     from jsonb_populate_recordset(null::realm, $1::jsonb) x where t.number = x.number`,
    [JSON.stringify([realm])],
  ]
}
