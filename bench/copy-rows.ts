// Writes the rows of an operation again by bare SQL statements, as the baseline of the operation: the least that it could cost.
import { randomUUID } from 'node:crypto'
import { chunks } from '../src/lib/chunks.ts'
import type { Bench, Statement } from './measure.ts'

type Row = Record<string, unknown>

/** The rows that the creation of a realm has written, by table, in the order of the first writes. */
export interface RealmRows {
  readonly realm: string
  readonly tables: ReadonlyMap<string, readonly Row[]>
}

/** The number of the next copied realm. The store itself does not assign such high numbers. */
let nextRealm = 1_000_000

/** Does the work, which creates the realm in one transaction, and returns the rows of that transaction, also those in master. */
export async function collectRealmRows(bench: Bench, realm: string, work: () => Promise<unknown>): Promise<RealmRows> {
  const executed = await bench.recordStatements(work)
  // One statement inserts a realm with its content, in any order.
  const names = new Set([
    'realm',
    ...executed.flatMap(({ sql }) => [...sql.matchAll(/insert into "?(\w+)/g)].map(([, name]) => name!)),
  ])
  // A source belongs to no realm, and copies refer to the same one.
  names.delete('source')
  const tables = new Map<string, readonly Row[]>()
  for (const table of names) {
    const [result] = await bench.query<{ rows: string }>(
      `select coalesce(jsonb_agg(to_jsonb(t) ${await removeGeneratedColumns(bench, table)}), '[]')::text as rows from "${table}" t
       where t.xmin = (select xmin from realm where name = $1)`,
      [realm],
    )
    tables.set(table, JSON.parse(result!.rows))
  }
  return { realm, tables }
}

/** Returns the SQL operators that remove generated columns from a row in JSON. */
async function removeGeneratedColumns(bench: Bench, table: string): Promise<string> {
  const columns = await bench.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = $1::regclass and attgenerated <> ''`,
    [table],
  )
  return columns.map(({ name }) => `- '${name}'`).join(' ')
}

/** Copies the rows for a realm of another name. Returns its number and the insert statements, which are created lazily. */
export async function copyRealmRows(
  bench: Bench,
  { realm, tables }: RealmRows,
): Promise<{ realm: number; statements: Iterable<Statement> }> {
  const number = nextRealm++
  const original = tables.get('realm')![0]!
  const [{ next }] = (await bench.query<{ next: number }>(
    `select max(j.number) + 1 as next from journal j join realm r on r.number = j.realm where r.name = 'master'`,
  )) as [{ next: number }]
  const names = new Map([[realm, `copy-${number}`]])
  const isInMaster = (row: Row) => row !== original && row.realm !== original.number
  for (const row of [original, ...[...tables.values()].flat().filter(isInMaster)]) {
    if (typeof row.id === 'string') names.set(row.id, randomUUID())
  }
  const copies = new Map<string, Row[]>()
  for (const [table, rows] of tables) {
    let entry = Number(next)
    copies.set(
      table,
      rows.map((row): Row => {
        if (row === original) return { ...replaceNames(row, names), number }
        if (!isInMaster(row)) return { ...row, realm: number }
        return { ...replaceNames(row, names), ...(table === 'journal' && { number: entry++ }) }
      }),
    )
  }
  return { realm: number, statements: listInsertStatements(copies) }
}

/** Replaces ids and the realm's name anywhere in a row of master or in the row of the realm. */
function replaceNames(row: Row, names: ReadonlyMap<string, string>): Row {
  return JSON.parse([...names].reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(row)))
}

function* listInsertStatements(tables: ReadonlyMap<string, readonly Row[]>): Generator<Statement> {
  // The realm refers to rows that are inserted after it, so these references are set last.
  const [realm] = tables.get('realm')!
  const { number, id, name, version, body, ...references } = realm!
  const withoutReferences = { number, id, name, version, body }
  for (const [table, rows] of tables) {
    for (const chunk of chunks(table === 'realm' ? [withoutReferences] : rows, 5_000)) {
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
