// User events, in Keycloak's form: logins, token requests and changes by users.
import { type RawBuilder, sql } from 'kysely'
import { json, optional, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteExpired } from '../delete-expired.ts'

/** A user event to write. */
export interface NewUserEvent {
  readonly type: string
  readonly client?: string | undefined
  readonly user?: string | undefined
  readonly session?: string | undefined
  readonly address?: string | undefined
  readonly error?: string | undefined
  readonly details?: Readonly<Record<string, string | undefined>>
}

const storedUserEventRow = row({
  id: text,
  at: timestamp,
  type: text,
  client: optional(text),
  user: optional(text),
  session: optional(text),
  address: optional(text),
  error: optional(text),
  details: optional(json<Record<string, string>>()),
})

/** A stored user event. */
export type StoredUserEvent = RowOf<typeof storedUserEventRow>

/** Selects and orders user events of a realm. All conditions must hold. */
export interface UserEventFilter {
  readonly types?: readonly string[]
  readonly client?: string
  readonly user?: string
  readonly address?: string
  readonly from?: Date
  /** Exclusive. */
  readonly until?: Date
  readonly oldestFirst?: boolean
  readonly first: number
  readonly max: number
}

/** Inserts user events. One statement. */
export async function insertUserEvents(
  tx: Transaction,
  realm: number,
  { at, events }: { readonly at: Date; readonly events: readonly NewUserEvent[] },
): Promise<void> {
  await sql`
    insert into user_event (realm, id, at, type, client, user_id, session, address, error, details)
    select ${realm}, gen_random_uuid()::text, ${at}::timestamptz, x.event ->> 'type', x.event ->> 'client',
      x.event ->> 'user', x.event ->> 'session', x.event ->> 'address', x.event ->> 'error', x.event -> 'details'
    from jsonb_array_elements(${JSON.stringify(events)}::jsonb) with ordinality as x(event, position)
    order by x.position`.execute(tx)
}

/** Returns events of a realm, newest first unless the filter has `oldestFirst`. One statement. */
export async function selectUserEvents(
  tx: Transaction,
  realm: number,
  filter: UserEventFilter,
): Promise<StoredUserEvent[]> {
  const direction = filter.oldestFirst ? sql`asc` : sql`desc`
  return query(storedUserEventRow)`
    select e.id, e.at, e.type, e.client, e.user_id as "user", e.session, e.address, e.error, e.details
    from user_event e
    where e.realm = ${realm} and ${sql.join(buildConditions(filter), sql` and `)}
    order by e.number ${direction} offset ${filter.first} limit ${filter.max}`.all(tx)
}

/** Deletes all events of a realm. One statement. */
export async function deleteUserEvents(tx: Transaction, realm: number): Promise<void> {
  await sql`delete from user_event where realm = ${realm}`.execute(tx)
}

/** Deletes at most `limit` events that are older than their realm's limit, and returns their number. One statement. */
export function deleteExpiredUserEvents(tx: Transaction, now: Date, limit: number): Promise<number> {
  const when = sql`(r.body ->> 'eventsExpiration')::bigint > 0
    and old.at < ${now}::timestamptz - make_interval(secs => (r.body ->> 'eventsExpiration')::double precision)`
  return deleteExpired(tx, { table: 'user_event', key: ['number'], when }, limit)
}

function buildConditions({ types, from, until, ...filter }: UserEventFilter): RawBuilder<unknown>[] {
  const equal = { client: filter.client, user_id: filter.user, address: filter.address }
  return [
    sql`true`,
    ...(types ? [sql`e.type = any(${types})`] : []),
    ...Object.entries(equal).flatMap(([column, value]) => (value ? [sql`e.${sql.ref(column)} = ${value}`] : [])),
    ...(from ? [sql`e.at >= ${from}::timestamptz`] : []),
    ...(until ? [sql`e.at < ${until}::timestamptz`] : []),
  ]
}
