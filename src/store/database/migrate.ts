// Brings the schema up to date. A migration that has landed is never edited: a later one changes what it made (0081).
import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { realmConfiguration } from '../migrations/0001-realm-configuration.ts'
import { clientsAndRoles } from '../migrations/0002-clients-and-roles.ts'
import { organizations } from '../migrations/0003-organizations.ts'
import { groups } from '../migrations/0004-groups.ts'
import { users } from '../migrations/0005-users.ts'
import { authorization } from '../migrations/0006-authorization.ts'
import { sessions } from '../migrations/0007-sessions.ts'
import { journalAndEvents } from '../migrations/0008-journal-and-events.ts'
import { sources } from '../migrations/0009-sources.ts'
import { operations } from '../migrations/0010-operations.ts'
import { boolean, row, rows, text } from './row.ts'
import type { Tables } from './transaction.ts'

/** The migrations in order: name → statements, one by one since PGlite takes one at a time. */
export const migrations: Readonly<Record<string, readonly string[]>> = {
  '0001-realm-configuration': realmConfiguration,
  '0002-clients-and-roles': clientsAndRoles,
  '0003-organizations': organizations,
  '0004-groups': groups,
  '0005-users': users,
  '0006-authorization': authorization,
  '0007-sessions': sessions,
  '0008-journal-and-events': journalAndEvents,
  '0009-sources': sources,
  '0010-operations': operations,
}

const names = Object.keys(migrations)

/** The name of the last migration. A store that is up to date has it. */
export const LAST_MIGRATION = names.at(-1)!

/**
 * Applies the missing migrations, up to the one of that name. Of two processes at once, the second waits.
 * @throws Error when an earlier version of Regent made the store, when the store has later migrations, or what the database reports.
 */
export async function migrate(db: Kysely<Tables>, level = LAST_MIGRATION): Promise<void> {
  const applied = await appliedMigrations(db)
  demandKnown(applied)
  if (level !== LAST_MIGRATION) demandNoneAfter(applied, level)
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(Object.entries(migrations).map(asMigration)) },
  })
  const { error } = await (level === LAST_MIGRATION ? migrator.migrateToLatest() : migrator.migrateTo(level))
  if (error) throw error
}

/** Returns the names of the migrations that the store has; none where it is empty. At most two statements, which change nothing. */
async function appliedMigrations(db: Kysely<Tables>): Promise<string[]> {
  const { exists } = await rows(row({ exists: boolean }))`
    select to_regclass('kysely_migration') is not null as exists`.one(db)
  if (!exists) return []
  const applied = await rows(
    row({ name: text }),
  )`select name::text from kysely_migration order by name collate "C"`.all(db)
  return applied.map(({ name }) => name)
}

function demandKnown(applied: readonly string[]): void {
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name))
  if (!unknown) return
  if (applied.includes(names[0]!))
    throw new Error(`A later version of Regent made the store: it has the migration ${unknown}. Use that version.`)
  throw new Error(
    `An earlier version of Regent made the store: it has the migration ${unknown}. Nothing was changed. To move it, run` +
      ' `regent export REALM --full --secrets` for each realm with the version that made it, then `regent apply` the files' +
      ' to a new store with this version.',
  )
}

/** A migration has no way back. */
function demandNoneAfter(applied: readonly string[], level: string): void {
  const later = applied.find((name) => name > level)
  if (later)
    throw new Error(
      `the store has the migration ${later} already, and ${level} is to be its last: name one that nobody has opened yet`,
    )
}

/** Returns a digest that changes when the schema does. */
export function schemaDigest(): string {
  return createHash('sha256').update(JSON.stringify(migrations)).digest('hex')
}

function asMigration([name, statements]: [string, readonly string[]]): [string, Migration] {
  const up = async (db: Kysely<Tables>) => {
    for (const statement of statements) await sql.raw(statement).execute(db)
  }
  return [name, { up }]
}
