// What the drivers of both engines share: PostgreSQL's dialect, and results with their columns.
import {
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'

/** A column of a result. */
export interface ResultField {
  readonly name: string
  /** The number of its type in the table `pg_type`. */
  readonly dataTypeID: number
}

/** A result with its columns, which tests compare with the descriptions of the rows. */
export interface ResultWithFields<R> extends QueryResult<R> {
  readonly fields: readonly ResultField[]
}

/** Creates the dialect of PostgreSQL with a driver. */
export function createDialect(createDriver: () => Driver): Dialect {
  return {
    createDriver,
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
}

/** Throws: the store reads no streams. */
export function refuseStreaming(): never {
  throw new Error('Streaming is not supported.')
}
