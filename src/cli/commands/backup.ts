import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type BackupHeader, BrokenBackup, readBackup } from '../../service/operations/backup.ts'
import { connect, type StoreFlags, serverOf, storeOf } from '../connect.ts'
import type { StoreKey } from './key.ts'

/** `regent backup`: what is written is read again before it takes the place of an earlier file. */
export async function backup(file: string, flags: StoreFlags): Promise<void> {
  if (!serverOf(flags)) demandStore(storeOf(flags))
  const draft = `${file}.${randomUUID()}`
  try {
    const header = await write(draft, flags)
    const { size } = await stat(draft)
    await rename(draft, file)
    console.log(`Backed up ${contentOf(header)} to ${file} (${sizeOf(size)}).`)
    console.log(`Keep the key file as well, and apart from it: nobody restores it without the key ${header.key}.`)
  } finally {
    await rm(draft, { force: true })
  }
}

async function write(file: string, flags: StoreFlags): Promise<BackupHeader> {
  const connection = await connect(flags)
  try {
    const bytes = await connection.download('/regent/v1/backup')
    await pipeline(bytes, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }))
  } finally {
    await connection.close()
  }
  return readFileBackup(file)
}

/** What a file says of itself, which is read to its end. Throws what is wrong with it. */
export function readFileBackup(file: string): Promise<BackupHeader> {
  return naming(file, () => readBackup(createReadStream(file)))
}

/** Says which file is broken. */
export async function naming<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && (error as NodeJS.ErrnoException).path === file)
      throw new Error(`there is no file ${file}`, { cause: error })
    if (!(error instanceof BrokenBackup)) throw error
    throw new Error(`${file} cannot be restored: ${error.message}`, { cause: error })
  }
}

/** Throws unless there is a store: one that is made by the way would be saved for another. */
export function demandStore({ database, data }: StoreKey): void {
  if (database || existsSync(join(data, 'pglite'))) return
  throw new Error(
    `there is no store in ${data}: name its folder with --data, its database with --database, or its server with --server`,
  )
}

/** What it holds, for people. */
export function contentOf({ tables }: BackupHeader): string {
  const rows = (table: string) => tables.find(({ name }) => name === table)?.rows ?? 0
  const counted = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`
  return `${counted(rows('realm'), 'realm')} with ${counted(rows('user_account'), 'account')}`
}

function sizeOf(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
