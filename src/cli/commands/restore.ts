import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { FolderInUse } from '../../service/context/store-types.ts'
import { restore } from '../../service/operations/restore.ts'
import { type StoreFlags, storeOf } from '../connect.ts'
import { contentOf, naming } from './backup.ts'
import { keyIn } from './key.ts'

/** `regent restore`: into a store that holds nothing, with the key of the one that was backed up. */
export async function restoreCommand(file: string, flags: StoreFlags): Promise<void> {
  const { database, data, keyFile = join(data, 'key') } = storeOf(flags)
  const key = await keyIn(
    keyFile,
    'and a back-up opens only with the key of its store: name its file with --key-file (REGENT_KEY_FILE)',
  )
  const location = database ? { url: database } : { folder: data }
  const header = await naming(file, () => alone(() => restore({ location, key }, () => createReadStream(file))))
  console.log(`Restored ${contentOf(header)}, as of ${header.at}, into ${database ? placeOf(database) : data}.`)
  console.log(startWith(database, data, keyFile))
}

/** Says what to do where a server runs all the same. */
export async function alone<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    throw new Error(`${error.message}: stop it first`, { cause: error })
  }
}

/** How a store is served. */
export function startWith(database: string | undefined, data: string, keyFile: string): string {
  return database
    ? `Serve it with: regent serve --database <URL> --key-file ${keyFile}`
    : `Serve it with: regent serve --data ${data}${keyFile === join(data, 'key') ? '' : ` --key-file ${keyFile}`}`
}

/** A database as it may be shown: without its password. */
export function placeOf(database: string): string {
  const url = new URL(database)
  url.password = ''
  for (const name of [...url.searchParams.keys()]) url.searchParams.delete(name)
  return url.href
}
