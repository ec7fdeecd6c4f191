// The erasure of users from the journal, the events, the outbox, and logins in progress. Entries and events stay, without values of the user.
import { type RawBuilder, sql } from 'kysely'
import { json, query, row, text } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

/** Replaces the names of erased users. */
export const ERASED = '(erased)'

/** Users to erase, and the texts that identify them. */
export interface ErasedUsers {
  readonly realm: {
    readonly number: number
    readonly id: string
    readonly name: string
    /** Whether its users administer other realms. */
    readonly isMaster: boolean
  }
  readonly ids: readonly string[]
  /** Usernames and email addresses, in lower case. */
  readonly names: readonly string[]
  /** A regular expression that finds ids and names as words in any text. */
  readonly pattern: string
  /** A regular expression that finds names as values of members about users, in the representations of other objects. */
  readonly memberPattern: string
}

/** A field that refers to users by username. */
export interface UserReference {
  readonly kind: string
  readonly field: string
  /** Whether the value is a list of keys. */
  readonly isRelation: boolean
}

const formerUserRow = row({ id: text, names: json<readonly string[]>() })

/**
 * Returns the users of the journal with one of the ids, and the deleted ones with the username, each with all usernames and email addresses
 * that it had. One statement.
 */
export async function selectFormerUsers(
  tx: Transaction,
  realm: number,
  { ids, username }: { readonly ids: readonly string[]; readonly username: string },
): Promise<{ id: string; names: readonly string[] }[]> {
  return query(formerUserRow)`
    with subject as (
      select distinct u.object as id from user_journal u
      where u.realm = ${realm} and u.kind = 'user' and (u.object = any(${ids}::text[]) or u.key ->> 0 = ${username} and not exists (
        select from user_account a where a.realm = ${realm} and a.id = u.object))
    )
    select s.id, coalesce((
        select jsonb_agg(distinct lower(v.name)) from user_journal j
        cross join lateral (values (j.key ->> 0), (j.fields ->> 'username'), (j.fields ->> 'email')) v(name)
        where j.realm = ${realm} and j.kind = 'user' and j.object = s.id and v.name <> ${ERASED}), '[]') as names
    from subject s order by s.id`.all(tx)
}

/** Returns those of the names that other users have as username or email address. One statement. */
export async function selectNamesOfOthers(
  tx: Transaction,
  realm: number,
  { ids, names }: { readonly ids: readonly string[]; readonly names: readonly string[] },
): Promise<string[]> {
  const used = await query(row({ name: text }))`
    select n.name from unnest(${names}::text[]) n(name)
    where exists (select from user_account u where u.realm = ${realm} and u.id <> all(${ids}::text[])
      and (u.username = n.name or u.email = n.name))`.all(tx)
  return used.map(({ name }) => name)
}

/** Erases the users as objects, as actors, and where other objects refer to them. Returns the number of changed entries. A few statements. */
export async function eraseFromJournal(
  tx: Transaction,
  realm: number,
  { users, references }: { readonly users: ErasedUsers; readonly references: readonly UserReference[] },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update user_journal j set key = jsonb_build_array(${ERASED}::text), fields = '{}'
    where j.realm = ${realm} and j.kind = 'user' and j.object = any(${users.ids}::text[])
      and j.key <> jsonb_build_array(${ERASED}::text)`.execute(tx)
  for (const table of ['journal', 'user_journal', 'history']) await eraseActor(tx, sql.table(table), users)
  for (const reference of references) await eraseReferences(tx, realm, { table: 'journal', users, reference })
  return Number(numAffectedRows)
}

/** An administrator acts in all realms. */
async function eraseActor(
  tx: Transaction,
  table: RawBuilder<unknown>,
  { realm, ids, names }: ErasedUsers,
): Promise<void> {
  await sql`
    /* all realms */ update ${table} j
    set actor = (j.actor - 'address') || jsonb_build_object('user', ${ERASED}::text)
    where j.actor ->> 'userId' = any(${ids}::text[]) and j.actor ->> 'realm' = ${realm.name}`.execute(tx)
  await sql`
    /* all realms */ update ${table} j set actor = j.actor || jsonb_build_object('approvedBy', ${ERASED}::text)
    where lower(j.actor ->> 'approvedBy') = any(${names}::text[])
      and (j.realm = ${realm.number} or ${realm.isMaster})`.execute(tx)
}

/** Erases usernames in the values of a field that refers to users. One statement. */
export async function eraseReferences(
  tx: Transaction,
  realm: number,
  {
    table,
    users: { names },
    reference: { kind, field, isRelation },
  }: {
    readonly table: 'journal' | 'inventory'
    readonly users: ErasedUsers
    readonly reference: UserReference
  },
): Promise<void> {
  const value = isRelation
    ? sql`(select coalesce(jsonb_agg(e.key), '[]') from jsonb_array_elements(j.fields -> ${field}::text) e(key)
        where lower(e.key ->> 0) <> all(${names}::text[]))`
    : sql`to_jsonb(${ERASED}::text)`
  await sql`
    update ${sql.table(table)} j set fields = j.fields || jsonb_build_object(${field}::text, ${value})
    where j.realm = ${realm} and j.kind = ${kind} and ${buildReferenceCondition({ field, isRelation }, names)}`.execute(
    tx,
  )
}

/** Returns the condition that the row `j` refers to one of the names. */
export function buildReferenceCondition(
  { field, isRelation }: Pick<UserReference, 'field' | 'isRelation'>,
  names: readonly string[],
): RawBuilder<unknown> {
  if (!isRelation) return sql`lower(j.fields ->> ${field}::text) = any(${names}::text[])`
  return sql`exists (
      select from jsonb_array_elements(case jsonb_typeof(j.fields -> ${field}::text) when 'array' then j.fields -> ${field}::text else '[]' end) e(key)
      where lower(e.key ->> 0) = any(${names}::text[]))`
}

/** Erases the values of the users in admin events and user events. Returns the number of changed events. Three statements. */
export async function eraseFromEvents(
  tx: Transaction,
  realm: number,
  { realm: { id }, ids, names, memberPattern }: ErasedUsers,
): Promise<number> {
  const adminEvents = await sql`
    update admin_event e set representation = null, details = null
    where e.realm = ${realm} and (e.representation is not null or e.details is not null) and (
      string_to_array(e.resource_path, '/') && ${ids}::text[] or e.representation ~* ${memberPattern}
      or e.details::text ~* ${memberPattern})`.execute(tx)
  await sql`
    /* all realms */ update admin_event e set auth_address = null
    where e.auth_user = any(${ids}::text[]) and e.auth_realm = ${id} and e.auth_address is not null`.execute(tx)
  const userEvents = await sql`
    update user_event e set address = null, details = null
    where e.realm = ${realm} and (e.address is not null or e.details is not null) and (e.user_id = any(${ids}::text[]) or exists (
      select from jsonb_each_text(e.details) d where lower(d.value) = any(${names}::text[])))`.execute(tx)
  return Number(adminEvents.numAffectedRows) + Number(userEvents.numAffectedRows)
}

/** Returns the messages of a realm, sealed. One statement. */
export async function selectMessages(tx: Transaction, realm: number): Promise<{ id: string; body: string }[]> {
  return query(row({ id: text, body: text }))`
    select o.id, o.body from outbox o where o.realm = ${realm} for update`.all(tx)
}

/** Deletes messages of a realm. One statement. */
export async function deleteMessages(tx: Transaction, realm: number, ids: readonly string[]): Promise<void> {
  await sql`delete from outbox o where o.realm = ${realm} and o.id = any(${ids}::text[])`.execute(tx)
}

/** Deletes the logins and single-use objects that contain an id or name of the users. Two statements. */
export async function eraseFromLogins(tx: Transaction, realm: number, { ids, names }: ErasedUsers): Promise<void> {
  const texts = [...ids, ...names].map((value) => JSON.stringify(value).toLowerCase())
  for (const table of ['authentication_session', 'single_use'])
    await sql`
      delete from ${sql.table(table)} t
      where t.realm = ${realm} and exists (
        select from unnest(${texts}::text[]) x(value) where strpos(lower(t.body::text), x.value) > 0)`.execute(tx)
}
