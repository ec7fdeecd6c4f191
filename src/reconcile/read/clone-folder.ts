// Temporary folders for clones of git repositories. The folders of a killed process are removed by the next one.
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileLock, lockFile } from '../../lib/file-lock.ts'

/** A temporary folder that this process holds a lock on. */
export interface CloneFolder {
  readonly folder: string
  remove(): Promise<void>
}

const PREFIX = 'regent-git-'
const LOCK = 'held'

/** Creates a folder, and removes those of processes that ended without removing theirs. */
export async function createCloneFolder(): Promise<CloneFolder> {
  const parent = tmpdir()
  for (const name of await readdir(parent)) if (name.startsWith(PREFIX)) await removeIfAbandoned(join(parent, name))
  // Lock the folder before it gets the prefix: other processes remove folders with the prefix that are not locked.
  const unnamed = await mkdtemp(join(parent, 'regent-new-'))
  const lock = lockFile(join(unnamed, LOCK))!
  const folder = join(parent, `${PREFIX}${unnamed.slice(-6)}`)
  await rename(unnamed, folder)
  return {
    folder,
    async remove() {
      await removeRecursively(folder)
      lock.release()
    },
  }
}

async function removeIfAbandoned(folder: string): Promise<void> {
  // Other users of the machine may create folders with the same prefix.
  const stats = await lstat(folder).catch(() => undefined)
  if (!stats?.isDirectory() || stats.uid !== process.getuid?.()) return
  const lock = tryLock(folder)
  if (!lock) return
  await removeRecursively(folder)
  lock.release()
}

/** Returns the lock of the folder; undefined where another process holds it or removes the folder. */
function tryLock(folder: string): FileLock | undefined {
  try {
    return lockFile(join(folder, LOCK))
  } catch {
    return undefined
  }
}

/** Retries: a git process may still write to the folder, and another process may remove it too. */
function removeRecursively(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 3 })
}
