// Compares the results of statements with the descriptions of their rows: names and types of columns, and nulls.
import type { CompiledQuery } from 'kysely'
import pg from 'pg'
import type { ResultField } from '../../src/store/database/dialect.ts'
import { PGliteConnection } from '../../src/store/database/pglite-driver.ts'
import { PostgresConnection } from '../../src/store/database/postgres-driver.ts'
import type { ExecutedStatement, Row } from '../../src/store/database/query.ts'

/** A result as both drivers return it. */
interface Result {
  readonly fields: readonly ResultField[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

/** The results of one SQL text. */
interface ResultsOfText {
  readonly fields: readonly ResultField[]
  /** Sets of columns that were null in a row, and are not compared yet. */
  readonly nulls: Map<string, ReadonlySet<string>>
  /** Descriptions that are compared already. */
  readonly compared: Set<Row>
}

declare global {
  /** The results of statements by SQL text. */
  var resultsOfTexts: Map<string, ResultsOfText> | undefined
}

/** Records the columns of a result, and which of them are null. */
function recordResult(results: Map<string, ResultsOfText>, sql: string, { fields, rows }: Result): void {
  const recorded = results.get(sql) ?? { fields, nulls: new Map(), compared: new Set() }
  results.set(sql, recorded)
  for (const row of rows) {
    const names = fields.map(({ name }) => name).filter((name) => row[name] === null)
    recorded.nulls.set(names.join(), new Set(names))
  }
}

type Execute = (query: CompiledQuery) => Promise<Result>

/** Makes both drivers keep the results of statements for `findRowDifferences`, for as long as the worker runs. */
export function recordResults(): void {
  if (globalThis.resultsOfTexts) return
  const results = new Map<string, ResultsOfText>()
  globalThis.resultsOfTexts = results
  const record = (execute: Execute): Execute =>
    async function (this: unknown, query) {
      const result = await execute.call(this, query)
      recordResult(results, query.sql, result)
      return result
    }
  Object.assign(PGliteConnection.prototype, { execute: record(PGliteConnection.prototype.execute) })
  Object.assign(PostgresConnection.prototype, { execute: record(PostgresConnection.prototype.execute) })
}

/** Returns the differences between the results of a statement and the descriptions of its rows, a line each. */
export function findRowDifferences({ sql, descriptions: rows = [] }: ExecutedStatement): string[] {
  const results = globalThis.resultsOfTexts?.get(sql)
  if (!results || !rows.length) return []
  const wrongColumns = rows
    .filter((row) => !results.compared.has(row))
    .flatMap((row) => {
      results.compared.add(row)
      return findTypeDifferences(row, results.fields)
    })
  const nulls = [...results.nulls.values()]
  results.nulls.clear()
  const differences = wrongColumns.length ? wrongColumns : nulls.flatMap((names) => findNullDifferences(rows, names))
  return differences.map((line) => `${line}, in: ${sql}`)
}

/** Returns the columns whose names or types differ from the description. */
export function findTypeDifferences({ columns }: Row, fields: readonly ResultField[]): string[] {
  const extra = fields.filter(({ name }) => !Object.hasOwn(columns, name))
  const described = Object.entries(columns).flatMap(([name, { type, oid }]) => {
    const field = fields.find((other) => other.name === name)
    if (field?.dataTypeID === oid) return []
    return [`column "${name}": expected ${type} (${oid}), found ${field ? formatType(field) : 'no such column'}`]
  })
  return [...described, ...extra.map((field) => `column "${field.name}": expected none, found ${formatType(field)}`)]
}

/** Returns the name of a column's type, if the driver knows it, and its number. */
function formatType({ dataTypeID }: ResultField): string {
  const [name = 'type'] = Object.entries(pg.types.builtins).find(([, oid]) => oid === dataTypeID) ?? []
  return `${name.toLowerCase()} (${dataTypeID})`
}

/** Returns the columns that are null, or not null, against all descriptions. */
export function findNullDifferences(rows: readonly Row[], nulls: ReadonlySet<string>): string[] {
  const differences = rows.map(({ columns }) =>
    Object.entries(columns).flatMap(([name, { nulls: permitted, type }]: [string, Row['columns'][string]]) => {
      if (permitted === 'never' && nulls.has(name)) return [`column "${name}": expected ${type}, found null`]
      if (permitted === 'always' && !nulls.has(name)) return [`column "${name}": expected null, found ${type}`]
      return []
    }),
  )
  return differences.some((lines) => !lines.length) ? [] : differences[0]!
}
