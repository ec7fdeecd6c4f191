// The REST operations on users.

import { type Json, type Representation, readObject, readObjects, readText, readTexts } from '../../../kinds/json.ts'
import type { UserProfile } from '../../../kinds/user-profile.ts'
import { countUsers } from '../../../store/users/user-search.ts'
import type { UserNameSettings } from '../../../store/users/users.ts'
import { findCallerGrants } from '../../authorization/caller-grants.ts'
import {
  getObjectVisibility,
  hasObjectPermission,
  loadObjectAccess,
  requireListPermission,
  requireObjectPermission,
} from '../../authorization/object-permissions.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { getUserValue } from '../../context/realm-values.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { type LiveObject, listObjects } from '../../objects/live-objects.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { isPermitted, requirePermissions } from '../../permissions/require-permissions.ts'
import { assignPriorities, createNewPasswordHasher, createUserPasswordHasher } from '../../users/credentials.ts'
import { getFederatedIdentitiesByUser } from '../../users/federated-identities.ts'
import { isFlagName, isStoreAttribute, listStoreFields } from '../../users/federated-users.ts'
import type { PasswordHasher } from '../../users/password-policy-checks.ts'
import { getEffectiveUserProfile, getUserNameSettings } from '../../users/user-profile.ts'
import {
  canViewUnmanaged,
  createAttributeError,
  findAttributeProblems,
  findFederationProblems,
  findReadOnlyProblems,
  isManagedAttribute,
  throwProblems,
  toProfileMetadata,
  unrestrictedProfile,
} from '../../users/user-profile-rules.ts'
import { registerUser } from '../../users/users.ts'
import { parsePage } from '../common/list-query.ts'
import type { AdminResource, ObjectAddress, Query } from '../common/resource.ts'
import {
  filterChanged,
  filterEditable,
  filterKnownIdentities,
  getClearedNames,
  getLiveNames,
  getNoValues,
  isServiceAccount,
  mergeAttributes,
  readAttributes,
  readNames,
  readState,
} from './user-body.ts'
import { findUserRepresentation, listUsers, toAccess } from './user-representations.ts'
import { parseUserSearch } from './user-search.ts'

const VIEW = 'view-users'
const SEARCH = 'list-users'
const MANAGE = 'manage-users'

/** Keycloak: the most users of a list, unless the query requests more. */
export const DEFAULT_PAGE_SIZE = 100

/** Keycloak: UsersResource, UserResource. Passwords in a body are hashed already: see service/users/credentials.ts. */
export const users: AdminResource = {
  kind: 'user',
  view: VIEW,
  search: SEARCH,
  manage: MANAGE,
  async checkAccess(context, { id }) {
    if (id !== undefined) await getManageableUser(context, id)
    else if (!isPermitted(context, MANAGE) && !(await findCallerGrants(context)))
      throw failure('forbidden', 'HTTP 403 Forbidden')
  },
  async list(context, _address, query) {
    await requireListPermission(context, 'Users', SEARCH)
    const brief = query.briefRepresentation === true
    const page = parsePage(query, DEFAULT_PAGE_SIZE)
    return listUsers(context, parseUserSearch(query), { brief, withAccess: true, page })
  },
  get: (context, address) => getUser(context, address, false),
  async create(context, _address, body) {
    await requireCreation(context, body)
    const { language, defaultRequiredActions } = await getUserNameSettings(context)
    const declaredNames = readNames(body)
    const username = (context.realm.usesEmailAsUsername ? declaredNames.email : null) ?? declaredNames.username ?? null
    if (username === null) throw failure('invalid', 'User name is missing')
    const profile = await getEffectiveUserProfile(context)
    const names = { ...filterEditable(profile, declaredNames), username }
    const attributes = mergeAttributes(profile, {}, readAttributes(body))
    const values = { ...getNoValues(profile), ...attributes, ...names }
    throwProblems([
      ...findAttributeProblems(profile, values, { language: language ?? undefined }),
      ...findFederationProblems(profile, readAttributes(body)),
    ])
    const { createdTimestamp, groups } = omitNulls(body)
    const state = readState(body)
    const requiredActions = [...defaultRequiredActions, ...readTexts(state.requiredActions)]
    const federatedIdentities = await filterKnownIdentities(context, body.federatedIdentities)
    const representation = omitNulls({
      ...state,
      ...(requiredActions.length && { requiredActions: [...new Set(requiredActions)] }),
      ...names,
      ...(Object.keys(attributes).length && { attributes }),
      ...(createdTimestamp !== undefined && { createdTimestamp }),
      ...(groups !== undefined && { groups }),
      ...(federatedIdentities.length && { federatedIdentities }),
    })
    await refuseTakenEmail(context, username)
    return (await registerUser(context, { representation })).id
  },
  async replace(context, { id }, body) {
    const live = await getCompleteUser(context, id)
    await requireObjectPermission(context, { type: 'Users', scope: 'manage', objects: [live] })
    const settings = await getUserNameSettings(context)
    const profile = isServiceAccount(live) ? unrestrictedProfile : await getEffectiveUserProfile(context)
    const { names, mayRename } = readNewNames(context, { live, body, profile, settings })
    const liveAttributes = readObject(live.representation.attributes)
    const attributes =
      body.attributes == null ? liveAttributes : mergeAttributes(profile, liveAttributes, readAttributes(body))
    const changed = filterChanged(live, names)
    const values = { ...getNoValues(profile), ...getLiveNames(live), ...attributes, ...names }
    const declared = filterChanged(live, { ...readAttributes(body), ...readNames(body) })
    throwProblems([
      ...(changed.username && !mayRename ? [createAttributeError('username', 'error-user-attribute-read-only')] : []),
      ...findReadOnlyProblems(profile, declared),
      // Keycloak: values that an update does not change must be valid too, except the username.
      ...findAttributeProblems(profile, 'username' in changed ? values : omitUsername(values), {
        language: settings.language ?? undefined,
      }),
      ...findFederationProblems(profile, declared, live.representation.federationLink !== undefined),
    ])
    const fields: Representation = { ...readState(body), ...(body.attributes != null && { attributes }) }
    if (fields.credentials) {
      refuseServiceAccount(live)
      fields.credentials = await assignPriorities(context, id, readObjects(fields.credentials))
    }
    if (changed.username) await refuseTakenEmail(context, changed.username)
    await writers.user.update(context, [{ live, set: { ...toReplacement(live, fields), ...changed } }])
  },
  async delete(context, { id }) {
    const live = await getCompleteUser(context, id)
    await requireObjectPermission(context, { type: 'Users', scope: 'manage', objects: [live] })
    await writers.user.delete(context, [live])
    describeAdminEvent(context, { representation: { id, username: live.key[0]! } })
  },
}

/**
 * Throws forbidden unless the caller may create a user in the groups of a body. Keycloak: a caller who manages the members and the
 * membership of groups may create users in them. One statement, and those of `hasObjectPermission`.
 */
async function requireCreation(context: Context, body: Representation): Promise<void> {
  if (isPermitted(context, MANAGE)) return
  const paths = readTexts(body.groups)
  const groups = paths.length ? await listObjects(context, 'group', { keys: paths.map((path) => [path]) }) : []
  const isGranted = (scope: 'manage-members' | 'manage-membership') =>
    hasObjectPermission(context, { type: 'Groups', scope, objects: groups })
  const mayCreate =
    (await hasObjectPermission(context, { type: 'Users', scope: 'manage', objects: 'new' })) ||
    (groups.length > 0 && (await isGranted('manage-members')))
  if (!mayCreate || !(await isGranted('manage-membership'))) throw failure('forbidden', 'HTTP 403 Forbidden')
}

function omitUsername({ username: _, ...values }: Record<string, Json>): Record<string, Json> {
  return values
}

/** Throws conflict if a new username is taken and usernames are email addresses: then the message is about the email address. One statement, or none. */
async function refuseTakenEmail(context: Context, username: Json): Promise<void> {
  if (!context.realm.usesEmailAsUsername) return
  const [user] = await listObjects(context, 'user', { keys: [[String(username).toLowerCase()]] })
  if (user) throw failure('conflict', 'User exists with same email')
}

/** The body of an update of a user, and the rules that apply to it. */
interface UserUpdate {
  readonly live: LiveObject
  readonly body: Representation
  readonly profile: UserProfile
  readonly settings: UserNameSettings
}

/** Returns the names and the email after an update, and whether the username may change. Throws invalid without a username. */
function readNewNames({ realm }: Context, { live, body, profile, settings }: UserUpdate) {
  const isService = isServiceAccount(live)
  const usesEmail = realm.usesEmailAsUsername && !isService
  const names = filterEditable(profile, { ...getClearedNames(body), ...readNames(body) })
  const email = (names.email === undefined ? live.representation.email : names.email) ?? null
  if (usesEmail && email !== null) names.username = email
  const username = usesEmail && email === null ? readNames(body).email : names.username
  if (username === null) throw failure('invalid', 'User name is missing')
  const mayRename = !isService && ((usesEmail && email !== null) || settings.canChangeUsername)
  return { names, mayRename }
}

/** Creates the hasher for the passwords in the body of a user: of the user with that id, or of a new one. */
export async function createPasswordHasher(
  context: Context,
  { id }: { readonly id?: string | undefined },
  body: Representation,
): Promise<PasswordHasher> {
  if (id !== undefined) return createUserPasswordHasher(context, await getLiveUser(context, id))
  const { username, email } = readNames(body)
  return createNewPasswordHasher(context, {
    username: String(username ?? email ?? ''),
    email: readText(email) ?? null,
  })
}

/** Returns the number of users who match a query. */
export async function countMatchingUsers(context: Context, query: Query): Promise<number> {
  await requireListPermission(context, 'Users', SEARCH)
  const search = { ...parseUserSearch(query), visible: await getObjectVisibility(context, 'Users') }
  return countUsers(context.tx, context.realm.number, search)
}

/** Returns the user with that id; `withProfile`: with the metadata of the user profile. Throws not_found, forbidden. */
export async function getUser(context: Context, { id }: ObjectAddress, withProfile: boolean): Promise<Representation> {
  const profile = await getEffectiveUserProfile(context)
  const user = (await findUserRepresentation(context, id, profile)) ?? throwNotFound(context)
  const access = await loadObjectAccess(context, { type: 'Users', objects: [{ id }] })
  if (!access('view', { id })) throw failure('forbidden', 'HTTP 403 Forbidden')
  const settings = await getUserNameSettings(context)
  const readOnly = settings.canChangeUsername && !context.realm.usesEmailAsUsername ? [] : ['username']
  const federatedIdentities = settings.hasIdentityProviders && (await findFederatedIdentities(context, id))
  return {
    ...user,
    ...(federatedIdentities && { federatedIdentities }),
    ...(withProfile && { userProfileMetadata: await describeProfile(context, { user, profile, readOnly }) }),
    access: toAccess(access, id),
  }
}

/** Returns the metadata of the user profile. Keycloak: a user store adds its attributes, and what it determines is read-only. */
async function describeProfile(
  context: Context,
  {
    user,
    profile,
    readOnly,
  }: { readonly user: Representation; readonly profile: UserProfile; readonly readOnly: readonly string[] },
) {
  const link = readText(user.federationLink)
  if (link === undefined) return toProfileMetadata(profile, readOnly)
  const fields = await listStoreFields(context, link)
  const readOnlyFields = [...fields].flatMap(([name, isReadOnly]) => (isReadOnly ? [name] : []))
  const metadata = toProfileMetadata(profile, [...readOnly, ...readOnlyFields])
  const declared = new Set(metadata.attributes.map(({ name }) => name))
  const added = [...fields].filter(([name]) => !declared.has(name) && !isFlagName(name))
  return {
    ...metadata,
    attributes: [
      ...metadata.attributes,
      ...added.map(([name, isReadOnly]) => ({
        name,
        displayName: name,
        required: false,
        readOnly: isReadOnly,
        validators: {},
        ...(isStoreAttribute(name) && { group: 'user-metadata' }),
        multivalued: false,
      })),
    ],
  }
}

function findFederatedIdentities(context: Context, id: string): Promise<Json> {
  const load = async () => (await getFederatedIdentitiesByUser(context, [{ id }])).get(id) ?? []
  return getUserValue(context, { user: id, value: 'federated identities' }, load)
}

/** Returns the attributes of a user that the user profile does not define, whatever its policy for them. Throws forbidden if the caller may not view users. */
export async function listUnmanagedAttributes(context: Context, id: string): Promise<Representation> {
  const live = await getViewableUser(context, id)
  const { representation } = live
  const profile = isServiceAccount(live) ? unrestrictedProfile : await getEffectiveUserProfile(context)
  if (!canViewUnmanaged(profile)) return {}
  const attributes = Object.entries(readObject(representation.attributes))
  return Object.fromEntries(attributes.filter(([name]) => !isManagedAttribute(profile, name)))
}

/**
 * Returns the user with that id, without the lists that are stored separately, such as federated identities. One statement.
 *
 * @throws not_found; Keycloak: forbidden for callers who may not list users.
 */
export async function getLiveUser(context: Context, id: string): Promise<LiveObject> {
  return (await listObjects(context, 'user', { ids: [id] }))[0] ?? throwNotFound(context)
}

/** Returns the user with that id. Throws as `getLiveUser` does, and forbidden unless the caller may view the user. */
export async function getViewableUser(context: Context, id: string): Promise<LiveObject> {
  const live = await getLiveUser(context, id)
  await requireObjectPermission(context, { type: 'Users', scope: 'view', objects: [live] })
  return live
}

/** Returns the user with that id. Throws as `getLiveUser` does, and forbidden unless the caller may manage the user. */
export async function getManageableUser(context: Context, id: string): Promise<LiveObject> {
  const live = await getLiveUser(context, id)
  await requireObjectPermission(context, { type: 'Users', scope: 'manage', objects: [live] })
  return live
}

/** Returns the user with that id and all fields except credentials. Throws as `getLiveUser` does. */
export async function getCompleteUser(context: Context, id: string): Promise<LiveObject> {
  return (await writers.user.list(context, { ids: [id] }))[0] ?? throwNotFound(context)
}

/** Throws invalid for a service account: it authenticates as its client, and has no credentials of its own. */
export function refuseServiceAccount(live: LiveObject): void {
  if (!isServiceAccount(live)) return
  const reason = 'You can not manage credentials for this user'
  throw failure('invalid', reason, { form: 'error', reason })
}

function throwNotFound(context: Context): never {
  requirePermissions(context, SEARCH)
  throw failure('not_found', 'User not found')
}
