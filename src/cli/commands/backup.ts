import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { getErrorCode } from '../../lib/error-code.ts'
import { type BackupHeader, BrokenBackupError, readBackup } from '../../service/operations/backup.ts'
import { connect, type StoreFlags } from '../connect.ts'
import { interruptible, runWithProgress } from '../terminal/interruption.ts'
import { showProgress, withProgress } from '../terminal/progress.ts'
import { WorkTracker } from '../terminal/work-tracker.ts'

/** `regent backup`: writes a file, verifies it, and only then replaces an earlier one. */
export async function backup(file: string, flags: StoreFlags): Promise<void> {
  const stats = await stat(dirname(resolve(file))).catch(() => undefined)
  if (!stats?.isDirectory()) throw new Error(`There is no folder ${dirname(file)}. Create it, or pass another file.`)
  const draft = `${file}.${randomUUID()}`
  try {
    const header = await write(
      draft,
      flags,
      `No backup was written.${existsSync(file) ? ` ${file} is unchanged.` : ''}`,
    )
    const { size } = await stat(draft)
    await rename(draft, file)
    console.log(`Backed up ${describeContent(header)} to ${file} (${formatSize(size)}).`)
    console.log(
      `Keep the key file too, in another place: the backup cannot be restored without it (fingerprint ${header.key}).`,
    )
  } finally {
    await rm(draft, { force: true })
  }
}

/** Writes and verifies a backup. `effect`: describes the state that a cancellation leaves. */
async function write(file: string, flags: StoreFlags, effect: string): Promise<BackupHeader> {
  const download = async (signal: AbortSignal) => {
    const connection = await connect(flags, 'fail', { tracker: new WorkTracker(), signal })
    try {
      const bytes = await connection.download('/regent/v1/backup')
      let received = 0
      const count = async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          received += chunk.length
          showProgress({ label: 'Writing the backup', done: Math.ceil(received / 1e3), unit: 'kB' })
          yield chunk
        }
      }
      await pipeline(bytes, count, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }), { signal })
    } finally {
      await connection.close()
    }
  }
  await withProgress(() => interruptible(download, () => effect))
  return runWithProgress(
    () => readFileBackup(file),
    () => effect,
  )
}

/** Reads a backup to its end and returns its header. @throws Error if it is damaged. */
export function readFileBackup(file: string): Promise<BackupHeader> {
  return withFileName(file, () => readBackup(createReadStream(file)))
}

/** Runs the work, and adds the name of the file to errors about it. */
export async function withFileName<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' && !existsSync(file))
      throw new Error(`There is no file ${file}.`, { cause: error })
    if (!(error instanceof BrokenBackupError)) throw error
    throw new Error(`${file} cannot be restored: ${error.message}`, { cause: error })
  }
}

/** Describes the content of a backup, such as `2 realms with 10 users`. */
export function describeContent({ tables }: BackupHeader): string {
  const rows = (table: string) => tables.find(({ name }) => name === table)?.rows ?? 0
  const counted = (count: number, noun: string) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
  return `${counted(rows('realm'), 'realm')} with ${counted(rows('user_account'), 'user')}`
}

function formatSize(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
