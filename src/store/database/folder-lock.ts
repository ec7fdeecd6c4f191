// The lock of a data folder. PGlite itself would let a second process open the folder and write to it. The URL of the running server is
// stored next to the lock.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { chmod, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder } from '../../lib/create-folder.ts'
import { lockFile } from '../../lib/file-lock.ts'

/** Thrown if another process has the folder open. `url` is the address of its server, if it is one. */
export class FolderInUse extends Error {
  readonly code = 'FOLDER_IN_USE'
  readonly url: string | undefined
  constructor(folder: string, url: string | undefined) {
    super(`${folder} is in use by another process${url ? `, which serves ${url}` : ''}.`)
    this.url = url
  }
}

/** The lock of a folder. */
export interface FolderLock {
  /** Publishes the URL of this process's server to processes that cannot take the lock. */
  announce(url: string): Promise<void>
  release(): void
}

/** Milliseconds to wait for a process that is taking the lock at the moment. */
const PATIENCE = 5_000

/** Locks the folder for this process. Throws FolderInUse, or an error of the file system. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const lockPath = await prepareLockFolder(folder)
  const address = join(lockPath, 'address')
  // The gate guards lock and address together, so that nobody reads the address that a dead process left. It is held without `await`:
  // other work of this process would wait for it for ever.
  const gate = lockFile(join(lockPath, 'gate'), PATIENCE)
  if (!gate) throw new FolderInUse(folder, undefined)
  try {
    const lock = lockFile(join(lockPath, 'held'))
    if (!lock) throw new FolderInUse(folder, readIfExists(address))
    rmSync(address, { force: true })
    return {
      async announce(url) {
        await writeFile(`${address}.draft`, url, { mode: 0o600 })
        await rename(`${address}.draft`, address)
      },
      release() {
        rmSync(address, { force: true })
        lock.release()
      },
    }
  } finally {
    gate.release()
  }
}

/** Returns the URL of the server that has the folder open; undefined if none has. Throws errors of the file system. */
export async function findFolderServer(folder: string): Promise<string | undefined> {
  if (!existsSync(join(folder, 'lock'))) return undefined
  try {
    const lock = await lockFolder(folder)
    lock.release()
    return undefined
  } catch (error) {
    if (error instanceof FolderInUse) return error.url
    throw error
  }
}

/** Creates the folder of the lock for the current user only: an address of another user could lead commands to their server. */
async function prepareLockFolder(folder: string): Promise<string> {
  const lockFolder = join(folder, 'lock')
  await createFolder(lockFolder)
  const currentUser = process.getuid?.()
  const { uid } = await stat(lockFolder)
  if (currentUser === undefined) return lockFolder
  if (uid === currentUser) await chmod(lockFolder, 0o700)
  else if (uid !== (await stat(folder)).uid) throw new Error(`${lockFolder} belongs to another user. Remove it.`)
  return lockFolder
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
