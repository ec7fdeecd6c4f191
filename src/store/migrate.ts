// Brings the schema up to date. A migration that has landed is never edited: the next one mends it.
import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import type { Tables } from './database.ts'
import { realms } from './migrations/0001-realms.ts'
import { clientScopes } from './migrations/0002-client-scopes.ts'
import { clients } from './migrations/0003-clients.ts'
import { authenticationFlows } from './migrations/0004-authentication-flows.ts'
import { users } from './migrations/0005-users.ts'
import { reconcile } from './migrations/0006-reconcile.ts'
import { roles } from './migrations/0007-roles.ts'
import { roleMappings } from './migrations/0008-role-mappings.ts'
import { settings } from './migrations/0009-settings.ts'
import { identityProviders } from './migrations/0010-identity-providers.ts'
import { groups } from './migrations/0011-groups.ts'
import { requiredActions } from './migrations/0011-required-actions.ts'
import { adminEvents } from './migrations/0012-admin-events.ts'
import { peopleSearch } from './migrations/0014-people-search.ts'
import { components } from './migrations/0015-components.ts'
import { localization } from './migrations/0016-localization.ts'
import { organizations } from './migrations/0017-organizations.ts'
import { workflows } from './migrations/0018-workflows.ts'
import { authorization } from './migrations/0019-authorization.ts'
import { sessions } from './migrations/0020-sessions.ts'
import { userEvents } from './migrations/0021-user-events.ts'
import { loginFailures } from './migrations/0022-login-failures.ts'
import { realmKeys } from './migrations/0023-realm-keys.ts'
import { authenticationSessions } from './migrations/0024-authentication-sessions.ts'
import { outbox } from './migrations/0025-outbox.ts'
import { stated } from './migrations/0026-stated.ts'
import { historyOfSources } from './migrations/0032-history-of-sources.ts'
import { driftLeftAlone } from './migrations/0033-drift-left-alone.ts'
import { historyByRevision } from './migrations/0034-history-by-revision.ts'
import { pagesOfPeople } from './migrations/0036-pages-of-people.ts'
import { settingsOfSources } from './migrations/0037-settings-of-sources.ts'
import { generatedSecrets } from './migrations/0038-generated-secrets.ts'
import { driftAdopted } from './migrations/0039-drift-adopted.ts'
import { driftTold } from './migrations/0040-drift-told.ts'
import { leases } from './migrations/0041-leases.ts'
import { plans } from './migrations/0042-plans.ts'
import { listsOfSources } from './migrations/0043-lists-of-sources.ts'
import { statesOfSources } from './migrations/0044-states-of-sources.ts'

/** The migrations in order: name → SQL. */
export const migrations: Readonly<Record<string, string>> = {
  '0001-realms': realms,
  '0002-client-scopes': clientScopes,
  '0003-clients': clients,
  '0004-authentication-flows': authenticationFlows,
  '0005-users': users,
  '0006-reconcile': reconcile,
  '0007-roles': roles,
  '0008-role-mappings': roleMappings,
  '0009-settings': settings,
  '0010-identity-providers': identityProviders,
  '0011-groups': groups,
  '0011-required-actions': requiredActions,
  '0012-admin-events': adminEvents,
  '0014-people-search': peopleSearch,
  '0015-components': components,
  '0016-localization': localization,
  '0017-organizations': organizations,
  '0018-workflows': workflows,
  '0019-authorization': authorization,
  '0020-sessions': sessions,
  '0021-user-events': userEvents,
  '0022-login-failures': loginFailures,
  '0023-realm-keys': realmKeys,
  '0024-authentication-sessions': authenticationSessions,
  '0025-outbox': outbox,
  '0026-stated': stated,
  '0032-history-of-sources': historyOfSources,
  '0033-drift-left-alone': driftLeftAlone,
  '0034-history-by-revision': historyByRevision,
  '0036-pages-of-people': pagesOfPeople,
  '0037-settings-of-sources': settingsOfSources,
  '0038-generated-secrets': generatedSecrets,
  '0039-drift-adopted': driftAdopted,
  '0040-drift-told': driftTold,
  '0041-leases': leases,
  '0042-plans': plans,
  '0043-lists-of-sources': listsOfSources,
  '0044-states-of-sources': statesOfSources,
}

/** The last of them, which a store has that is up to date. */
export const LAST_MIGRATION = Object.keys(migrations).at(-1)!

/**
 * Applies what is missing, up to the migration of that name. Two processes at once: the second waits. Throws what the database
 * says, or that the store has later ones already.
 */
export async function migrate(db: Kysely<Tables>, level = LAST_MIGRATION): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(Object.entries(migrations).map(asMigration)) },
  })
  if (level !== LAST_MIGRATION) await demandNoneAfter(migrator, level)
  const { error } = await (level === LAST_MIGRATION ? migrator.migrateToLatest() : migrator.migrateTo(level))
  if (error) throw error
}

/** There is no way back from a migration. */
async function demandNoneAfter(migrator: Migrator, level: string): Promise<void> {
  const done = (await migrator.getMigrations()).filter(({ executedAt }) => executedAt).map(({ name }) => name)
  const later = done.find((name) => name > level)
  if (later)
    throw new Error(
      `the store has the migration ${later} already, and ${level} is to be its last: name one that nobody has opened yet`,
    )
}

/** Changes when the schema does. */
export function schemaDigest(): string {
  return createHash('sha256').update(JSON.stringify(migrations)).digest('hex')
}

function asMigration([name, text]: [string, string]): [string, Migration] {
  const up = async (db: Kysely<Tables>) => {
    for (const statement of statements(text)) await sql.raw(statement).execute(db)
  }
  return [name, { up }]
}

/** PGlite takes one statement at a time; a line that ends in a semicolon ends one. */
function statements(text: string): string[] {
  return text.split(/;\n/).filter((statement) => statement.trim() !== '')
}
