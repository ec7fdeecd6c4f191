// The roles, groups and linked accounts of users.
import { sql } from 'kysely'
import { equalsAny, query, type RowOf, row, text, textOf } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

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
