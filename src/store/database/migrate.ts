// Migrates the schema. A migration that is on the main branch is never edited: later ones change its tables (decision 0081).
import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { reportProgress } from '../../lib/timing/progress.ts'
import { realmsAndFlows } from '../migrations/0001-realms-and-flows.ts'
import { clientsAndRoles } from '../migrations/0002-clients-and-roles.ts'
import { organizations } from '../migrations/0003-organizations.ts'
import { groups } from '../migrations/0004-groups.ts'
import { users } from '../migrations/0005-users.ts'
import { authorization } from '../migrations/0006-authorization.ts'
import { sessions } from '../migrations/0007-sessions.ts'
import { journalAndEvents } from '../migrations/0008-journal-and-events.ts'
import { sources } from '../migrations/0009-sources.ts'
import { leasesAndOutbox } from '../migrations/0010-leases-and-outbox.ts'
import { searchOfNames } from '../migrations/0011-search-of-names.ts'
import { impliedRealmKeys } from '../migrations/0012-implied-realm-keys.ts'
import { originsOfSources } from '../migrations/0013-origins-of-sources.ts'
import { federatedIdentitiesWithoutUser } from '../migrations/0014-federated-identities-without-user.ts'
import { permissionTickets } from '../migrations/0015-permission-tickets.ts'
import { tenants } from '../migrations/0016-tenants.ts'
import { releasedObjects } from '../migrations/0017-released-objects.ts'
import { registrationTokens } from '../migrations/0018-registration-tokens.ts'
import { authorsOfPlans } from '../migrations/0019-authors-of-plans.ts'
import { organizationGroups } from '../migrations/0020-organization-groups.ts'
import { scheduledTasks } from '../migrations/0021-scheduled-tasks.ts'
import { workflowExecutions } from '../migrations/0022-workflow-executions.ts'
import { organizationInvitations } from '../migrations/0023-organization-invitations.ts'
import { userStores } from '../migrations/0024-user-stores.ts'
import { auditOutbox } from '../migrations/0025-audit-outbox.ts'
import { furtherImpliedRealmKeys } from '../migrations/0026-further-implied-realm-keys.ts'
import { boolean, query, row, text } from './query.ts'
import type { Tables } from './transaction.ts'

/** The statements of each migration, in order. PGlite executes one statement at a time. */
export const migrations: Readonly<Record<string, readonly string[]>> = {
  '0001-realms-and-flows': realmsAndFlows,
  '0002-clients-and-roles': clientsAndRoles,
  '0003-organizations': organizations,
  '0004-groups': groups,
  '0005-users': users,
  '0006-authorization': authorization,
  '0007-sessions': sessions,
  '0008-journal-and-events': journalAndEvents,
  '0009-sources': sources,
  '0010-leases-and-outbox': leasesAndOutbox,
  '0011-search-of-names': searchOfNames,
  '0012-implied-realm-keys': impliedRealmKeys,
  '0013-origins-of-sources': originsOfSources,
  '0014-federated-identities-without-user': federatedIdentitiesWithoutUser,
  '0015-permission-tickets': permissionTickets,
  '0016-tenants': tenants,
  '0017-released-objects': releasedObjects,
  '0018-registration-tokens': registrationTokens,
  '0019-authors-of-plans': authorsOfPlans,
  '0020-organization-groups': organizationGroups,
  '0021-scheduled-tasks': scheduledTasks,
  '0022-workflow-executions': workflowExecutions,
  '0023-organization-invitations': organizationInvitations,
  '0024-user-stores': userStores,
  '0025-audit-outbox': auditOutbox,
  '0026-further-implied-realm-keys': furtherImpliedRealmKeys,
}

const names = Object.keys(migrations)

/** The name of the last migration. */
export const LAST_MIGRATION = names.at(-1)!

/**
 * Applies the missing migrations, up to the named one. A second process waits meanwhile.
 * @throws Error if the store is of an earlier version of Regent, or has later migrations; and errors of the database.
 */
export async function migrate(db: Kysely<Tables>, lastMigration = LAST_MIGRATION): Promise<void> {
  const applied = await listAppliedMigrations(db)
  checkAllKnown(applied)
  if (lastMigration !== LAST_MIGRATION) checkNoneAfter(applied, lastMigration)
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(Object.entries(migrations).map(toMigration)) },
  })
  const { error } = await (lastMigration === LAST_MIGRATION
    ? migrator.migrateToLatest()
    : migrator.migrateTo(lastMigration))
  if (error) throw error
}

/** Returns the names of the migrations that the store has; none if it is empty. At most two statements, which write nothing. */
async function listAppliedMigrations(db: Kysely<Tables>): Promise<string[]> {
  const { exists } = await query(row({ exists: boolean }))`
    select to_regclass('kysely_migration') is not null as exists`.firstOrThrow(db)
  if (!exists) return []
  const applied = await query(
    row({ name: text }),
  )`select name::text from kysely_migration order by name collate "C"`.all(db)
  return applied.map(({ name }) => name)
}

function checkAllKnown(applied: readonly string[]): void {
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name))
  if (!unknown) return
  if (applied.includes(names[0]!))
    throw new Error(`A later version of Regent created the store: it has the migration ${unknown}. Use that version.`)
  throw new Error(
    `An earlier version of Regent created the store: it has the migration ${unknown}. Nothing was changed. To move it, run` +
      ' `regent export REALM --full --secrets` for each realm with that version, then `regent apply` the files to a new store' +
      ' with this version.',
  )
}

/** Throws if the store has migrations after the named one: they cannot be undone. */
function checkNoneAfter(applied: readonly string[], lastMigration: string): void {
  const later = applied.find((name) => name > lastMigration)
  if (later)
    throw new Error(
      `The store has the migration ${later} already, and ${lastMigration} must be its last. Restore the backup to a new store.`,
    )
}

/** Returns a digest that changes when the schema does. */
export function getSchemaDigest(): string {
  return createHash('sha256').update(JSON.stringify(migrations)).digest('hex')
}

function toMigration([name, statements]: [string, readonly string[]]): [string, Migration] {
  const up = async (db: Kysely<Tables>) => {
    await reportProgress({ phase: 'migrate', done: names.indexOf(name), total: names.length })
    for (const statement of statements) await sql.raw(statement).execute(db)
  }
  return [name, { up }]
}
