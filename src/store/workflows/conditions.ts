// What workflows need to know of users: conditions as SQL on a user, and their memberships.
import { type RawBuilder, sql } from 'kysely'
import { equalsAny, query, type RowOf, row, text, textOf } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

/** A condition for users. `unknown`: it names an object that does not exist. */
export type UserCondition =
  | { readonly type: 'role'; readonly id: string }
  | { readonly type: 'group'; readonly path: string }
  | { readonly type: 'identityProvider'; readonly id: string }
  | { readonly type: 'attribute'; readonly name: string; readonly values: readonly string[] }
  | { readonly type: 'unknown' }
  | { readonly type: 'not'; readonly operand: UserCondition }
  | { readonly type: 'and' | 'or'; readonly operands: readonly UserCondition[] }

/** Returns the SQL of a condition on the user `u`: null if it is unknown. */
export function buildUserCondition(realm: number, condition: UserCondition): RawBuilder<unknown> {
  switch (condition.type) {
    case 'role':
      return sql`exists (
        select from user_role m where m.realm = ${realm} and m.user_account = u.id and m.role in (
          with recursive containing as (
            select r.id from role r where r.realm = ${realm} and r.id = ${condition.id}
            union
            select c.role from containing h join role_composite c on c.realm = ${realm} and c.child_role = h.id
          ) select id from containing
        ))`
    case 'group':
      return sql`exists (
        select from user_group m join realm_group g on g.realm = m.realm and g.id = m.realm_group
        where m.realm = ${realm} and m.user_account = u.id
          and (g.path = ${condition.path} or starts_with(g.path, ${`${condition.path}/`})))`
    case 'identityProvider':
      return sql`exists (
        select from federated_identity f
        where f.realm = ${realm} and f.user_account = u.id and f.identity_provider = ${condition.id})`
    case 'attribute':
      return buildAttributeCondition(condition)
    case 'unknown':
      return sql`null::boolean`
    case 'not':
      return sql`not (${buildUserCondition(realm, condition.operand)})`
    default: {
      const operands = condition.operands.map((operand) => buildUserCondition(realm, operand))
      return sql`(${sql.join(operands, condition.type === 'and' ? sql` and ` : sql` or `)})`
    }
  }
}

/** The values of the fields of users that are attributes, too. */
const fieldValues: Readonly<Record<string, RawBuilder<unknown>>> = {
  username: sql`u.username`,
  email: sql`u.email`,
  firstName: sql`u.body ->> 'firstName'`,
  lastName: sql`u.body ->> 'lastName'`,
}

/** Without values, the attribute must exist; otherwise it must have exactly these, in any order. */
function buildAttributeCondition({
  name,
  values,
}: Extract<UserCondition, { readonly type: 'attribute' }>): RawBuilder<unknown> {
  const field = Object.hasOwn(fieldValues, name) ? fieldValues[name] : undefined
  const list = field
    ? sql`(select coalesce(jsonb_agg(x.value), '[]') from (select ${field} as value) x where x.value is not null)`
    : sql`coalesce(u.body -> 'attributes' -> ${name}::text, '[]')`
  if (!values.length) return sql`${list} <> '[]'`
  return sql`(select coalesce(jsonb_agg(x.value order by x.value collate "C"), '[]')
    from jsonb_array_elements_text(${list}) as x(value)) = ${JSON.stringify(values.toSorted(compareByBytes))}::jsonb`
}

/** Compares texts as the collation "C" does. */
function compareByBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

const membershipRow = row({
  /** Id of the user. */
  user: text,
  type: textOf<'role' | 'group' | 'identityProvider' | 'serviceAccount'>(),
  /** The name of the role, path of the group, alias of the identity provider, or id of the client of a service account. */
  name: text,
})

/** A direct role, a group or a linked account of a user, or the client whose service account the user is. */
export type Membership = RowOf<typeof membershipRow>

/** Returns the roles, groups and linked accounts of users. One statement. */
export async function selectMemberships(
  tx: Transaction,
  realm: number,
  users: readonly string[],
): Promise<Membership[]> {
  const isSelected = sql`m.realm = ${realm} and m.user_account ${equalsAny(users)}`
  return query(membershipRow)`
    select m.user_account as user, 'role' as type, r.name
    from user_role m join role r on r.realm = m.realm and r.id = m.role where ${isSelected}
    union all
    select m.user_account, 'group', g.path
    from user_group m join realm_group g on g.realm = m.realm and g.id = m.realm_group where ${isSelected}
    union all
    select m.user_account, 'identityProvider', p.alias
    from federated_identity m join identity_provider p on p.realm = m.realm and p.id = m.identity_provider where ${isSelected}
    union all
    select u.id, 'serviceAccount', u.service_account_client from user_account u
    where u.realm = ${realm} and u.id ${equalsAny(users)} and u.service_account_client is not null`.all(tx)
}
