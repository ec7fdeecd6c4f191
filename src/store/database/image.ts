// Creating an empty PGlite takes two seconds, and migrating it more: both are done once per schema and kept as an image.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect } from 'kysely'
import { migrate, schemaDigest } from './migrate.ts'
import type { Tables } from './transaction.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const cache = join(root, 'node_modules', '.cache', 'regent')

/** Whether the folder holds a database; if not, the image to make it from (absent where it cannot be kept). */
export async function emptyImage(folder: string | undefined): Promise<{ exists: boolean; image?: Blob }> {
  if (folder && existsSync(join(folder, 'PG_VERSION'))) return { exists: true }
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const version = dependencies['@electric-sql/pglite'] ?? ''
  const digest = createHash('sha256').update(version).update(schemaDigest()).digest('hex').slice(0, 16)
  const file = join(cache, `empty-${digest}.tar`)
  try {
    if (!existsSync(file)) await prepare(file)
    return { exists: false, image: new Blob([await readFile(file)]) }
  } catch {
    // A read-only installation has no cache: the database is then made and migrated each time.
    return { exists: false }
  }
}

async function prepare(file: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const pglite = await PGlite.create()
  const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) })
  await migrate(db)
  const image = await pglite.dumpDataDir('none')
  await db.destroy()
  // Written aside and renamed, so that a second process never reads half a file.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, Buffer.from(await image.arrayBuffer()))
  await rename(draft, file)
}
