// Opens PGlite. Creating an empty database takes two seconds, and migrating it more, so both are done once per schema, and the
// result is kept as an image.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { Kysely } from 'kysely'
import { getSchemaDigest, LAST_MIGRATION, migrate } from './migrate.ts'
import { PGliteDriver } from './pglite-driver.ts'
import type { Tables } from './transaction.ts'

const packageFile = findPackageJSON('.', import.meta.url)!
const cache = join(dirname(packageFile), 'node_modules', '.cache', 'regent')

/**
 * V8 compiles PGlite at once, and optimizes a function after it has run about so many bytes. Optimizing the function that evaluates
 * expressions takes 800 ms and 600 MB, which pays only in processes that run for long.
 */
const WASM_TIERING_BUDGET = 2_000_000_000

/**
 * Opens the database of a folder, or one in memory. A new database has all migrations already if `lastMigration` is the last one, and
 * none otherwise.
 */
export async function openPGlite(folder: string | undefined, lastMigration: string): Promise<PGlite> {
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`)
  const parsers = { 20: Number }
  const dataDir = folder ? `file://${folder}/pglite` : 'memory://'
  const isNew = !folder || !existsSync(join(folder, 'pglite', 'PG_VERSION'))
  const image = isNew && lastMigration === LAST_MIGRATION ? await findImage() : undefined
  return PGlite.create({ dataDir, parsers, ...(image && { loadDataDir: image }) })
}

/** Returns the image of an empty, migrated database; undefined if it cannot be stored. */
async function findImage(): Promise<Blob | undefined> {
  const { dependencies }: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
    await readFile(packageFile, 'utf8'),
  )
  const version = dependencies['@electric-sql/pglite'] ?? ''
  const digest = createHash('sha256').update(version).update(getSchemaDigest()).digest('hex').slice(0, 16)
  const file = join(cache, `empty-${digest}.tar`)
  try {
    if (!existsSync(file)) await createImage(file)
    return new Blob([await readFile(file)])
  } catch {
    // A read-only installation has no cache: the database is created and migrated each time.
    return undefined
  }
}

async function createImage(file: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const pglite = await PGlite.create()
  const db = new Kysely<Tables>({ dialect: new PGliteDriver(pglite).createDialect() })
  await migrate(db)
  const image = await pglite.dumpDataDir('none')
  await pglite.close()
  // Written under another name and renamed, so that no process reads an incomplete file.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, Buffer.from(await image.arrayBuffer()))
  await rename(draft, file)
}
