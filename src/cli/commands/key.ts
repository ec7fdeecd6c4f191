// The file with the key that protects secrets at rest.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MAKE_KEY } from '../../config.ts'

/** Where the store is, and its key. */
export interface StoreKey {
  readonly database?: string | undefined
  readonly data: string
  readonly keyFile?: string | undefined
}

/** The key of the store: at least 32 bytes, base64url. A missing file is made only together with a new embedded store. */
export async function readKey({ database, data, keyFile }: StoreKey): Promise<Uint8Array> {
  if (database && !keyFile)
    throw new Error(
      `the key of the database's secrets is missing: name its file with --key-file (REGENT_KEY_FILE); for a new database ${MAKE_KEY}`,
    )
  const file = keyFile ?? join(data, 'key')
  const fresh = !database && !existsSync(join(data, 'pglite'))
  if (fresh && !existsSync(file)) await makeKey(file)
  return storeKeyIn(file)
}

/** The key of a store that is there already, from its file. */
export function storeKeyIn(file: string): Promise<Uint8Array> {
  return keyIn(
    file,
    'and without the key the secrets in the store are lost: put it back, or name it with --key-file (REGENT_KEY_FILE)',
  )
}

/** The key in a file: at least 32 bytes, base64url. */
export async function keyIn(file: string, advice: string): Promise<Uint8Array> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`the key file ${file} cannot be read (${error.code}), ${advice}`)
  })
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length < 32) throw new Error(`the key file ${file} must hold at least 32 bytes in base64: ${MAKE_KEY}`)
  return key
}

/** Readable by its owner only. Two processes at once: one of them makes it, and neither reads half of it. */
async function makeKey(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
}
