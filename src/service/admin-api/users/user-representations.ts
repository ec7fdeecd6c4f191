// The wire representations of users: alone, in lists, and brief.

import { omitUndefined, type Representation, readObject } from '../../../kinds/json.ts'
import type { UserProfile } from '../../../kinds/user-profile.ts'
import { type ListedUser, searchUsers, type UserSearch } from '../../../store/users/user-search.ts'
import { getObjectVisibility, loadObjectAccess, type ObjectAccess } from '../../authorization/object-permissions.ts'
import type { Context } from '../../context/context.ts'
import { getUserValue } from '../../context/realm-values.ts'
import { isProfileAttribute, isStoreAttribute } from '../../users/federated-users.ts'
import { getEffectiveUserProfile } from '../../users/user-profile.ts'
import { canView, unrestrictedProfile } from '../../users/user-profile-rules.ts'
import { mapUserStores, type UserStore } from '../../users/user-store.ts'
import type { ListPage } from '../common/list-query.ts'

/** The parts of a user's representation in a list. */
export interface UserView {
  /** Names and state only. */
  readonly brief?: boolean
  /** With the permissions of the caller. */
  readonly withAccess?: boolean
}

/** Lists the users who match a search and are visible to the caller, by name. Two statements. */
export async function listUsers(
  context: Context,
  search: Omit<UserSearch, 'visible'>,
  { brief = false, withAccess = false, page = {} }: UserView & { readonly page?: ListPage },
): Promise<Representation[]> {
  const visibleSearch = { ...search, visible: await getObjectVisibility(context, 'Users') }
  const users = await searchUsers(context.tx, context.realm.number, { search: visibleSearch, page })
  const profile = await getEffectiveUserProfile(context)
  const stores = await mapUserStores(context)
  const access = withAccess && (await loadObjectAccess(context, { type: 'Users', objects: users, scopes: ['manage'] }))
  return users.map((user) => ({
    ...toRepresentation(context, user, { profile, brief, stores }),
    ...(access && { access: { manage: access('manage', user) } }),
  }))
}

/** Returns a user without federated identities, if there is one with that id. One statement, or none where a read finds the user in the cache. */
export async function findUserRepresentation(
  context: Context,
  id: string,
  profile: UserProfile,
): Promise<Representation | undefined> {
  const search = { ids: [id], visible: 'all' } as const
  const load = async () => (await searchUsers(context.tx, context.realm.number, { search }))[0]
  const user = await getUserValue(context, { user: id, value: 'listed user' }, load)
  const stores = await mapUserStores(context)
  return user && toRepresentation(context, user, { profile, brief: false, stores })
}

/** Keycloak: in a realm with `registrationEmailAsUsername`, the email is displayed as username, also if the user still has another one. */
export function getDisplayedUsername(realm: Context['realm'], username: string, email: string | null): string {
  return realm.usesEmailAsUsername && email !== null ? email : username
}

/** Returns what the caller may do with a user, as the wire representation has it. */
export function toAccess(access: ObjectAccess, id: string): Representation {
  const has = (scope: string) => access(scope, { id })
  return {
    manageGroupMembership: has('manage-group-membership'),
    resetPassword: has('reset-password'),
    view: has('view'),
    mapRoles: has('map-roles'),
    impersonate: has('impersonate'),
    manage: has('manage'),
  }
}

/** The form of a representation. */
interface UserFormat {
  readonly profile: UserProfile
  readonly brief: boolean
  /** The user stores of the realm, by id. Keycloak: users of a disabled one are disabled, and have no attributes. */
  readonly stores: ReadonlyMap<string, UserStore>
}

/** Keycloak: contains only what the profile lets administrators view; everything for service accounts. */
function toRepresentation(
  { realm }: Context,
  { id, username, email, body, isServiceAccount, totp }: ListedUser,
  { profile, brief, stores }: UserFormat,
): Representation {
  const rules = isServiceAccount ? unrestrictedProfile : profile
  const displayedUsername = isServiceAccount ? username : getDisplayedUsername(realm, username, email)
  const user: Representation = { ...body, username: displayedUsername, ...(email !== null && { email }) }
  const isVisible = (name: string) => canView(rules, name)
  const pick = (...names: readonly string[]) =>
    omitUndefined(Object.fromEntries(names.map((name) => [name, user[name]])))
  const names = pick(...['username', 'firstName', 'lastName', 'email'].filter(isVisible), 'emailVerified')
  const { federationLink } = pick('federationLink')
  // Keycloak: the origin is the link.
  const origin = federationLink === undefined ? {} : { federationLink, origin: federationLink }
  const store = stores.get(String(federationLink))
  const isDisabled = store?.isEnabled === false
  const state = { ...pick('enabled', 'createdTimestamp'), ...(isDisabled && { enabled: false }), ...origin }
  // Keycloak: a user store adds its attributes to the user profile. Two of them are in each representation.
  const isShown = (name: string) =>
    brief
      ? store !== undefined && isStoreAttribute(name)
      : isVisible(name) || (store !== undefined && isProfileAttribute(store, name))
  const visible = isDisabled ? [] : Object.entries(readObject(user.attributes)).filter(([name]) => isShown(name))
  const attributes = visible.length ? { attributes: Object.fromEntries(visible) } : {}
  if (brief) return { id, ...names, ...attributes, ...state }
  return {
    id,
    ...names,
    ...attributes,
    ...state,
    totp,
    disableableCredentialTypes: [],
    requiredActions: user.requiredActions ?? [],
    notBefore: user.notBefore ?? 0,
  }
}
