import type { Kysely } from 'kysely'

/** The tables are named in SQL texts; Kysely is the seam between the engines, the transactions and the parameters. */
export type Tables = unknown
/** A transaction, or for a single read the connection itself: the first argument of every function of the store. */
export type Transaction = Kysely<Tables>
