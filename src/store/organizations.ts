// Organizations: their domains, and whom and what lists of them hold.
import { type RawBuilder, sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { chunks } from '../lib/chunks.ts'
import { boolean, countRow, idRow, type RowOf, row, rows, text } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'
import { containing, matching } from './like.ts'
import type { Visibility } from './object-filter.ts'
import { CHUNK } from './objects.ts'

/** A domain of an organization; `verified`: null keeps what is there. */
export interface Domain {
  readonly organization: string
  readonly name: string
  readonly verified: boolean | null
}

const domainRow = row({ organization: text, name: text, verified: boolean })

/** The domains of organizations, by name. One statement. */
export async function selectDomains(
  tx: Transaction,
  realm: number,
  organizations: readonly string[],
): Promise<RowOf<typeof domainRow>[]> {
  return rows(domainRow)`
    select organization, name, verified from organization_domain
    where realm = ${realm} and organization = any(${organizations})
    order by name`.all(tx)
}

/** Takes from organizations the domains that are not among these. One statement. */
export async function deleteOtherDomains(
  tx: Transaction,
  realm: number,
  { organizations, domains }: { readonly organizations: readonly string[]; readonly domains: readonly Domain[] },
): Promise<void> {
  await sql`
    delete from organization_domain d
    where d.realm = ${realm} and d.organization = any(${organizations}) and not exists (
      select from jsonb_to_recordset(${JSON.stringify(domains)}::jsonb) as x(name text, organization text)
      where x.name = d.name and x.organization = d.organization)`.execute(tx)
}

/** The names of the organizations that have domains of these names. One statement. */
export async function selectDomainHolders(
  tx: Transaction,
  realm: number,
  names: readonly string[],
): Promise<{ domain: string; organization: string; name: string }[]> {
  return rows(row({ domain: text, organization: text, name: text }))`
    select d.name as domain, o.id as organization, o.display_name as name
    from organization_domain d join organization o on o.realm = d.realm and o.id = d.organization
    where d.realm = ${realm} and d.name = any(${names})
    order by d.name`.all(tx)
}

/** Gives organizations domains. One statement per chunk. */
export async function upsertDomains(tx: Transaction, realm: number, domains: readonly Domain[]): Promise<void> {
  for (const chunk of chunks(domains, CHUNK)) {
    await sql`
      insert into organization_domain as d (realm, name, organization, verified)
      select ${realm}::integer, x.name, x.organization, coalesce(x.verified, o.verified, false)
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(name text, organization text, verified boolean)
      left join organization_domain o on o.realm = ${realm} and o.name = x.name
      on conflict (realm, name) do update set verified = excluded.verified where d.realm = ${realm}`.execute(tx)
  }
}

/** The names among these that organizations other than the given ones have. One statement. */
export async function selectTakenNames(
  tx: Transaction,
  realm: number,
  { names, except }: { readonly names: readonly string[]; readonly except: readonly string[] },
): Promise<string[]> {
  const taken = await rows(row({ name: text }))`
    select display_name as name from organization
    where realm = ${realm} and display_name = any(${names}) and id <> all(${except})`.all(tx)
  return taken.map(({ name }) => name)
}

/** Which organizations of a realm: those of all of these. */
export interface OrganizationSearch {
  /** Part of the name or of a domain, in any case. */
  readonly part?: string
  /** The whole name, or a whole domain. */
  readonly whole?: string
  /** Attributes that they have. */
  readonly attributes?: Representation
  readonly visible: Visibility
}

/** A part of a list. */
export interface Page {
  readonly first?: number
  /** Absent: all. */
  readonly max?: number
}

/** Ids of the organizations that are looked for, in order of their names. One statement. */
export async function searchOrganizations(
  tx: Transaction,
  realm: number,
  { search, page: { first, max } }: { readonly search: OrganizationSearch; readonly page: Page },
): Promise<string[]> {
  const limit = max === undefined ? sql`` : sql`limit ${max}`
  const organizations = await rows(idRow)`
    select o.id from organization o where o.realm = ${realm} and ${organizationConditions(search)}
    order by o.display_name offset ${first ?? 0} ${limit}`.all(tx)
  return organizations.map(({ id }) => id)
}

/** How many organizations are looked for. One statement. */
export async function countOrganizations(tx: Transaction, realm: number, search: OrganizationSearch): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from organization o
    where o.realm = ${realm} and ${organizationConditions(search)}`.one(tx)
  return count
}

/** Which members of an organization: those of all of these. */
export interface MemberSearch {
  /** Part of the username, the mail address or a name, in any case; `*` stands for anything. */
  readonly part?: string
  /** All of one of them, in any case. */
  readonly whole?: string
  /** Only those whose account the organization made, or only the others. */
  readonly managed?: boolean
}

/** Ids of the members of an organization that are looked for, in order of their usernames. One statement. */
export async function searchMembers(
  tx: Transaction,
  realm: number,
  {
    organization,
    search: { part, whole, managed },
    page: { first, max },
  }: { readonly organization: string; readonly search: MemberSearch; readonly page: Page },
): Promise<string[]> {
  const conditions = [
    sql`m.realm = ${realm} and m.organization = ${organization}`,
    ...(part === undefined ? [] : [anyText(sql`like ${matching(`*${part}*`)}`)]),
    ...(whole === undefined ? [] : [anyText(sql`= ${whole.toLowerCase()}`)]),
    ...(managed === undefined ? [] : [sql`${isManaged} = ${managed}`]),
  ]
  const limit = max === undefined ? sql`` : sql`limit ${max}`
  const members = await rows(idRow)`
    select u.id from user_organization m
    join user_account u on u.realm = m.realm and u.id = m.user_account
    where ${sql.join(conditions, sql` and `)}
    order by u.username offset ${first ?? 0} ${limit}`.all(tx)
  return members.map(({ id }) => id)
}

/** How many members an organization has. One statement. */
export async function countMembers(tx: Transaction, realm: number, organization: string): Promise<number> {
  const { count } = await rows(countRow)`
    select count(*)::integer as count from user_organization
    where realm = ${realm} and organization = ${organization}`.one(tx)
  return count
}

/** Ids of the people whose accounts the organizations made. One statement. */
export async function selectManaged(
  tx: Transaction,
  realm: number,
  organizations: readonly string[],
): Promise<string[]> {
  const people = await rows(idRow)`
    select distinct user_account as id from user_managing_organization
    where realm = ${realm} and organization = any(${organizations})`.all(tx)
  return people.map(({ id }) => id)
}

/** Ids of the identity providers of organizations. One statement. */
export async function selectProvidersOf(
  tx: Transaction,
  realm: number,
  organizations: readonly string[],
): Promise<string[]> {
  const providers = await rows(idRow)`
    select id from identity_provider
    where realm = ${realm} and organization = any(${organizations})`.all(tx)
  return providers.map(({ id }) => id)
}

const isManaged = sql`exists (select from user_managing_organization g
  where g.realm = m.realm and g.user_account = m.user_account and g.organization = m.organization)`

/** A condition on any of the texts by which a person u is looked for. */
function anyText(fits: RawBuilder<unknown>): RawBuilder<unknown> {
  const texts = [sql`u.username`, sql`u.email`, sql`u.first_name_folded`, sql`u.last_name_folded`]
  const each = texts.map((text) => sql`${text} ${fits}`)
  return sql`(${sql.join(each, sql` or `)})`
}

function organizationConditions({ part, whole, attributes, visible }: OrganizationSearch): RawBuilder<unknown> {
  const domain = (which: RawBuilder<unknown>) => sql`exists (select from organization_domain d
    where d.realm = o.realm and d.organization = o.id and ${which})`
  const like = containing(part ?? '')
  return sql.join(
    [
      sql`true`,
      ...(part === undefined ? [] : [sql`(o.display_name_folded like ${like} or ${domain(sql`d.name like ${like}`)})`]),
      ...(whole === undefined
        ? []
        : [sql`(o.display_name = ${whole} or ${domain(sql`d.name = ${whole.toLowerCase()}`)})`]),
      ...(attributes ? [sql`o.body @> ${JSON.stringify({ attributes })}::jsonb`] : []),
      ...(visible === 'all' ? [] : [sql`o.id = any(${visible.ids})`]),
    ],
    sql` and `,
  )
}
