// Rows of results are described once: their types follow from the descriptions, and tests compare these with what the database returns.
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

/** The description of the rows of a result. */
export interface Row<C extends Columns = Columns> {
  readonly columns: C
}

/** The type of the rows that a description describes. */
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
/** Of functions without a result, such as `pg_notify`. */
export const nothing = column<unknown>('void', 2278)

/** Returns the column of texts that are all of these. */
export const textOf = <T extends string>(): Column<T> => column('text', 25)

/** Returns the column of `jsonb` values of the type, which nothing checks. */
export const json = <T>(): Column<T> => column('jsonb', 3802)

/** Returns the column with nulls among its values. */
export const optional = <T>({ type, oid }: Column<T>): Column<T | null> => ({ type, oid, nulls: 'possible' })

/** Returns the column with nothing but nulls. */
export const absent = ({ type, oid }: Column<unknown>): Column<null> => ({ type, oid, nulls: 'always' })

/** Describes rows of these columns. */
export const row = <C extends Columns>(columns: C): Row<C> => ({ columns })

/** Describes rows of the same columns with nothing but nulls. */
export const absentRow = <C extends Columns>({ columns }: Row<C>): Row<{ [N in keyof C]: Column<null> }> =>
  // `fromEntries` forgets the names.
  row(
    Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, absent(column)])) as {
      [N in keyof C]: Column<null>
    },
  )

/** The row of a statement that counts. */
export const countRow = row({ count: integer })

/** The row of a statement that returns ids only. */
export const idRow = row({ id: text })

/** A statement as it is executed. */
export interface ExecutedStatement<T = unknown> extends CompiledQuery<T> {
  /** The descriptions of its rows: each row is as one of them says. Absent where nothing reads rows. */
  readonly rows?: readonly Row[]
}

/** A statement whose rows are of the type `T`. */
export class Statement<T> {
  readonly #sql: RawBuilder<T>
  readonly #rows: readonly Row[]

  constructor(sql: RawBuilder<T>, rows: readonly Row[]) {
    this.#sql = sql
    this.#rows = rows
  }

  /** Executes the statement and returns its rows. */
  async all(tx: Transaction): Promise<T[]> {
    const statement: ExecutedStatement<T> = { ...this.#sql.compile(tx), rows: this.#rows }
    return (await tx.executeQuery<T>(statement)).rows
  }

  /** Executes the statement and returns its first row; undefined when there is none. */
  async first(tx: Transaction): Promise<T | undefined> {
    return (await this.all(tx))[0]
  }

  /**
   * Executes the statement and returns its first row.
   * @throws Error when there is none.
   */
  async one(tx: Transaction): Promise<T> {
    const first = await this.first(tx)
    if (!first) throw new Error('The statement returned no row.')
    return first
  }
}

/** Returns the tag of statements whose rows are described so; of several descriptions, each row fulfils one. */
export function rows<R extends Row[]>(...descriptions: R) {
  return (strings: TemplateStringsArray, ...values: unknown[]) =>
    new Statement(sql<RowOf<R[number]>>(strings, ...values), descriptions)
}
