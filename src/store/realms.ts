// Realms: their rows by name and number, their locks, and the content of a new realm.
import { type RawBuilder, sql } from 'kysely'
import { type Representation, readTexts } from '../kinds/json.ts'
import type { KindName } from '../kinds/kind.ts'
import { buildExecutionUpsert } from './authentication-flows.ts'
import { bigint, boolean, integer, json, nothing, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { buildRevision } from './journal/journal.ts'
import { buildInsert } from './objects.ts'
import { buildRelationInsert } from './relations.ts'

const realmRow = row({
  number: integer,
  id: text,
  name: text,
  enabled: boolean,
  /** Tokens that were issued earlier are invalid; in seconds since 1970. */
  notBefore: integer,
  /** Whether admin events are stored. */
  adminEventsEnabled: boolean,
  /** Whether user events are stored. */
  eventsEnabled: boolean,
  /** Types of user events that are stored; empty: the default types. */
  enabledEventTypes: json<readonly string[]>(),
  eventsListeners: json<readonly string[]>(),
  /** Number of the last entry of the configuration journal. What was read at a lower number may be out of date. */
  revision: bigint,
  /** Keycloak's text form of the policy, such as `length(8)`; empty: none. */
  passwordPolicy: text,
  /** Whether users can choose a language. */
  isInternationalized: boolean,
  /** Whether the email address of a user is the user name. */
  usesEmailAsUsername: boolean,
})

/** The row of a realm, with the settings that most operations need. */
export type RealmRow = RowOf<typeof realmRow>

const columns = sql`number, id, name, coalesce((body ->> 'enabled')::boolean, false) as enabled,
  coalesce((body ->> 'notBefore')::integer, 0) as "notBefore",
  coalesce((body ->> 'adminEventsEnabled')::boolean, false) as "adminEventsEnabled",
  coalesce((body ->> 'eventsEnabled')::boolean, false) as "eventsEnabled",
  coalesce(body -> 'enabledEventTypes', '[]') as "enabledEventTypes",
  coalesce(body -> 'eventsListeners', '[]') as "eventsListeners",
  ${buildRevision(sql.ref('realm.number'))} as revision,
  coalesce(body ->> 'passwordPolicy', '') as "passwordPolicy",
  coalesce((body ->> 'internationalizationEnabled')::boolean, false) as "isInternationalized",
  coalesce((body ->> 'registrationEmailAsUsername')::boolean, false) as "usesEmailAsUsername"`

/** Returns the row of a realm that is not stored yet. */
export function toRealmRow(identity: Pick<RealmRow, 'number' | 'id' | 'name'>, settings: Representation): RealmRow {
  return {
    ...identity,
    revision: 0,
    enabled: settings.enabled === true,
    notBefore: Number(settings.notBefore ?? 0),
    adminEventsEnabled: settings.adminEventsEnabled === true,
    eventsEnabled: settings.eventsEnabled === true,
    enabledEventTypes: readTexts(settings.enabledEventTypes),
    eventsListeners: readTexts(settings.eventsListeners),
    passwordPolicy: String(settings.passwordPolicy ?? ''),
    isInternationalized: settings.internationalizationEnabled === true,
    usesEmailAsUsername: settings.registrationEmailAsUsername === true,
  }
}

/** Returns the realm with the name. One statement. */
export async function findRealm(tx: Transaction, name: string): Promise<RealmRow | undefined> {
  return (await findRealms(tx, [name]))[0]
}

/** Returns the realms with the names; unknown names are omitted. One statement. */
export async function findRealms(tx: Transaction, names: readonly string[]): Promise<RealmRow[]> {
  return query(realmRow)`select ${columns} from realm where name = any(${names})`.all(tx)
}

/** Returns the realms with the numbers; unknown numbers are omitted. One statement. */
export async function findRealmsByNumber(tx: Transaction, numbers: readonly number[]): Promise<RealmRow[]> {
  return query(realmRow)`select ${columns} from realm where number = any(${numbers}::integer[])`.all(tx)
}

/** Returns all realms, by name. One statement. */
export async function listRealms(tx: Transaction): Promise<RealmRow[]> {
  return query(realmRow)`select ${columns} from realm order by name`.all(tx)
}

/** The first key of the advisory locks of realms; the second one is the number of the realm. */
const REALM_LOCKS = 1

const lockRow = row({ number: integer, locked: nothing })

/**
 * Locks realms for a write, in numeric order to avoid deadlocks, and returns their numbers. They must be read afterwards, by another
 * statement: this one does not see what the former holder of the lock has written. One statement.
 */
export async function lockRealms(tx: Transaction, names: readonly string[]): Promise<number[]> {
  const locks = await query(lockRow)`
    select r.number, pg_advisory_xact_lock(${REALM_LOCKS}::integer, r.number) as locked
    from (select number from realm where name = any(${names}) order by number) r`.all(tx)
  return locks.map(({ number }) => number)
}

/**
 * Locks a realm for the creation of users, which excludes other writes, but not other creations, except of users with one of the names.
 * Returns the number of the realm, which must be read afterwards as for `lockRealms`. One statement.
 */
export async function lockForNewUsers(tx: Transaction, realm: string, userNames: readonly string[]): Promise<number[]> {
  const keys = [...new Set(userNames)].sort().map((name) => `${realm} ${name}`)
  const [lock] = await query(lockRow)`
    select r.number, pg_advisory_xact_lock_shared(${REALM_LOCKS}::integer, r.number) as locked
    from realm r where r.name = ${realm}
    union all
    select 0, pg_advisory_xact_lock(hashtextextended(x.key, 0)) from unnest(${keys}::text[]) as x(key)`.all(tx)
  return lock ? [lock.number] : []
}

/** The versions of what the permissions of a user depend on: the configuration of the user's realm, and the user. */
export interface PermissionVersions {
  /** Number of the realm. */
  readonly realm: number
  readonly revision: number
  /** Id of the user. */
  readonly user: string
  /** Number of the transaction that has last written the user. */
  readonly userVersion: string
}

const lockedRealmRow = row({ ...realmRow.columns, areCurrent: boolean })

/**
 * Returns the realm with the name, and whether versions are current; undefined if it is not among the locked ones, since it does not
 * exist or has just been renamed. One statement.
 */
export async function findLockedRealm(
  tx: Transaction,
  { name, locked }: { readonly name: string; readonly locked: readonly number[] },
  versions?: PermissionVersions,
): Promise<{ readonly realm: RealmRow; readonly areCurrent: boolean } | undefined> {
  const lockedRealm = await query(lockedRealmRow)`
    select ${columns}, ${versions ? buildVersionCheck(versions) : sql`false`} as "areCurrent"
    from realm where name = ${name} and number = any(${locked}::integer[])`.first(tx)
  if (!lockedRealm) return undefined
  const { areCurrent, ...realm } = lockedRealm
  return { realm, areCurrent }
}

const buildVersionCheck = ({ realm, revision, user, userVersion }: PermissionVersions): RawBuilder<unknown> =>
  sql`${buildRevision(sql`${realm}`)} = ${revision}::bigint and exists (
      select from user_account u where u.realm = ${realm} and u.id = ${user} and u.xmin::text = ${userVersion})`

/** Inserts the row of a realm, and returns its number. Throws the unique violation of the database. One statement. */
export async function insertRealm(
  tx: Transaction,
  realm: { id: string; name: string; version: number; body: Representation },
): Promise<number> {
  const { number } = await query(row({ number: integer }))`
    insert into realm (id, name, version, body)
    values (${realm.id}, ${realm.name}, ${realm.version}, ${JSON.stringify(realm.body)}::jsonb)
    returning number`.firstOrThrow(tx)
  return number
}

/** The objects of a new realm by kind, parents first. Each list of rows is the JSON text that its statement takes. */
export interface RealmContentRows {
  readonly objects: readonly { readonly kind: KindName; readonly rows: string }[]
  readonly executions: string
  readonly relations: readonly { readonly kind: KindName; readonly field: string; readonly elements: string }[]
}

/** Inserts the content of a new realm, at most one chunk per list. The database checks references at the end. One statement. */
export async function insertRealmContent(
  tx: Transaction,
  realm: number,
  { version, rows }: { readonly version: number; readonly rows: RealmContentRows },
): Promise<void> {
  const inserts = [
    ...rows.objects.map(({ kind, rows }) => buildInsert(realm, { kind, version, rows })),
    buildExecutionUpsert(realm, rows.executions),
    ...rows.relations.map(({ kind, field, elements }) => buildRelationInsert(realm, { kind, field, elements })),
  ]
  const expressions = inserts.map((insert, at): RawBuilder<unknown> => sql`${sql.ref(`insert_${at}`)} as (${insert})`)
  await sql`with ${sql.join(expressions)} select`.execute(tx)
}
