// The file with the key that protects secrets at rest.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CREATE_KEY_ADVICE } from '../../config.ts'
import { createFolder } from '../../lib/create-folder.ts'

/** The place of a store, and the file with its key. */
export interface StoreKey {
  readonly database?: string | undefined
  readonly data: string
  readonly keyFile?: string | undefined
}

/** Reads the key of a store: at least 32 bytes, in base64url. A missing file is created only with a new embedded store. */
export async function readKey({ database, data, keyFile }: StoreKey): Promise<Uint8Array> {
  if (database && !keyFile)
    throw new Error(
      `A database requires a key. Pass its file with --key-file (REGENT_KEY_FILE); for a new database ${CREATE_KEY_ADVICE}.`,
    )
  const file = keyFile ?? join(data, 'key')
  const isNewStore = !database && !existsSync(join(data, 'pglite'))
  if (isNewStore && !existsSync(file)) await createKeyFile(file)
  return readStoreKeyFile(file)
}

/** Reads the key of an existing store from its file. */
export function readStoreKeyFile(file: string): Promise<Uint8Array> {
  return readKeyFile(
    file,
    'Without the key the secrets in the store are lost. Restore the file, or pass it with --key-file (REGENT_KEY_FILE).',
  )
}

/** Reads a key from a file: at least 32 bytes, in base64url. `advice` ends the message if the file cannot be read. */
export async function readKeyFile(file: string, advice: string): Promise<Uint8Array> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The key file ${file} cannot be read (${error.code}). ${advice}`)
  })
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length < 32)
    throw new Error(`The key file ${file} must hold at least 32 bytes in base64: ${CREATE_KEY_ADVICE}.`)
  return key
}

/** Creates a key file that only its owner can read. If two processes do so at once, one file wins and is never half-written. */
async function createKeyFile(file: string): Promise<void> {
  await createFolder(dirname(file))
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
}
