// Admin events, in Keycloak's form. They are stored in addition to the journal, if the realm enables them.
import { type RawBuilder, sql } from 'kysely'
import type { EventOperation, EventType } from '../../kinds/admin-events.ts'
import { chunks } from '../../lib/chunks.ts'
import { CHUNK_SIZE, json, optional, query, type RowOf, row, text, textOf, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { deleteExpired } from '../delete-expired.ts'
import type { Actor } from './journal.ts'

/** An admin event to write. */
export interface AdminEvent {
  readonly operationType: EventOperation
  readonly resourceType: EventType
  /** Path below the realm; absent for the realm itself. */
  readonly resourcePath?: string
  /** A JSON value with masked secrets. It is stored only if the realm enables event details. */
  readonly representation?: unknown
  readonly details?: Readonly<Record<string, string>>
}

const storedAdminEventRow = row({
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

/** A stored admin event. */
export type StoredAdminEvent = RowOf<typeof storedAdminEventRow>

/** Selects and orders admin events of a realm. All conditions must hold. */
export interface AdminEventFilter {
  readonly operationTypes?: readonly string[]
  readonly resourceTypes?: readonly string[]
  /** `*` matches any text. */
  readonly resourcePath?: string
  readonly authRealm?: string
  readonly authClient?: string
  readonly authUser?: string
  readonly authIpAddress?: string
  readonly from?: Date
  /** Exclusive. */
  readonly until?: Date
  readonly oldestFirst?: boolean
  readonly first: number
  readonly max: number
}

/** The realm of events: its number and whether events were enabled when the work began, or its name. */
export type AdminEventRealm =
  | { readonly number: number; readonly adminEventsEnabled: boolean }
  | { readonly name: string }

/**
 * Inserts events if the realm enables them, or did so when the work began: disabling them is an event, too.
 * One statement per chunk.
 */
export async function insertAdminEvents(
  tx: Transaction,
  realm: AdminEventRealm,
  { at, actor, events }: { readonly at: Date; readonly actor: Actor; readonly events: readonly AdminEvent[] },
): Promise<void> {
  const isRealm = 'number' in realm ? sql`r.number = ${realm.number}` : sql`r.name = ${realm.name}`
  const wereEnabled = 'number' in realm && realm.adminEventsEnabled
  for (const chunk of chunks(events, CHUNK_SIZE)) {
    const rows = chunk.map(({ representation, ...event }) => ({
      ...event,
      ...(representation !== undefined && { representation: JSON.stringify(representation) }),
    }))
    await sql`
      insert into admin_event (realm, id, at, operation_type, resource_type, resource_path,
        auth_realm, auth_client, auth_user, auth_address, representation, details)
      select r.number, gen_random_uuid()::text, ${at}::timestamptz,
        x.event ->> 'operationType', x.event ->> 'resourceType', x.event ->> 'resourcePath',
        auth.realm, auth.client, ${actor.userId ?? null}::text, ${actor.address ?? null}::text,
        case when (r.body ->> 'adminEventsDetailsEnabled')::boolean then x.event ->> 'representation' end,
        x.event -> 'details'
      from realm r
      cross join jsonb_array_elements(${JSON.stringify(rows)}::jsonb) with ordinality as x(event, position)
      left join (
        select ar.id as realm, c.id as client
        from realm ar
        left join client c on c.realm = ar.number and c.client_id = ${actor.client ?? null}
        where ar.name = ${actor.realm ?? null}
      ) auth on true
      where ${isRealm} and (${wereEnabled}::boolean or (r.body ->> 'adminEventsEnabled')::boolean)
      order by x.position`.execute(tx)
  }
}

/** Returns events of a realm, newest first unless the filter has `oldestFirst`. One statement. */
export async function selectAdminEvents(
  tx: Transaction,
  realm: number,
  filter: AdminEventFilter,
): Promise<StoredAdminEvent[]> {
  const direction = filter.oldestFirst ? sql`asc` : sql`desc`
  return query(storedAdminEventRow)`
    select e.id, e.at, e.operation_type as "operationType", e.resource_type as "resourceType",
      e.resource_path as "resourcePath", e.auth_realm as "authRealm", e.auth_client as "authClient",
      e.auth_user as "authUser", e.auth_address as "authAddress", e.representation, e.details
    from admin_event e
    where e.realm = ${realm} and ${sql.join(buildConditions(filter), sql` and `)}
    order by e.number ${direction} offset ${filter.first} limit ${filter.max}`.all(tx)
}

/** Deletes all events of a realm. One statement. */
export async function deleteAdminEvents(tx: Transaction, realm: number): Promise<void> {
  await sql`delete from admin_event where realm = ${realm}`.execute(tx)
}

/** Deletes at most `limit` events that are older than their realm's limit, and returns their number. One statement. */
export function deleteExpiredAdminEvents(tx: Transaction, now: Date, limit: number): Promise<number> {
  const when = sql`old.at < ${now}::timestamptz - make_interval(secs =>
    case when r.body -> 'attributes' ->> 'adminEventsExpiration' ~ '^[1-9][0-9]{0,9}$'
      then (r.body -> 'attributes' ->> 'adminEventsExpiration')::double precision end)`
  return deleteExpired(tx, { table: 'admin_event', key: ['number'], when }, limit)
}

function buildConditions(filter: AdminEventFilter): RawBuilder<unknown>[] {
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
    ...(resourcePath ? [sql`e.resource_path like ${toLikePattern(resourcePath)}`] : []),
    ...Object.entries(equal).flatMap(([column, value]) => (value ? [sql`e.${sql.ref(column)} = ${value}`] : [])),
    ...(from ? [sql`e.at >= ${from}::timestamptz`] : []),
    ...(until ? [sql`e.at < ${until}::timestamptz`] : []),
  ]
}

function toLikePattern(path: string): string {
  return path.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%')
}
