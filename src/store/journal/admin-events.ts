// Admin events: what administrators did, as event viewers read it. The journal is the record; these are its public face.
import { type RawBuilder, sql } from 'kysely'
import type { EventOperation, EventType } from '../../kinds/admin-events.ts'
import { chunks } from '../../lib/chunks.ts'
import { json, optional, type RowOf, row, rows, text, textOf, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteOver } from '../delete-over.ts'
import { CHUNK } from '../objects.ts'
import type { Actor } from './journal.ts'

/** An event to write. */
export interface AdminEvent {
  readonly operationType: EventOperation
  readonly resourceType: EventType
  /** Below the realm; absent: the realm itself. */
  readonly resourcePath?: string
  /** Any JSON value; kept only where the realm says so. Secrets are masked. */
  readonly representation?: unknown
  readonly details?: Readonly<Record<string, string>>
}

const storedEventRow = row({
  id: text,
  at: timestamp,
  operationType: textOf<EventOperation>(),
  resourceType: textOf<EventType>(),
  resourcePath: optional(text),
  authRealm: optional(text),
  authClient: optional(text),
  authUser: optional(text),
  authAddress: optional(text),
  representation: optional(text),
  details: optional(json<Record<string, string>>()),
})

/** An event as it is kept. */
export type StoredEvent = RowOf<typeof storedEventRow>

/** Which events of a realm, in which order. */
export interface EventFilter {
  readonly operationTypes?: readonly string[]
  readonly resourceTypes?: readonly string[]
  /** `*` stands for any text. */
  readonly resourcePath?: string
  readonly authRealm?: string
  readonly authClient?: string
  readonly authUser?: string
  readonly authIpAddress?: string
  readonly from?: Date
  /** Before that moment. */
  readonly until?: Date
  readonly oldestFirst?: boolean
  readonly first: number
  readonly max: number
}

/** A realm that keeps events: by its number, where it did so when the work began, or by its name, if it does so now. */
export type EventRealm = { readonly number: number; readonly adminEventsEnabled: boolean } | { readonly name: string }

/**
 * Writes events of what the actor did, where the realm keeps them, or did when the work began: who turns them off is seen.
 * One statement per chunk.
 */
export async function insertAdminEvents(
  tx: Transaction,
  realm: EventRealm,
  { at, actor, events }: { readonly at: Date; readonly actor: Actor; readonly events: readonly AdminEvent[] },
): Promise<void> {
  const which = 'number' in realm ? sql`r.number = ${realm.number}` : sql`r.name = ${realm.name}`
  const before = 'number' in realm && realm.adminEventsEnabled
  for (const chunk of chunks(events, CHUNK)) {
    const rows = chunk.map(({ representation, ...event }) => ({
      ...event,
      ...(representation !== undefined && { representation: JSON.stringify(representation) }),
    }))
    await sql`
      insert into admin_event (realm, id, at, operation_type, resource_type, resource_path,
        auth_realm, auth_client, auth_user, auth_address, representation, details)
      select r.number, gen_random_uuid()::text, ${at}::timestamptz,
        x.event ->> 'operationType', x.event ->> 'resourceType', x.event ->> 'resourcePath',
        who.realm, who.client, ${actor.userId ?? null}::text, ${actor.address ?? null}::text,
        case when (r.body ->> 'adminEventsDetailsEnabled')::boolean then x.event ->> 'representation' end,
        x.event -> 'details'
      from realm r
      cross join jsonb_array_elements(${JSON.stringify(rows)}::jsonb) with ordinality as x(event, place)
      left join (
        select ar.id as realm, c.id as client
        from realm ar
        left join client c on c.realm = ar.number and c.client_id = ${actor.client ?? null}
        where ar.name = ${actor.realm ?? null}
      ) who on true
      where ${which} and (${before}::boolean or (r.body ->> 'adminEventsEnabled')::boolean)
      order by x.place`.execute(tx)
  }
}

/** The events of a realm, the newest first unless the filter says otherwise. One statement. */
export async function selectAdminEvents(tx: Transaction, realm: number, filter: EventFilter): Promise<StoredEvent[]> {
  const direction = filter.oldestFirst ? sql`asc` : sql`desc`
  return rows(storedEventRow)`
    select e.id, e.at, e.operation_type as "operationType", e.resource_type as "resourceType",
      e.resource_path as "resourcePath", e.auth_realm as "authRealm", e.auth_client as "authClient",
      e.auth_user as "authUser", e.auth_address as "authAddress", e.representation, e.details
    from admin_event e
    where e.realm = ${realm} and ${sql.join(conditions(filter), sql` and `)}
    order by e.number ${direction} offset ${filter.first} limit ${filter.max}`.all(tx)
}

/** Deletes all events of a realm. One statement. */
export async function deleteAdminEvents(tx: Transaction, realm: number): Promise<void> {
  await sql`delete from admin_event where realm = ${realm}`.execute(tx)
}

/** Deletes events that are older than their realm keeps them, at most so many; gives how many. One statement. */
export function deleteExpiredAdminEvents(tx: Transaction, now: Date, limit: number): Promise<number> {
  const when = sql`old.at < ${now}::timestamptz - make_interval(secs =>
    case when r.body -> 'attributes' ->> 'adminEventsExpiration' ~ '^[1-9][0-9]{0,9}$'
      then (r.body -> 'attributes' ->> 'adminEventsExpiration')::double precision end)`
  return deleteOver(tx, { table: 'admin_event', key: ['number'], when }, limit)
}

function conditions(filter: EventFilter): RawBuilder<unknown>[] {
  const { operationTypes, resourceTypes, resourcePath, from, until } = filter
  const equal = {
    auth_realm: filter.authRealm,
    auth_client: filter.authClient,
    auth_user: filter.authUser,
    auth_address: filter.authIpAddress,
  }
  return [
    sql`true`,
    ...(operationTypes ? [sql`e.operation_type = any(${operationTypes})`] : []),
    ...(resourceTypes ? [sql`e.resource_type = any(${resourceTypes})`] : []),
    ...(resourcePath ? [sql`e.resource_path like ${likePattern(resourcePath)}`] : []),
    ...Object.entries(equal).flatMap(([column, value]) => (value ? [sql`e.${sql.ref(column)} = ${value}`] : [])),
    ...(from ? [sql`e.at >= ${from}::timestamptz`] : []),
    ...(until ? [sql`e.at < ${until}::timestamptz`] : []),
  ]
}

function likePattern(path: string): string {
  return path.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%')
}
