// PGlite lets a second process open its folder and write: so the folder is locked here. Only who may write the folder takes
// the lock. Beside it stands where the running server answers.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { chmod, mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '../../lib/file-lock.ts'

/** The folder is open in another process, whose server answers at `url` (absent: it is not a server). */
export class FolderInUse extends Error {
  readonly folder: string
  readonly url: string | undefined
  constructor(folder: string, url: string | undefined) {
    super(`${folder} is in use by another process${url ? `, which serves ${url}` : ''}`)
    this.folder = folder
    this.url = url
  }
}

/** A held lock. */
export interface FolderLock {
  /** Tells those who are refused where this process answers. */
  announce(url: string): Promise<void>
  release(): void
}

/** Milliseconds to wait for another process that is looking at the lock just now. */
const PATIENCE = 5_000

/** Locks the folder for this process. Throws FolderInUse, or what the file system says. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const room = await lockRoom(folder)
  const address = join(room, 'address')
  // Who holds the gate sees lock and address as they belong together: never the address that a dead process left.
  // Nothing in between gives way to other work of this process, which would wait for the gate for ever.
  const gate = lockFile(join(room, 'gate'), PATIENCE)
  if (!gate) throw new FolderInUse(folder, undefined)
  try {
    const held = lockFile(join(room, 'held'))
    if (!held) throw new FolderInUse(folder, read(address))
    rmSync(address, { force: true })
    return {
      async announce(url) {
        await writeFile(`${address}.draft`, url, { mode: 0o600 })
        await rename(`${address}.draft`, address)
      },
      release() {
        rmSync(address, { force: true })
        held.release()
      },
    }
  } finally {
    gate.release()
  }
}

/** Where the server answers that holds the folder. Throws what the file system says. */
export async function serverHolding(folder: string): Promise<string | undefined> {
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

/** The place for the lock: only for who runs this. What another user put there could lead commands to their server. */
async function lockRoom(folder: string): Promise<string> {
  const room = join(folder, 'lock')
  await mkdir(room, { recursive: true, mode: 0o700 })
  const me = process.getuid?.()
  const { uid } = await stat(room)
  if (me === undefined) return room
  if (uid === me) await chmod(room, 0o700)
  else if (uid !== (await stat(folder)).uid) throw new Error(`${room} belongs to another user: remove it`)
  return room
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
