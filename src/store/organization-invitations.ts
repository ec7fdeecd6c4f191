// Invitations to organizations.
import { sql } from 'kysely'
import { idRow, optional, query, type RowOf, row, text, timestamp } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { toContainsPattern } from './like-patterns.ts'
import type { PageRange } from './organizations.ts'

const invitationRow = row({
  id: text,
  organization: text,
  /** In lower case. */
  email: text,
  firstName: optional(text),
  lastName: optional(text),
  sentAt: timestamp,
  expiresAt: timestamp,
})

/** An invitation of the user with an email address, who may not exist yet, to an organization. */
export type OrganizationInvitation = RowOf<typeof invitationRow>

const columns = sql`i.id, i.organization, i.email, i.first_name as "firstName", i.last_name as "lastName",
  i.sent_at as "sentAt", i.expires_at as "expiresAt"`

/** Inserts an invitation. Returns false if the organization has one for the email address. One statement. */
export async function insertInvitation(
  tx: Transaction,
  realm: number,
  { id, organization, email, firstName, lastName, sentAt, expiresAt }: OrganizationInvitation,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into organization_invitation (realm, id, organization, email, first_name, first_name_folded, last_name,
      last_name_folded, sent_at, expires_at)
    values (${realm}, ${id}, ${organization}, ${email}, ${firstName}, ${firstName?.toLowerCase() ?? null}, ${lastName},
      ${lastName?.toLowerCase() ?? null}, ${sentAt}, ${expiresAt})
    on conflict (realm, organization, email) do nothing`.execute(tx)
  return numAffectedRows === 1n
}

/** A search for invitations. All conditions must hold. */
export interface InvitationSearch {
  /** Part of the email address, first or last name, ignoring case. */
  readonly contains?: string
  /** The whole values, ignoring case. */
  readonly email?: string
  readonly firstName?: string
  readonly lastName?: string
  /** Whether the invitation has expired at a time. */
  readonly expired?: { readonly is: boolean; readonly now: Date }
}

/** Returns a page of the invitations of an organization that a search finds, the latest first. One statement. */
export function selectInvitations(
  tx: Transaction,
  realm: number,
  {
    organization,
    search: { contains, email, firstName, lastName, expired },
    page: { first, max },
  }: { readonly organization: string; readonly search: InvitationSearch; readonly page: PageRange },
): Promise<OrganizationInvitation[]> {
  const pattern = toContainsPattern(contains ?? '')
  const conditions = [
    sql`i.realm = ${realm} and i.organization = ${organization}`,
    ...(contains === undefined
      ? []
      : [sql`(i.email like ${pattern} or i.first_name_folded like ${pattern} or i.last_name_folded like ${pattern})`]),
    ...(email === undefined ? [] : [sql`i.email = ${email.toLowerCase()}`]),
    ...(firstName === undefined ? [] : [sql`i.first_name_folded = ${firstName.toLowerCase()}`]),
    ...(lastName === undefined ? [] : [sql`i.last_name_folded = ${lastName.toLowerCase()}`]),
    ...(expired === undefined ? [] : [sql`(i.expires_at <= ${expired.now}::timestamptz) = ${expired.is}`]),
  ]
  const limit = max === undefined ? sql`` : sql`limit ${max}`
  return query(invitationRow)`
    select ${columns} from organization_invitation i
    where ${sql.join(conditions, sql` and `)}
    order by i.sent_at desc, i.id offset ${first ?? 0} ${limit}`.all(tx)
}

/** Returns an invitation; undefined if it does not exist. One statement. */
export function findInvitation(
  tx: Transaction,
  realm: number,
  id: string,
): Promise<OrganizationInvitation | undefined> {
  return query(invitationRow)`
    select ${columns} from organization_invitation i where i.realm = ${realm} and i.id = ${id}`.first(tx)
}

/** Deletes an invitation. Returns whether it existed; of concurrent deletions exactly one returns true. One statement. */
export async function deleteInvitation(tx: Transaction, realm: number, id: string): Promise<boolean> {
  const deleted = await query(idRow)`
    delete from organization_invitation i where i.realm = ${realm} and i.id = ${id} returning i.id`.all(tx)
  return deleted.length > 0
}

/** Deletes the invitations of users with one of the email addresses, in lower case. One statement. */
export async function eraseFromInvitations(tx: Transaction, realm: number, emails: readonly string[]): Promise<void> {
  await sql`delete from organization_invitation i where i.realm = ${realm} and i.email = any(${emails}::text[])`.execute(
    tx,
  )
}

/** Returns the id of a user with the email address, in lower case; undefined if there is none. One statement. */
export async function findUserWithEmail(tx: Transaction, realm: number, email: string): Promise<string | undefined> {
  const user = await query(idRow)`
    select u.id from user_account u where u.realm = ${realm} and u.email = ${email} order by u.username limit 1`.first(
    tx,
  )
  return user?.id
}
