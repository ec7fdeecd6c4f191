// Folders for what is fetched. A process that is killed leaves its own behind: the next one removes what nobody holds.
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileLock, lockFile } from '../../lib/file-lock.ts'

/** A folder that is this process's until it is removed. */
export interface Clone {
  readonly folder: string
  remove(): Promise<void>
}

const NAMED = 'regent-git-'

/** Makes a folder, and removes those of processes that ended without doing so. */
export async function makeClone(): Promise<Clone> {
  const above = tmpdir()
  for (const name of await readdir(above)) if (name.startsWith(NAMED)) await removeAbandoned(join(above, name))
  // It is held before it has a name by which others look for it: what they find and nobody holds is abandoned.
  const begun = await mkdtemp(join(above, 'regent-new-'))
  const lock = lockFile(join(begun, 'held'))!
  const folder = join(above, `${NAMED}${begun.slice(-6)}`)
  await rename(begun, folder)
  return {
    folder,
    async remove() {
      await removeAll(folder)
      lock.release()
    },
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  // Others of this machine may make folders of such names too.
  const found = await lstat(folder).catch(() => undefined)
  if (!found?.isDirectory() || found.uid !== process.getuid?.()) return
  const lock = lockIn(folder)
  if (!lock) return
  await removeAll(folder)
  lock.release()
}

/** The lock of a folder that nobody holds, and that nobody else removes meanwhile. */
function lockIn(folder: string): FileLock | undefined {
  try {
    return lockFile(join(folder, 'held'))
  } catch {
    return undefined
  }
}

/** A git that has outlived its process may write there still, and another process may be removing it too. */
function removeAll(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 3 })
}
