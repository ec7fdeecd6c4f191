// How users show: alone, in lists, in brief.
import type { Representation } from '../../../kinds/json.ts'
import type { UserProfile } from '../../../kinds/user-profile.ts'
import { type ListedUser, searchUsers, type UserSearch } from '../../../store/users/user-search.ts'
import type { Context } from '../../context/context.ts'
import { isPermitted, getVisibility } from '../../permissions/require-permissions.ts'
import { getEffectiveUserProfile } from '../../users/user-profile.ts'
import { canView, unrestrictedProfile } from '../../users/user-profile-rules.ts'

/** How much of a user in a list shows. */
export interface UserView {
  /** Names and state only. */
  readonly brief?: boolean
  /** With what the caller may do. */
  readonly access?: boolean
}

/** The users who are looked for and may be seen, by name. Two statements. */
export async function showUsers(
  context: Context,
  search: Omit<UserSearch, 'visible'>,
  view: UserView,
  page: { first?: number; max?: number } = {},
): Promise<Representation[]> {
  const seen = { ...search, visible: getVisibility(context, 'view-users') }
  const found = await searchUsers(context.tx, context.realm.number, { search: seen, page })
  const profile = await getEffectiveUserProfile(context)
  return found.map((one) => {
    const shown = show(context, one, profile, view.brief)
    return view.access ? { ...shown, access: { manage: isPermitted(context, 'manage-users') } } : shown
  })
}

/** A user alone, without the accounts elsewhere; undefined where there is none. One statement. */
export async function showUser(
  context: Context,
  id: string,
  profile: UserProfile,
): Promise<Representation | undefined> {
  const [found] = await searchUsers(context.tx, context.realm.number, { search: { ids: [id], visible: 'all' } })
  return found && show(context, found, profile)
}

/** Keycloak: where addresses are names, people show by theirs, also those who have another name still, and are found by that. */
export function getDisplayedUsername({ usesEmailAsUsername: namedByMail }: Context['realm'], username: string, email: string | null): string {
  return namedByMail && email !== null ? email : username
}

/** What the caller may do with a user. */
export function accessOf(context: Context): Representation {
  const [view, manage] = [isPermitted(context, 'view-users'), isPermitted(context, 'manage-users')]
  const impersonate = isPermitted(context, 'impersonation')
  return { manageGroupMembership: manage, resetPassword: manage, view, mapRoles: manage, impersonate, manage }
}

/** What shows of a user in any list. Keycloak: what the profile lets administrators see; of accounts of clients, everything. */
function show(
  { realm }: Context,
  { id, username, email, body, isServiceAccount, totp }: ListedUser,
  profile: UserProfile,
  brief = false,
): Representation {
  const rules = isServiceAccount ? unrestrictedProfile : profile
  const name = isServiceAccount ? username : getDisplayedUsername(realm, username, email)
  const user: Representation = { ...body, username: name, ...(email !== null && { email }) }
  const of = (...names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (user[name] === undefined ? [] : [[name, user[name]]])))
  const seen = (name: string) => canView(rules, name)
  const basic = { id, ...of(...['username', 'firstName', 'lastName', 'email'].filter(seen), 'emailVerified') }
  if (brief) return { ...basic, ...of('enabled', 'createdTimestamp') }
  const attributes = Object.entries((user.attributes ?? {}) as Representation).filter(([name]) => seen(name))
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
