// Realms by name: their numbers and their locks.
import { sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { bigint, boolean, integer, json, type RowOf, row, rows, text } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'

const realmRow = row({
  number: integer,
  id: text,
  name: text,
  enabled: boolean,
  /** Tokens from before are void: seconds since 1970. */
  notBefore: integer,
  /** Whether what administrators do is kept as events. */
  adminEventsEnabled: boolean,
  /** Whether events of people are kept, of which types (none: the usual ones), and who else is told of them. */
  eventsEnabled: boolean,
  enabledEventTypes: json<readonly string[]>(),
  eventsListeners: json<readonly string[]>(),
  /** Number of the last entry of its journal of configuration: what was read at an earlier one may have changed. */
  revision: bigint,
  /** What passwords must fulfil. */
  passwordPolicy: text,
  /** Whether its people choose among languages. */
  internationalized: boolean,
  /** Whether the mail address of its people is their name. */
  namedByMail: boolean,
})

/** What addresses a realm inside the store, and on the wire. */
export type RealmRow = RowOf<typeof realmRow>

const columns = sql`number, id, name, coalesce((body ->> 'enabled')::boolean, false) as enabled,
  coalesce((body ->> 'notBefore')::integer, 0) as "notBefore",
  coalesce((body ->> 'adminEventsEnabled')::boolean, false) as "adminEventsEnabled",
  coalesce((body ->> 'eventsEnabled')::boolean, false) as "eventsEnabled",
  coalesce(body -> 'enabledEventTypes', '[]') as "enabledEventTypes",
  coalesce(body -> 'eventsListeners', '[]') as "eventsListeners",
  coalesce((select max(j.number) from journal j where j.realm = realm.number), 0) as revision,
  coalesce(body ->> 'passwordPolicy', '') as "passwordPolicy",
  coalesce((body ->> 'internationalizationEnabled')::boolean, false) as internationalized,
  coalesce((body ->> 'registrationEmailAsUsername')::boolean, false) as "namedByMail"`

/** The row of a realm with these settings, before it is kept. */
export function rowOf(at: Pick<RealmRow, 'number' | 'id' | 'name'>, settings: Representation): RealmRow {
  return {
    ...at,
    revision: 0,
    enabled: settings.enabled === true,
    notBefore: Number(settings.notBefore ?? 0),
    adminEventsEnabled: settings.adminEventsEnabled === true,
    eventsEnabled: settings.eventsEnabled === true,
    enabledEventTypes: (settings.enabledEventTypes ?? []) as string[],
    eventsListeners: (settings.eventsListeners ?? []) as string[],
    passwordPolicy: String(settings.passwordPolicy ?? ''),
    internationalized: settings.internationalizationEnabled === true,
    namedByMail: settings.registrationEmailAsUsername === true,
  }
}

/** The realm of that name. One statement. */
export async function findRealm(tx: Transaction, name: string): Promise<RealmRow | undefined> {
  return (await findRealms(tx, [name]))[0]
}

/** The realms of these names, as far as they are there. One statement. */
export async function findRealms(tx: Transaction, names: readonly string[]): Promise<RealmRow[]> {
  return rows(realmRow)`select ${columns} from realm where name = any(${names})`.all(tx)
}

/** The realms with these numbers, as far as they are there. One statement. */
export async function findNumbered(tx: Transaction, numbers: readonly number[]): Promise<RealmRow[]> {
  return rows(realmRow)`select ${columns} from realm where number = any(${numbers}::integer[])`.all(tx)
}

/** All realms, by name. */
export async function listRealms(tx: Transaction): Promise<RealmRow[]> {
  return rows(realmRow)`select ${columns} from realm order by name`.all(tx)
}

/** Locks realms for a write of configuration, in numeric order: writers of one realm follow each other. One statement. */
export async function lockRealms(tx: Transaction, names: readonly string[]): Promise<RealmRow[]> {
  return rows(realmRow)`
    select ${columns} from realm where name = any(${names}) order by number for no key update`.all(tx)
}

/** Makes the row of a realm and gives its number. Throws the database's unique violation. */
export async function insertRealm(
  tx: Transaction,
  realm: { id: string; name: string; version: number; body: Representation },
): Promise<number> {
  const { number } = await rows(row({ number: integer }))`
    insert into realm (id, name, version, body)
    values (${realm.id}, ${realm.name}, ${realm.version}, ${JSON.stringify(realm.body)}::jsonb)
    returning number`.one(tx)
  return number
}
