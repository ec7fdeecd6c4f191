// Compares what statements return with the descriptions of their rows: names and types of the columns, and nulls.
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import type { ExecutedStatement, Row } from '../../src/store/database/query.ts'

/** A column as the database describes it. */
export interface ResultField {
  readonly name: string
  readonly dataTypeID: number
}

/** A result as both drivers return it. */
interface Result {
  readonly fields: readonly ResultField[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

/** The results of one SQL text. */
interface ResultsOfText {
  readonly fields: readonly ResultField[]
  /** Columns that were null together in some row, less those that have been compared. */
  readonly nulls: Map<string, ReadonlySet<string>>
  /** Descriptions that the columns have been compared with. */
  readonly compared: Set<Row>
}

declare global {
  /** The results of statements by SQL text. */
  var resultsOfTexts: Map<string, ResultsOfText> | undefined
}

/** Keeps the columns of a result, and which of them are null in its rows. */
function recordResult(results: Map<string, ResultsOfText>, sql: string, { fields, rows }: Result): void {
  const kept = results.get(sql) ?? { fields, nulls: new Map(), compared: new Set() }
  results.set(sql, kept)
  for (const row of rows) {
    const names = fields.map(({ name }) => name).filter((name) => row[name] === null)
    kept.nulls.set(names.join(), new Set(names))
  }
}

type Query = (sql: unknown, ...rest: unknown[]) => unknown

/** Returns the function of a driver that executes statements, which keeps their results from then on. */
function recordingResults(results: Map<string, ResultsOfText>, query: Query): Query {
  return function (this: unknown, sql, ...rest) {
    const answer = query.call(this, sql, ...rest)
    if (typeof sql !== 'string' || !(answer instanceof Promise)) return answer
    return answer.then((result: Result | Result[]) => {
      // Of several statements in one text each has a result, and none is described.
      if (!Array.isArray(result)) recordResult(results, sql, result)
      return result
    })
  }
}

/** Makes both drivers keep the results of statements for `describedWrong`, for as long as the worker runs. */
export function recordResults(): void {
  if (globalThis.resultsOfTexts) return
  const results = new Map<string, ResultsOfText>()
  globalThis.resultsOfTexts = results
  const { query, transaction } = PGlite.prototype
  Object.assign(pg.Client.prototype, { query: recordingResults(results, pg.Client.prototype.query as Query) })
  Object.assign(PGlite.prototype, {
    query: recordingResults(results, query as Query),
    transaction(this: PGlite, work: Parameters<typeof transaction>[0]) {
      return transaction.call(this, (tx) => work(Object.assign(tx, { query: recordingResults(results, tx.query as Query) })))
    },
  })
}

/** Returns how the results of an executed statement differ from the descriptions of its rows, a line each; nothing where it has none. */
export function findRowDifferences({ sql, descriptions: rows = [] }: ExecutedStatement): string[] {
  const found = globalThis.resultsOfTexts?.get(sql)
  if (!found || !rows.length) return []
  const wrongColumns = rows
    .filter((row) => !found.compared.has(row))
    .flatMap((row) => {
      found.compared.add(row)
      return findTypeDifferences(row, found.fields)
    })
  const nulls = [...found.nulls.values()]
  found.nulls.clear()
  const wrong = wrongColumns.length ? wrongColumns : nulls.flatMap((names) => findNullDifferences(rows, names))
  return wrong.map((line) => `${line}, in: ${sql}`)
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

/** Returns the type of a column: its name, where the driver knows it, and its number. */
function formatType({ dataTypeID }: ResultField): string {
  const [name = 'type'] = Object.entries(pg.types.builtins).find(([, oid]) => oid === dataTypeID) ?? []
  return `${name.toLowerCase()} (${dataTypeID})`
}

/** Returns the columns of a row that may not be null and are, or the other way round, unless one of the descriptions permits that. */
export function findNullDifferences(rows: readonly Row[], nulls: ReadonlySet<string>): string[] {
  const wrong = rows.map(({ columns }) =>
    Object.entries(columns).flatMap(([name, { nulls: permitted, type }]: [string, Row['columns'][string]]) => {
      if (permitted === 'never' && nulls.has(name)) return [`column "${name}": expected ${type}, found null`]
      if (permitted === 'always' && !nulls.has(name)) return [`column "${name}": expected null, found ${type}`]
      return []
    }),
  )
  return wrong.some((lines) => !lines.length) ? [] : wrong[0]!
}
