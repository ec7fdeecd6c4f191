// File locks taken by SQLite. They work across processes and containers, and the kernel releases them when the process dies,
// even after kill -9.
import { DatabaseSync } from 'node:sqlite'
import { getErrorMessage } from './error-message.ts'

/** An exclusive lock on a file. */
export interface FileLock {
  release(): void
}

const SQLITE_BUSY = 5

/** Keeps the databases reachable: a garbage-collected database would release its lock. */
const heldDatabases = new Set<DatabaseSync>()

/**
 * Locks a file, which is created if missing. Tries for `patience` milliseconds, and blocks the process meanwhile. Returns undefined if
 * another process has the lock.
 * @throws Error if the file cannot be opened.
 */
export function lockFile(file: string, patience = 0): FileLock | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file)
    database.exec(`pragma busy_timeout = ${patience}; begin exclusive`)
  } catch (error) {
    database?.close()
    if (isBusy(error)) return undefined
    throw new Error(`${file} cannot be locked: ${getErrorMessage(error)}. Check that this user may write to it.`, {
      cause: error,
    })
  }
  heldDatabases.add(database)
  return {
    release() {
      database.close()
      heldDatabases.delete(database)
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
