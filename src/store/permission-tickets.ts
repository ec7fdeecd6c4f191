// Permission tickets: requests of users for access to resources of other users, and whether the owners have granted them.
import { type RawBuilder, sql } from 'kysely'
import { boolean, countRow, equalsAny, idRow, optional, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'

const ticketRow = row({
  id: text,
  /** Ids and names of the resource, its owner, and the requester. The owner is a user, or the client itself. */
  resource: text,
  resourceName: text,
  owner: text,
  ownerName: text,
  requester: text,
  requesterName: text,
  /** Id and name of the scope; null: access to the resource as such. */
  scope: optional(text),
  scopeName: optional(text),
  isGranted: boolean,
})

/** A request of a user for access to a resource. */
export type PermissionTicket = RowOf<typeof ticketRow>

/** Conditions on tickets; an absent one is met. */
export interface TicketFilter {
  /** Id of the client with the resources. */
  readonly client: string
  readonly id?: string | undefined
  /** Id of the resource. */
  readonly resource?: string | undefined
  /** Id or name. */
  readonly scope?: string | undefined
  readonly owner?: string | undefined
  readonly requester?: string | undefined
  readonly isGranted?: boolean | undefined
  /** Id of a user who is the owner or the requester. */
  readonly party?: string | undefined
}

/** Returns the SQL of the tickets that match a filter, with the tables of which their names are. */
function buildMatches(realm: number, filter: TicketFilter): RawBuilder<unknown> {
  const { client, id, resource, scope, owner, requester, isGranted, party } = filter
  const conditions = [
    id === undefined ? [] : sql`t.id = ${id}`,
    resource === undefined ? [] : sql`t.resource = ${resource}`,
    scope === undefined ? [] : sql`${scope} in (s.id, s.name)`,
    owner === undefined ? [] : sql`${owner} in (coalesce(o.id, c.id), coalesce(o.username, c.client_id))`,
    requester === undefined ? [] : sql`${requester} in (u.id, u.username)`,
    isGranted === undefined ? [] : sql`(t.granted_at is not null) = ${isGranted}`,
    party === undefined ? [] : sql`${party} in (u.id, r.owner)`,
  ].flat()
  return sql`
    from permission_ticket t
    join client c on c.realm = t.realm and c.id = t.client
    join authorization_resource r on r.realm = t.realm and r.id = t.resource
    join user_account u on u.realm = t.realm and u.id = t.requester
    left join user_account o on o.realm = t.realm and o.id = r.owner
    left join authorization_scope s on s.realm = t.realm and s.id = t.scope
    where ${sql.join([sql`t.realm = ${realm}`, sql`t.client = ${client}`, ...conditions], sql` and `)}`
}

/** Keycloak: the tickets of a page, if the request does not say how many. */
const PAGE_SIZE = 100

/** Returns the tickets that match a filter, the oldest first. A negative number counts as absent. One statement. */
export function selectTickets(
  tx: Transaction,
  realm: number,
  { first, max, ...filter }: TicketFilter & { readonly first?: number | undefined; readonly max?: number | undefined },
): Promise<PermissionTicket[]> {
  return query(ticketRow)`
    select t.id, r.id as resource, r.name as "resourceName", coalesce(o.id, c.id) as owner,
      coalesce(o.username, c.client_id) as "ownerName", u.id as requester, u.username as "requesterName",
      s.id as scope, s.name as "scopeName", t.granted_at is not null as "isGranted"
    ${buildMatches(realm, filter)}
    order by t.created_at, t.id
    limit ${max !== undefined && max >= 0 ? max : PAGE_SIZE} offset ${Math.max(first ?? 0, 0)}`.all(tx)
}

/** Returns the number of tickets that match a filter. One statement. */
export async function countTickets(tx: Transaction, realm: number, filter: TicketFilter): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count ${buildMatches(realm, filter)}`.firstOrThrow(tx)
  return count
}

const grantedTicketRow = row({
  id: text,
  resource: text,
  scopeName: optional(text),
  requester: text,
  requesterName: text,
})

/** A granted ticket, with ids and names. */
export type GrantedTicketRow = RowOf<typeof grantedTicketRow>

/** Returns the granted tickets of a client that a user has requested, or whose resources the user owns. One statement. */
export function selectGrantedTickets(
  tx: Transaction,
  realm: number,
  { client, user }: { readonly client: string; readonly user: string },
): Promise<GrantedTicketRow[]> {
  return query(grantedTicketRow)`
    select t.id, t.resource, s.name as "scopeName", u.id as requester, u.username as "requesterName"
    from permission_ticket t
    join user_account u on u.realm = t.realm and u.id = t.requester
    left join authorization_scope s on s.realm = t.realm and s.id = t.scope
    where t.realm = ${realm} and t.client = ${client} and t.granted_at is not null
      and (t.requester = ${user} or t.resource in (
        select r.id from authorization_resource r where r.realm = ${realm} and r.owner = ${user}))
    order by t.id`.all(tx)
}

/**
 * Returns granted tickets of other users than the one with the id for resources of a client: one for each resource and scope. One
 * statement.
 */
export function selectTicketsOfOthers(
  tx: Transaction,
  realm: number,
  { user, resources }: { readonly user: string; readonly resources: readonly string[] },
): Promise<GrantedTicketRow[]> {
  return query(grantedTicketRow)`
    select distinct on (t.resource, t.scope) t.id, t.resource, s.name as "scopeName", u.id as requester,
      u.username as "requesterName"
    from permission_ticket t
    join user_account u on u.realm = t.realm and u.id = t.requester
    left join authorization_scope s on s.realm = t.realm and s.id = t.scope
    where t.realm = ${realm} and t.resource ${equalsAny(resources)} and t.requester <> ${user}
      and t.granted_at is not null
    order by t.resource, t.scope, t.id`.all(tx)
}

/** A ticket to insert. */
export interface NewTicket {
  readonly id: string
  readonly client: string
  readonly resource: string
  readonly scope: string | null
  readonly requester: string
  /** ISO 8601. */
  readonly created_at: string
  readonly granted_at: string | null
}

/** Inserts tickets, except those that exist already. Returns the ids of the new ones. One statement. */
export async function insertTickets(tx: Transaction, realm: number, tickets: readonly NewTicket[]): Promise<string[]> {
  const inserted = await query(idRow)`
    insert into permission_ticket (realm, id, client, resource, scope, requester, created_at, granted_at)
    select ${realm}::integer, x.id, x.client, x.resource, x.scope, x.requester, x.created_at, x.granted_at
    from jsonb_to_recordset(${JSON.stringify(tickets)}::jsonb) as x(
      id text, client text, resource text, scope text, requester text, created_at timestamptz, granted_at timestamptz)
    on conflict do nothing
    returning id`.all(tx)
  return inserted.map(({ id }) => id)
}

/** Grants a ticket. One statement. */
export async function updateTicket(
  tx: Transaction,
  realm: number,
  { id, grantedAt }: { readonly id: string; readonly grantedAt: Date },
): Promise<void> {
  await sql`update permission_ticket set granted_at = ${grantedAt} where realm = ${realm} and id = ${id}`.execute(tx)
}

/** Deletes tickets. One statement. */
export async function deleteTickets(tx: Transaction, realm: number, ids: readonly string[]): Promise<void> {
  await sql`delete from permission_ticket where realm = ${realm} and id ${equalsAny(ids)}`.execute(tx)
}
