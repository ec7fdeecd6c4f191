// A lock on a file, as SQLite takes it: it holds between containers as between processes, and the kernel frees it when the
// process dies, also by kill -9.
import { DatabaseSync } from 'node:sqlite'

/** A held lock. */
export interface FileLock {
  release(): void
}

const SQLITE_BUSY = 5

/** The locks of this process: one that nothing refers to any more would be collected, and so given up. */
const holding = new Set<DatabaseSync>()

/**
 * Locks the file, which is made where it is missing, for so many milliseconds at most trying; undefined when somebody else has
 * it. Nothing else of this process is done meanwhile. Throws what the file system says.
 */
export function lockFile(file: string, patience = 0): FileLock | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file)
    database.exec(`pragma busy_timeout = ${patience}; begin exclusive`)
  } catch (error) {
    database?.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw new Error(`${file} cannot be locked (${(error as Error).message}): may this user write there?`, {
      cause: error,
    })
  }
  holding.add(database)
  return {
    release() {
      database.close()
      holding.delete(database)
    },
  }
}
