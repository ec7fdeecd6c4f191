// Organizations: their domains, members and identity providers.
import { type RawBuilder, sql } from 'kysely'
import type { Representation } from '../kinds/json.ts'
import { chunks } from '../lib/chunks.ts'
import { boolean, CHUNK_SIZE, countRow, equalsAny, idRow, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'
import { toContainsPattern, toWildcardPattern } from './like-patterns.ts'
import { buildVisibility, type Visibility } from './visibility.ts'

/** A domain of an organization. `verified`: null keeps the stored value. */
export interface OrganizationDomain {
  readonly organization: string
  readonly name: string
  readonly verified: boolean | null
}

const domainRow = row({ organization: text, name: text, verified: boolean })

/** Returns the domains of organizations, by name. One statement. */
export async function selectDomains(
  tx: Transaction,
  realm: number,
  organizations: readonly string[],
): Promise<RowOf<typeof domainRow>[]> {
  return query(domainRow)`
    select organization, name, verified from organization_domain
    where realm = ${realm} and organization ${equalsAny(organizations)}
    order by name`.all(tx)
}

/** Deletes the domains of organizations that are not in the list. One statement. */
export async function deleteOtherDomains(
  tx: Transaction,
  realm: number,
  {
    organizations,
    domains,
  }: { readonly organizations: readonly string[]; readonly domains: readonly OrganizationDomain[] },
): Promise<void> {
  await sql`
    delete from organization_domain d
    where d.realm = ${realm} and d.organization ${equalsAny(organizations)} and not exists (
      select from jsonb_to_recordset(${JSON.stringify(domains)}::jsonb) as x(name text, organization text)
      where x.name = d.name and x.organization = d.organization)`.execute(tx)
}

/** Returns the organizations that have the domains. One statement. */
export async function selectDomainOwners(
  tx: Transaction,
  realm: number,
  names: readonly string[],
): Promise<{ domain: string; organization: string; name: string }[]> {
  return query(row({ domain: text, organization: text, name: text }))`
    select d.name as domain, o.id as organization, o.display_name as name
    from organization_domain d join organization o on o.realm = d.realm and o.id = d.organization
    where d.realm = ${realm} and d.name = any(${names})
    order by d.name`.all(tx)
}

/** Inserts or updates domains. One statement per chunk. */
export async function upsertDomains(
  tx: Transaction,
  realm: number,
  domains: readonly OrganizationDomain[],
): Promise<void> {
  for (const chunk of chunks(domains, CHUNK_SIZE)) {
    await sql`
      insert into organization_domain as d (realm, name, organization, verified)
      select ${realm}::integer, x.name, x.organization, coalesce(x.verified, o.verified, false)
      from jsonb_to_recordset(${JSON.stringify(chunk)}::jsonb) as x(name text, organization text, verified boolean)
      left join organization_domain o on o.realm = ${realm} and o.name = x.name
      on conflict (realm, name) do update set verified = excluded.verified where d.realm = ${realm}`.execute(tx)
  }
}

/** Returns those of the names that organizations have, except for the given organizations. One statement. */
export async function selectNamesInUse(
  tx: Transaction,
  realm: number,
  { names, except }: { readonly names: readonly string[]; readonly except: readonly string[] },
): Promise<string[]> {
  const organizations = await query(row({ name: text }))`
    select display_name as name from organization
    where realm = ${realm} and display_name = any(${names}) and id <> all(${except})`.all(tx)
  return organizations.map(({ name }) => name)
}

/** A search for organizations. All conditions must hold. */
export interface OrganizationSearch {
  /** Part of the name or of a domain, ignoring case. */
  readonly contains?: string
  /** Name, or a domain. */
  readonly equals?: string
  /** Attributes with values that the organization must have. */
  readonly attributes?: Representation
  readonly visible: Visibility
}

/** The page of a list to return. */
export interface PageRange {
  readonly first?: number
  /** Absent: all. */
  readonly max?: number
}

/** Returns the ids of a page of the organizations that a search finds, by name. One statement. */
export async function searchOrganizations(
  tx: Transaction,
  realm: number,
  { search, page: { first, max } }: { readonly search: OrganizationSearch; readonly page: PageRange },
): Promise<string[]> {
  const limit = max === undefined ? sql`` : sql`limit ${max}`
  const organizations = await query(idRow)`
    select o.id from organization o where o.realm = ${realm} and ${buildOrganizationConditions(search)}
    order by o.display_name offset ${first ?? 0} ${limit}`.all(tx)
  return organizations.map(({ id }) => id)
}

/** Returns the number of organizations that a search finds. One statement. */
export async function countOrganizations(tx: Transaction, realm: number, search: OrganizationSearch): Promise<number> {
  const { count } = await query(countRow)`
    select count(*)::integer as count from organization o
    where o.realm = ${realm} and ${buildOrganizationConditions(search)}`.firstOrThrow(tx)
  return count
}

/** A search for members of an organization. All conditions must hold. */
export interface MemberSearch {
  /** Part of user name, email address, first or last name, ignoring case; `*` matches any text. */
  readonly contains?: string
  /** User name, email address, first or last name, ignoring case. */
  readonly equals?: string
  /** Whether the organization manages the account. */
  readonly managed?: boolean
  /** Id of a group of the organization that the members are in. */
  readonly group?: string
  readonly visible: Visibility
}

/** Returns the ids of a page of the members that a search finds, by user name. One statement. */
export async function searchMembers(
  tx: Transaction,
  realm: number,
  {
    organization,
    search: { contains, equals, managed, group, visible },
    page: { first, max },
  }: { readonly organization: string; readonly search: MemberSearch; readonly page: PageRange },
): Promise<string[]> {
  const conditions = [
    sql`m.realm = ${realm} and m.organization = ${organization}`,
    ...(contains === undefined ? [] : [buildMemberTextCondition(sql`like ${toWildcardPattern(`*${contains}*`)}`)]),
    ...(equals === undefined ? [] : [buildMemberTextCondition(sql`= ${equals.toLowerCase()}`)]),
    ...(managed === undefined ? [] : [sql`${isManaged} = ${managed}`]),
    ...(group === undefined
      ? []
      : [
          sql`exists (select from user_organization_group g
            where g.realm = m.realm and g.user_account = m.user_account and g.organization_group = ${group})`,
        ]),
    ...(visible === 'all' ? [] : [buildVisibility('u', visible)]),
  ]
  const limit = max === undefined ? sql`` : sql`limit ${max}`
  const members = await query(idRow)`
    select u.id from user_organization m
    join user_account u on u.realm = m.realm and u.id = m.user_account
    where ${sql.join(conditions, sql` and `)}
    order by u.username offset ${first ?? 0} ${limit}`.all(tx)
  return members.map(({ id }) => id)
}

/** Returns the number of visible members of an organization. One statement. */
export async function countMembers(
  tx: Transaction,
  realm: number,
  { organization, visible }: { readonly organization: string; readonly visible: Visibility },
): Promise<number> {
  const isVisible = sql`exists (select from user_account u
    where u.realm = m.realm and u.id = m.user_account and ${buildVisibility('u', visible)})`
  const { count } = await query(countRow)`
    select count(*)::integer as count from user_organization m
    where m.realm = ${realm} and m.organization = ${organization} and ${visible === 'all' ? sql`true` : isVisible}`.firstOrThrow(
    tx,
  )
  return count
}

/** Returns the ids of the users whose accounts the organizations manage. One statement. */
export async function selectManagedMembers(
  tx: Transaction,
  realm: number,
  organizations: readonly string[],
): Promise<string[]> {
  const users = await query(idRow)`
    select distinct user_account as id from user_managing_organization
    where realm = ${realm} and organization ${equalsAny(organizations)}`.all(tx)
  return users.map(({ id }) => id)
}

/** Returns the ids of the identity providers of organizations. One statement. */
export async function selectOrganizationProviders(
  tx: Transaction,
  realm: number,
  organizations: readonly string[],
): Promise<string[]> {
  const providers = await query(idRow)`
    select id from identity_provider
    where realm = ${realm} and organization ${equalsAny(organizations)}`.all(tx)
  return providers.map(({ id }) => id)
}

const isManaged = sql`exists (select from user_managing_organization g
  where g.realm = m.realm and g.user_account = m.user_account and g.organization = m.organization)`

/** Returns the condition that user name, email address, first or last name of the user u meets the comparison. */
function buildMemberTextCondition(comparison: RawBuilder<unknown>): RawBuilder<unknown> {
  const texts = [sql`u.username`, sql`u.email`, sql`u.first_name_folded`, sql`u.last_name_folded`]
  const conditions = texts.map((text) => sql`${text} ${comparison}`)
  return sql`(${sql.join(conditions, sql` or `)})`
}

function buildOrganizationConditions({
  contains,
  equals,
  attributes,
  visible,
}: OrganizationSearch): RawBuilder<unknown> {
  const hasDomain = (condition: RawBuilder<unknown>) => sql`exists (select from organization_domain d
    where d.realm = o.realm and d.organization = o.id and ${condition})`
  const like = toContainsPattern(contains ?? '')
  return sql.join(
    [
      sql`true`,
      ...(contains === undefined
        ? []
        : [sql`(o.display_name_folded like ${like} or ${hasDomain(sql`d.name like ${like}`)})`]),
      ...(equals === undefined
        ? []
        : [sql`(o.display_name = ${equals} or ${hasDomain(sql`d.name = ${equals.toLowerCase()}`)})`]),
      ...(attributes ? [sql`o.body @> ${JSON.stringify({ attributes })}::jsonb`] : []),
      ...(visible === 'all' ? [] : [buildVisibility('o', visible)]),
    ],
    sql` and `,
  )
}
