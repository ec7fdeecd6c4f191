// Realms: their rows by name and number, their locks, and the content of a new realm.
import { type RawBuilder, sql } from 'kysely'
import { type Representation, readObject, readObjects, readText, readTexts } from '../kinds/json.ts'
import type { KindName } from '../kinds/kind.ts'
import { adminPolicyClients } from '../kinds/management-permissions.ts'
import { buildExecutionUpsert } from './authentication-flows.ts'
import {
  bigint,
  boolean,
  equalsAny,
  integer,
  json,
  nothing,
  optional,
  query,
  type RowOf,
  row,
  text,
  timestamp,
} from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { buildRevision } from './journal/journal.ts'
import { concatenate } from './object-sql.ts'
import { buildInsert, type ObjectRow } from './objects.ts'
import { buildRelationInsert } from './relations.ts'
import { tables } from './tables.ts'

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
  /** Number of the transaction that has last written the row. */
  rowVersion: text,
  /** Keycloak's text form of the policy, such as `length(8)`; empty: none. */
  passwordPolicy: text,
  /** Whether users can choose a language. */
  isInternationalized: boolean,
  /** Whether the email address of a user is the user name. */
  usesEmailAsUsername: boolean,
  /** Whether a client policy is enabled. */
  hasClientPolicies: boolean,
  /** Whether a client has policies about administrators. */
  hasAdminPolicies: boolean,
  /** Whether the realm has workflows. */
  hasWorkflows: boolean,
  /** Whether there are LDAP user stores, enabled or not. */
  hasUserStores: boolean,
  /** The base URL at which users see the realm; empty: that of the server. */
  frontendUrl: text,
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
  "rowVersion",
  coalesce(body ->> 'passwordPolicy', '') as "passwordPolicy",
  coalesce((body ->> 'internationalizationEnabled')::boolean, false) as "isInternationalized",
  coalesce((body ->> 'registrationEmailAsUsername')::boolean, false) as "usesEmailAsUsername",
  body @? '$.clientPolicies[*] ? (@.enabled == true)' as "hasClientPolicies",
  exists (select from client c join authorization_policy p on p.realm = c.realm and p.client = c.id
    where c.realm = realm.number and c.client_id in (${sql.join(adminPolicyClients.map((id) => sql.lit(id)))})) as "hasAdminPolicies",
  exists (select from workflow w where w.realm = realm.number) as "hasWorkflows",
  exists (select from component c where c.realm = realm.number and c.body ->> 'providerId' = 'ldap') as "hasUserStores",
  coalesce(body #>> '{attributes,frontendUrl}', '') as "frontendUrl"`

/** Kinds of objects whose changes make the row of a realm outdated for writes. Only reads use `hasAdminPolicies`, which depends on others. */
export const kindsInRealmRow: ReadonlySet<KindName> = new Set(['realm', 'component', 'workflow'])

/** Returns the realms that match a condition, for `columns`. The settings are decompressed once, not for each column. */
const buildRealms = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
    select number, id, name, xmin::text as "rowVersion", body || '{}' as body from realm where ${condition} offset 0
  ) realm`

/** Returns the row of a realm that is not stored yet. */
export function toRealmRow(identity: Pick<RealmRow, 'number' | 'id' | 'name'>, settings: Representation): RealmRow {
  return {
    ...identity,
    revision: 0,
    rowVersion: '',
    enabled: settings.enabled === true,
    notBefore: Number(settings.notBefore ?? 0),
    adminEventsEnabled: settings.adminEventsEnabled === true,
    eventsEnabled: settings.eventsEnabled === true,
    enabledEventTypes: readTexts(settings.enabledEventTypes),
    eventsListeners: readTexts(settings.eventsListeners),
    passwordPolicy: String(settings.passwordPolicy ?? ''),
    isInternationalized: settings.internationalizationEnabled === true,
    usesEmailAsUsername: settings.registrationEmailAsUsername === true,
    hasAdminPolicies: false,
    hasWorkflows: false,
    hasUserStores: false,
    hasClientPolicies: readObjects(settings.clientPolicies).some(({ enabled }) => enabled === true),
    frontendUrl: readText(readObject(settings.attributes).frontendUrl) ?? '',
  }
}

/** Returns the realm with the name. One statement. */
export async function findRealm(tx: Transaction, name: string): Promise<RealmRow | undefined> {
  return (await findRealms(tx, [name]))[0]
}

/** Returns the realms with the names; unknown names are omitted. One statement. */
export async function findRealms(tx: Transaction, names: readonly string[]): Promise<RealmRow[]> {
  return query(realmRow)`select ${columns} from ${buildRealms(sql`name ${equalsAny(names)}`)}`.all(tx)
}

/** Returns the realms with the numbers; unknown numbers are omitted. One statement. */
export async function findRealmsByNumber(tx: Transaction, numbers: readonly number[]): Promise<RealmRow[]> {
  return query(realmRow)`
    select ${columns} from ${buildRealms(sql`number = any(${numbers}::integer[])`)}`.all(tx)
}

/** Returns all realms, by name. One statement. */
export async function listRealms(tx: Transaction): Promise<RealmRow[]> {
  return query(realmRow)`select ${columns} from ${buildRealms(sql`true`)} order by name`.all(tx)
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
    from (select number from realm where name ${equalsAny(names)} order by number) r`.all(tx)
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

const lockedRow = row({
  number: integer,
  revision: bigint,
  rowVersion: text,
  /** Kinds of objects that were changed since the revision that is known; null: there were many changes, or none is known. */
  changedKinds: optional(json<KindName[]>()),
  /** The time of the last entry of the configuration journal; null if there is none. */
  lastChangeAt: optional(timestamp),
  /** Whether the versions of permissions are current. */
  areCurrent: boolean,
})
const lockedRealmRow = row({ ...realmRow.columns, ...lockedRow.columns })

/** The state of a realm after it was locked; `realm` is its row, unless it was known at a revision. */
export type LockedRealm = RowOf<typeof lockedRow> & { readonly realm?: RealmRow }

/** A realm to lock by a function, what is known of it, and versions to check. */
export interface RealmToLock {
  readonly name: string
  readonly lock: (tx: Transaction) => Promise<readonly number[]>
  readonly knownRevision?: number | undefined
  readonly versions?: PermissionVersions | undefined
}

/**
 * Locks realms, and returns the one with the name; undefined if it is not among the locked ones, since it does not exist or has just been
 * renamed. Two statements, sent together.
 */
export async function findLockedRealm(
  tx: Transaction,
  { name, lock, knownRevision, versions }: RealmToLock,
): Promise<LockedRealm | undefined> {
  const [locked, realm] = await Promise.all([lock(tx), findRealmState(tx, { name, knownRevision, versions })])
  return realm && locked.includes(realm.number) ? realm : undefined
}

/** Number of journal entries that are looked at for what has changed. */
const RECENT_ENTRIES = 64

/** Returns the state of a realm. Its row is not read again if it is known, since the settings of a realm are large. One statement. */
async function findRealmState(
  tx: Transaction,
  { name, knownRevision, versions }: Omit<RealmToLock, 'lock'>,
): Promise<LockedRealm | undefined> {
  const areCurrent = sql`${versions ? buildVersionCheck(versions) : sql`false`} as "areCurrent"`
  if (knownRevision === undefined) {
    const realm = await query(lockedRealmRow)`
      select ${columns}, null::jsonb as "changedKinds", (
          select at from journal j where j.realm = realm.number order by number desc limit 1
        ) as "lastChangeAt", ${areCurrent}
      from ${buildRealms(sql`name = ${name}`)}`.first(tx)
    return realm && { ...realm, realm }
  }
  return query(lockedRow)`
    select r.number, recent.revision, r.xmin::text as "rowVersion", recent.kinds as "changedKinds",
      recent.at as "lastChangeAt", ${areCurrent}
    from realm r cross join lateral (
      select coalesce(max(j.number), 0) as revision, max(j.at) as at,
        case when count(*) filter (where j.number > ${knownRevision}::bigint) = max(j.number) - ${knownRevision}::bigint
          then coalesce(jsonb_agg(distinct j.kind) filter (where j.number > ${knownRevision}::bigint), '[]')
        end as kinds
      from (
        select number, at, kind from journal where realm = r.number order by number desc limit ${RECENT_ENTRIES}::integer
      ) j
    ) recent
    where r.name = ${name}`.first(tx)
}

/** Whether the versions are current. One statement. */
export async function areVersionsCurrent(tx: Transaction, versions: PermissionVersions): Promise<boolean> {
  const { areCurrent } = await query(row({ areCurrent: boolean }))`
    select ${buildVersionCheck(versions)} as "areCurrent"`.firstOrThrow(tx)
  return areCurrent
}

const buildVersionCheck = ({ realm, revision, user, userVersion }: PermissionVersions): RawBuilder<unknown> =>
  sql`${buildRevision(sql`${realm}`)} = ${revision}::bigint and exists (
      select from user_account u where u.realm = ${realm} and u.id = ${user} and u.xmin::text = ${userVersion})`

/** Reserves the number of a new realm. One statement. */
export async function reserveRealmNumber(tx: Transaction): Promise<number> {
  const { number } = await query(row({ number: integer }))`
    select nextval(pg_get_serial_sequence('realm', 'number'))::integer as number`.firstOrThrow(tx)
  return number
}

/** The row of a realm to create. */
export interface NewRealmRow extends Pick<ObjectRow, 'id' | 'name' | 'body' | 'references'> {
  /** Id of the role that all its users have. */
  readonly defaultRole: string
}

/** The objects of a new realm by kind, parents first. Each list of rows is the JSON text that its statement takes. */
export interface RealmContentRows {
  readonly objects: readonly { readonly kind: KindName; readonly rows: string }[]
  /** Absent if there are none. */
  readonly executions?: string
  readonly relations: readonly { readonly kind: KindName; readonly field: string; readonly elements: string }[]
}

/** Objects to insert, in the version of the journal entry. */
export interface NewRealmContent {
  readonly version: number
  readonly rows: RealmContentRows
}

/** Inserts built-in objects into a realm, at most one chunk per list. The database checks references at the end. One statement. */
export async function insertRealmContent(tx: Transaction, realm: number, content: NewRealmContent): Promise<void> {
  await sql`with ${buildContentInserts(realm, content)} select`.execute(tx)
}

/** Inserts a realm with its built-in objects, as `insertRealmContent` does. Throws the unique violation of the database. One statement. */
export async function insertRealm(
  tx: Transaction,
  number: number,
  { realm, ...content }: NewRealmContent & { readonly realm: NewRealmRow },
): Promise<void> {
  const { id, name, body, references, defaultRole } = realm
  const columns = Object.entries(tables.realm.references)
  await sql`with ${buildContentInserts(number, content)}
    insert into realm (number, id, name, version, body, default_role${concatenate(columns, ([, c]) => sql`, ${sql.ref(c)}`)})
    values (${number}, ${id}, ${name}, ${content.version}, ${JSON.stringify(body)}::jsonb, ${defaultRole}${concatenate(
      columns,
      ([field]) => sql`, ${references[field] ?? null}`,
    )})`.execute(tx)
}

function buildContentInserts(realm: number, { version, rows }: NewRealmContent): RawBuilder<unknown> {
  const inserts = [
    ...rows.objects.map(({ kind, rows }) => buildInsert(realm, { kind, version, rows })),
    ...(rows.executions === undefined ? [] : [buildExecutionUpsert(realm, rows.executions)]),
    ...rows.relations.map(({ kind, field, elements }) => buildRelationInsert(realm, { kind, field, elements })),
  ]
  return sql.join(inserts.map((insert, at): RawBuilder<unknown> => sql`${sql.ref(`insert_${at}`)} as (${insert})`))
}
