// Backups: all rows of a store as gzipped JSON lines (0051). The first line is a header, the rows follow by table, and the last line
// has the digest of all lines before it.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import * as z from 'zod'
import { MASTER } from '../../kinds/built-in/index.ts'
import { getErrorCode } from '../../lib/error-code.ts'
import { getErrorMessage } from '../../lib/error-message.ts'
import { parseJsonOrNull } from '../../lib/http/http-request.ts'
import { type Spool, spoolToDisk } from '../../lib/spool.ts'
import { reportProgress } from '../../lib/timing/progress.ts'
import { version } from '../../lib/version.ts'
import { countRows, findLastMigration, listSequences, listTables, readRows } from '../../store/database/backup.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { failure } from '../context/errors.ts'
import type { Caller, Service } from '../context/service.ts'
import { getStoreKeyId } from '../context/vault-key.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'

/** The first line of a backup. */
const headerSchema = z.object({
  format: z.literal('regent-backup'),
  /** Version of the format. */
  form: z.literal(1),
  /** Version of Regent. */
  regent: z.string(),
  at: z.string(),
  /** The last migration of the store. */
  level: z.string(),
  /** Id of the key that opens the store. */
  key: z.string(),
  /** Tables in the order of their rows. */
  tables: z.array(z.object({ name: z.string(), rows: z.number() })),
  sequences: z.array(z.object({ table: z.string(), column: z.string(), value: z.number() })),
})

/** The header of a backup. */
export type BackupHeader = z.output<typeof headerSchema>

/** Thrown if a file is not a backup, or an incomplete or damaged one. */
export class BrokenBackupError extends Error {}

/** Limits of the rows that are passed on at a time: their number, and the length of their text. */
const MAX_ROWS = 5_000
const MAX_LENGTH = 4_000_000

/** Creates a backup of the whole store, in one snapshot. Throws forbidden unless the caller administers every realm. */
export function createBackup(service: Service, caller: Caller): Promise<Spool> {
  return service.readSnapshot(caller, MASTER, async (context) => {
    if (!context) throw failure('not_found', 'Realm not found.')
    requirePermissions(context, 'every-realm')
    // The snapshot must not last as long as the download, since it blocks the embedded store.
    return spoolToDisk((into) => pipeline(writeLines(context.tx), createGzip(), into))
  })
}

async function* writeLines(tx: Transaction): AsyncGenerator<string> {
  const digest = createHash('sha256')
  const withDigest = (text: string) => {
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
  yield withDigest(`${JSON.stringify(header)}\n`)
  const total = countAllRows(header)
  let done = 0
  for (const { name } of header.tables) {
    const columns = tables.find((table) => table.name === name)!
    for await (const rows of readRows(tx, columns)) {
      yield withDigest(rows.map((row) => `${row}\n`).join(''))
      done += rows.length
      await reportProgress({ phase: 'backup', done, total })
    }
  }
  yield `${JSON.stringify({ sha256: digest.digest('hex') })}\n`
}

/** Returns the number of rows in a backup. */
function countAllRows({ tables }: BackupHeader): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0)
}

/** Gets rows of a table as the text of a JSON list. */
type TakeRows = (table: string, rows: string) => Promise<void>

/**
 * Reads a backup to its end and returns its header. `takeRows` is called with some rows at a time; without it the backup is only verified. Throws BrokenBackupError; if the file
 * was changed, only at the end.
 */
export async function readBackup(bytes: Readable, takeRows?: TakeRows): Promise<BackupHeader> {
  const text = createGunzip({ chunkSize: 1 << 18 }).setEncoding('utf8')
  try {
    return await pipeline(bytes, text, async (chunks: AsyncIterable<string>) => readLines(splitLines(chunks), takeRows))
  } catch (error) {
    if (!getErrorCode(error)?.startsWith('Z_')) throw error
    throw new BrokenBackupError(`it is not a backup of Regent, or it is damaged (${getErrorMessage(error)})`)
  }
}

async function readLines(lines: AsyncGenerator<string>, takeRows: TakeRows | undefined): Promise<BackupHeader> {
  const digest = createHash('sha256')
  const readLine = async () => {
    const { value, done } = await lines.next()
    if (done) throw new BrokenBackupError('it is incomplete')
    return value
  }
  const readWithDigest = async () => {
    const line = await readLine()
    digest.update(`${line}\n`)
    return line
  }
  const header = parseHeader(await readWithDigest())
  const total = countAllRows(header)
  let done = 0
  for (const { name, rows } of header.tables) {
    for (let remaining = rows; remaining > 0; ) {
      const chunk: string[] = []
      for (let length = 0; remaining > 0 && chunk.length < MAX_ROWS && length < MAX_LENGTH; remaining--) {
        chunk.push(await readWithDigest())
        length += chunk.at(-1)!.length
      }
      await takeRows?.(name, `[${chunk.join(',')}]`)
      done += chunk.length
      await reportProgress({ phase: takeRows ? 'restore' : 'verify', done, total })
    }
  }
  if ((await readLine()) !== JSON.stringify({ sha256: digest.digest('hex') }))
    throw new BrokenBackupError('its digest does not match its content')
  return header
}

function parseHeader(line: string): BackupHeader {
  const result = headerSchema.safeParse(parseJsonOrNull(line))
  if (result.success) return result.data
  throw new BrokenBackupError('it is not a backup of Regent, or it has a format that this version does not read')
}

async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}
