// How users show: alone, in lists, in brief.
import type { Representation } from '../../kinds/kind.ts'
import type { UserProfile } from '../../kinds/user-profile.ts'
import { type FoundUser, searchUsers, type UserSearch } from '../../store/user-search.ts'
import { may, visibleTo } from '../administrators.ts'
import type { Context } from '../context.ts'
import { type LiveObject, listObjects } from '../live.ts'
import { present } from '../present.ts'
import { profileOf } from '../profile.ts'
import { isSeen, openProfile } from '../user-profile.ts'

/** How much of a user in a list shows. */
export interface UserView {
  /** Names and state only. */
  readonly brief?: boolean
  /** With what the caller may do. */
  readonly access?: boolean
}

/** The users who are looked for and may be seen, by name. Statements: three, or one where there are none. */
export async function showUsers(
  context: Context,
  search: Omit<UserSearch, 'visible'>,
  view: UserView,
  page: { first?: number; max?: number } = {},
): Promise<Representation[]> {
  const seen = { ...search, visible: visibleTo(context, 'view-users') }
  const found = await searchUsers(context.tx, context.realm.number, seen, page)
  if (!found.length) return []
  const live = new Map(
    (await listObjects(context, 'user', { ids: found.map(({ id }) => id) })).map((one) => [one.id, one]),
  )
  const profile = await profileOf(context)
  return found.map((one) => {
    const shown = show(context, live.get(one.id)!, one, profile, view.brief)
    return view.access ? { ...shown, access: { manage: may(context, 'manage-users') } } : shown
  })
}

/** A user alone, without the accounts elsewhere. One statement. */
export async function showUser(context: Context, live: LiveObject, profile: UserProfile): Promise<Representation> {
  const { tx, realm } = context
  const [found] = await searchUsers(tx, realm.number, { ids: [live.id], visible: 'all' })
  return show(context, live, found!, profile)
}

/** What the caller may do with a user. */
export function accessOf(context: Context): Representation {
  const [view, manage] = [may(context, 'view-users'), may(context, 'manage-users')]
  const impersonate = may(context, 'impersonation')
  return { manageGroupMembership: manage, resetPassword: manage, view, mapRoles: manage, impersonate, manage }
}

/** What shows of a user in any list. Keycloak: what the profile lets administrators see; of accounts of clients, everything. */
function show(
  context: Context,
  live: LiveObject,
  { totp }: FoundUser,
  profile: UserProfile,
  brief = false,
): Representation {
  const user = present(context.vault, live)
  const rules = user.serviceAccountClientId === undefined ? profile : openProfile
  const of = (...names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (user[name] === undefined ? [] : [[name, user[name]]])))
  const seen = (name: string) => isSeen(rules, name)
  const attributes = Object.entries((user.attributes ?? {}) as Representation).filter(([name]) => seen(name))
  const basic = { id: live.id, ...of(...['username', 'firstName', 'lastName', 'email'].filter(seen), 'emailVerified') }
  if (brief) return { ...basic, ...of('enabled', 'createdTimestamp') }
  return {
    ...basic,
    ...(attributes.length && { attributes: Object.fromEntries(attributes) }),
    ...of('enabled', 'createdTimestamp'),
    totp,
    disableableCredentialTypes: [],
    requiredActions: user.requiredActions ?? [],
    notBefore: user.notBefore ?? 0,
  }
}
