// Errors of connections to the database, in contrast to those of statements.
import { getErrorCode } from '../../lib/error-code.ts'

/** Thrown where the database cannot be reached, or has broken the connection. Whether a commit that was sent has succeeded is unknown. */
export class StoreUnreachable extends Error {
  constructor(cause: unknown) {
    super(`The database cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Codes of the system: no connection, or a broken one. */
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOENT',
])

/**
 * SQLSTATEs of a server that ends, starts, or accepts no further connection: admin_shutdown, crash_shutdown, cannot_connect_now,
 * too_many_connections; and read_only_sql_transaction, of a server that has become a replica.
 */
const SERVER_CODES = new Set(['57P01', '57P02', '57P03', '53300', '25006'])

/** The class of SQLSTATEs connection_exception. */
const CONNECTION_EXCEPTION = /^08...$/

/** Texts of errors of `pg`, which have no code. */
const DRIVER_ERRORS =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/

/** Returns the error to throw for an error of the driver: StoreUnreachable where the connection failed. */
export function toStoreError(error: unknown): unknown {
  const code = getErrorCode(error) ?? ''
  const isUnreachable =
    SYSTEM_CODES.has(code) ||
    SERVER_CODES.has(code) ||
    CONNECTION_EXCEPTION.test(code) ||
    (error instanceof Error && DRIVER_ERRORS.test(error.message))
  return isUnreachable ? new StoreUnreachable(error) : error
}
