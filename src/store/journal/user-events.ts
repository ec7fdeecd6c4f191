// Events of people and clients: what happened at log-in and afterwards, as event viewers read it.
import { type RawBuilder, sql } from 'kysely'
import { json, optional, type RowOf, row, rows, text, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteOver } from '../delete-over.ts'

/** An event to write. */
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

/** An event as it is kept. */
export type StoredUserEvent = RowOf<typeof storedUserEventRow>

/** Which events of a realm, in which order. */
export interface UserEventFilter {
  readonly types?: readonly string[]
  readonly client?: string
  readonly user?: string
  readonly address?: string
  readonly from?: Date
  /** Before that moment. */
  readonly until?: Date
  readonly oldestFirst?: boolean
  readonly first: number
  readonly max: number
}

/** Writes events. One statement. */
export async function insertUserEvents(
  tx: Transaction,
  realm: number,
  { at, events }: { readonly at: Date; readonly events: readonly NewUserEvent[] },
): Promise<void> {
  await sql`
    insert into user_event (realm, id, at, type, client, user_id, session, address, error, details)
    select ${realm}, gen_random_uuid()::text, ${at}::timestamptz, x.event ->> 'type', x.event ->> 'client',
      x.event ->> 'user', x.event ->> 'session', x.event ->> 'address', x.event ->> 'error', x.event -> 'details'
    from jsonb_array_elements(${JSON.stringify(events)}::jsonb) with ordinality as x(event, place)
    order by x.place`.execute(tx)
}

/** The events of a realm, the newest first unless the filter says otherwise. One statement. */
export async function selectUserEvents(
  tx: Transaction,
  realm: number,
  filter: UserEventFilter,
): Promise<StoredUserEvent[]> {
  const direction = filter.oldestFirst ? sql`asc` : sql`desc`
  return rows(storedUserEventRow)`
    select e.id, e.at, e.type, e.client, e.user_id as "user", e.session, e.address, e.error, e.details
    from user_event e
    where e.realm = ${realm} and ${sql.join(conditions(filter), sql` and `)}
    order by e.number ${direction} offset ${filter.first} limit ${filter.max}`.all(tx)
}

/** Deletes all events of a realm. One statement. */
export async function deleteUserEvents(tx: Transaction, realm: number): Promise<void> {
  await sql`delete from user_event where realm = ${realm}`.execute(tx)
}

/** Deletes events that are older than their realm keeps them, at most so many; gives how many. One statement. */
export function deleteExpiredUserEvents(tx: Transaction, now: Date, limit: number): Promise<number> {
  const when = sql`(r.body ->> 'eventsExpiration')::bigint > 0
    and old.at < ${now}::timestamptz - make_interval(secs => (r.body ->> 'eventsExpiration')::double precision)`
  return deleteOver(tx, { table: 'user_event', key: ['number'], when }, limit)
}

function conditions({ types, from, until, ...filter }: UserEventFilter): RawBuilder<unknown>[] {
  const equal = { client: filter.client, user_id: filter.user, address: filter.address }
  return [
    sql`true`,
    ...(types ? [sql`e.type = any(${types})`] : []),
    ...Object.entries(equal).flatMap(([column, value]) => (value ? [sql`e.${sql.ref(column)} = ${value}`] : [])),
    ...(from ? [sql`e.at >= ${from}::timestamptz`] : []),
    ...(until ? [sql`e.at < ${until}::timestamptz`] : []),
  ]
}
