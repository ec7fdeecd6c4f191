// Queries with described rows. The types of the rows are inferred from the descriptions, and tests compare these with the results.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { Transaction } from './transaction.ts'

/** A column of a result. `T` is the type of its values. */
export interface Column<T> {
  /** The name of its SQL type. */
  readonly type: string
  /** The number of that type in the table `pg_type`. */
  readonly oid: number
  readonly nulls: 'never' | 'possible' | 'always'
  /** Never set: it only carries the type. */
  readonly value?: T
}

/** The columns of a result by name. */
type Columns = Readonly<Record<string, Column<unknown>>>

/** The columns of the rows that an SQL statement returns, with their types. */
export interface Row<C extends Columns = Columns> {
  readonly columns: C
}

/** The TypeScript type of rows with these columns. */
export type RowOf<R extends Row> =
  R extends Row<infer C> ? { readonly [N in keyof C]: C[N] extends Column<infer T> ? T : never } : never

const column = <T>(type: string, oid: number): Column<T> => ({ type, oid, nulls: 'never' })

export const text = column<string>('text', 25)
export const boolean = column<boolean>('boolean', 16)
export const integer = column<number>('integer', 23)
/** The numbers of the store stay below 2^53. */
export const bigint = column<number>('bigint', 20)
export const timestamp = column<Date>('timestamp with time zone', 1184)
export const textArray = column<string[]>('text[]', 1009)
/** The result of functions without a result, such as `pg_notify`. */
export const nothing = column<unknown>('void', 2278)

/** Returns the column of texts of the type, which is not checked. */
export const textOf = <T extends string>(): Column<T> => column('text', 25)

/** Returns the column of `jsonb` values of the type, which is not checked. */
export const json = <T>(): Column<T> => column('jsonb', 3802)

/** Returns the column as one that may be null. */
export const optional = <T>({ type, oid }: Column<T>): Column<T | null> => ({ type, oid, nulls: 'possible' })

/** Returns the column as one that is always null. */
export const absent = ({ type, oid }: Column<unknown>): Column<null> => ({ type, oid, nulls: 'always' })

/** Creates the description of rows with these columns. */
export const row = <C extends Columns>(columns: C): Row<C> => ({ columns })

/** Describes rows of the same columns with nulls only. */
export const absentRow = <C extends Columns>({ columns }: Row<C>): Row<{ [N in keyof C]: Column<null> }> =>
  // `fromEntries` loses the type of the keys.
  row(
    Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, absent(column)])) as {
      [N in keyof C]: Column<null>
    },
  )

/** The row of a statement that counts. */
export const countRow = row({ count: integer })

/** The row of a statement that returns ids only. */
export const idRow = row({ id: text })

/**
 * Returns the SQL of a comparison with a list of values. A single value is compared by itself: PostgreSQL would plan a list at each
 * execution, since it assumes ten elements where it does not know their number.
 */
export const equalsAny = (values: readonly unknown[]): RawBuilder<unknown> =>
  values.length === 1 ? sql`= ${values[0]}` : sql`= any(${values})`

/**
 * Returns a condition that a column equals the value of the single row of a record set; an empty text for several rows. PostgreSQL assumes
 * a hundred rows, for which it would read the whole table.
 */
export const ifSingle = <T>(
  rows: readonly T[],
  column: RawBuilder<unknown>,
  getValue: (row: T) => string,
): RawBuilder<unknown> => (rows.length === 1 ? sql` and ${column} = ${getValue(rows[0]!)}` : sql``)

/** The maximum number of rows that one statement writes. */
export const CHUNK_SIZE = 5_000

/** A compiled statement. */
export interface ExecutedStatement<T = unknown> extends CompiledQuery<T> {
  /** The descriptions of its rows; each row conforms to one of them. Absent if no rows are read. */
  readonly descriptions?: readonly Row[]
}

/** A statement that returns rows of the type `T`. */
export class RowQuery<T> {
  readonly #sql: RawBuilder<T>
  readonly #rows: readonly Row[]

  constructor(sql: RawBuilder<T>, rows: readonly Row[]) {
    this.#sql = sql
    this.#rows = rows
  }

  /** Executes the statement and returns its rows. */
  async all(tx: Transaction): Promise<T[]> {
    const statement: ExecutedStatement<T> = { ...this.#sql.compile(tx), descriptions: this.#rows }
    return (await tx.executeQuery<T>(statement)).rows
  }

  /** Executes the statement and returns its first row; undefined if there is none. */
  async first(tx: Transaction): Promise<T | undefined> {
    return (await this.all(tx))[0]
  }

  /**
   * Executes the statement and returns its first row.
   * @throws Error if there is none.
   */
  async firstOrThrow(tx: Transaction): Promise<T> {
    const first = await this.first(tx)
    if (!first) throw new Error('The statement returned no row.')
    return first
  }
}

/** Returns the template tag of queries with described rows. Each row conforms to one of the descriptions. */
export function query<R extends Row[]>(...descriptions: R) {
  return (strings: TemplateStringsArray, ...values: unknown[]) =>
    new RowQuery(sql<RowOf<R[number]>>(strings, ...values), descriptions)
}
