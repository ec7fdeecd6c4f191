// All that a store keeps as one stream: lines of JSON in gzip (0051). The first says what follows; then come the rows of one table
// after the other; the last has the digest of all lines before it.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import * as z from 'zod'
import { MASTER } from '../../kinds/built-in/index.ts'
import { type Spool, spoolToDisk } from '../../lib/spool.ts'
import { version } from '../../lib/version.ts'
import { countRows, findLastMigration, listSequences, listTables, readRows } from '../../store/database/backup.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { failure } from '../context/errors.ts'
import type { Caller, Service } from '../context/service.ts'
import { getStoreKeyId } from '../context/vault-key.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'

/** The first line of a back-up. */
const headerSchema = z.object({
  format: z.literal('regent-backup'),
  /** Of this form. */
  form: z.literal(1),
  /** Regent's version. */
  regent: z.string(),
  at: z.string(),
  /** The last migration of the store. */
  level: z.string(),
  /** Id of the key that opens the store. */
  key: z.string(),
  /** Tables in the order in which they follow. */
  tables: z.array(z.object({ name: z.string(), rows: z.number() })),
  sequences: z.array(z.object({ table: z.string(), column: z.string(), value: z.number() })),
})

/** What a back-up says of itself. */
export type BackupHeader = z.output<typeof headerSchema>

/** The bytes are no back-up, or not all of one. */
export class BrokenBackupError extends Error {}

/** Rows go to the store when it is that many, or their text that long. */
const ROWS = 5_000
const LENGTH = 4_000_000

/** Everything that the store keeps, as it was at one moment. Throws forbidden unless the caller has power over every realm. */
export function createBackup(service: Service, caller: Caller): Promise<Spool> {
  return service.readSnapshot(caller, MASTER, async (context) => {
    if (!context) throw failure('not_found', 'Realm not found.')
    requirePermissions(context, 'every-realm')
    // The embedded store does nothing else meanwhile: it does not wait for who takes the answer.
    return spoolToDisk((into) => pipeline(textOf(context.tx), createGzip(), into))
  })
}

async function* textOf(tx: Transaction): AsyncGenerator<string> {
  const digest = createHash('sha256')
  const told = (text: string) => {
    digest.update(text)
    return text
  }
  const tables = await listTables(tx)
  const header: BackupHeader = {
    format: 'regent-backup',
    form: 1,
    regent: version,
    at: new Date().toISOString(),
    level: await findLastMigration(tx),
    key: await getStoreKeyId(tx),
    tables: await countRows(tx, tables),
    sequences: await listSequences(tx),
  }
  yield told(`${JSON.stringify(header)}\n`)
  for (const { name } of header.tables) {
    const table = tables.find((one) => one.name === name)!
    for await (const rows of readRows(tx, table)) yield told(rows.map((row) => `${row}\n`).join(''))
  }
  yield `${JSON.stringify({ sha256: digest.digest('hex') })}\n`
}

/**
 * Reads a back-up to its end, and gives what it says of itself; `take` gets the rows of a table as the text of a list, some at a
 * time. Throws BrokenBackup, only at the end where something was changed on the way.
 */
export async function readBackup(
  bytes: Readable,
  take: (table: string, rows: string) => Promise<void> = async () => {},
): Promise<BackupHeader> {
  const text = createGunzip({ chunkSize: 1 << 18 }).setEncoding('utf8')
  try {
    return await pipeline(bytes, text, async (texts: AsyncIterable<string>) => readLines(linesOf(texts), take))
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error
    throw new BrokenBackupError(`it is no back-up of Regent, or damaged (${(error as Error).message})`)
  }
}

async function readLines(
  lines: AsyncGenerator<string>,
  take: (table: string, rows: string) => Promise<void>,
): Promise<BackupHeader> {
  const digest = createHash('sha256')
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new BrokenBackupError('it ends too early')
    return value
  }
  const row = async () => {
    const line = await next()
    digest.update(`${line}\n`)
    return line
  }
  const header = headerOf(await row())
  for (const { name, rows } of header.tables) {
    for (let left = rows; left > 0; ) {
      const some: string[] = []
      for (let length = 0; left > 0 && some.length < ROWS && length < LENGTH; left--) {
        some.push(await row())
        length += some.at(-1)!.length
      }
      await take(name, `[${some.join(',')}]`)
    }
  }
  if ((await next()) !== JSON.stringify({ sha256: digest.digest('hex') }))
    throw new BrokenBackupError('its digest is not that of what it says')
  return header
}

function headerOf(line: string): BackupHeader {
  const read = headerSchema.safeParse(parsed(line))
  if (read.success) return read.data
  throw new BrokenBackupError('it is no back-up of Regent, or of another form')
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}
