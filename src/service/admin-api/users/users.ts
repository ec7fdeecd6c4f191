// What REST does with users.
import type { Representation } from '../../../kinds/json.ts'
import { countUsers } from '../../../store/users/user-search.ts'
import { getUserNameSettings } from '../../../store/users/users.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { type LiveObject, listObjects } from '../../objects/live-objects.ts'
import { toReplacement, omitNulls } from '../../objects/put-body.ts'
import { requirePermissions, getVisibility } from '../../permissions/require-permissions.ts'
import { createRealmPasswordHasher, createUserPasswordHasher, assignPriorities } from '../../users/credentials.ts'
import { getFederatedIdentitiesByUser } from '../../users/federated-identities.ts'
import type { PasswordHasher } from '../../users/password-policy-checks.ts'
import { getEffectiveUserProfile } from '../../users/user-profile.ts'
import {
  isManagedAttribute,
  unrestrictedProfile,
  createAttributeError,
  findAttributeProblems,
  toProfileMetadata,
  findReadOnlyProblems,
  throwProblems,
} from '../../users/user-profile-rules.ts'
import { parsePage } from '../common/list-query.ts'
import type { ObjectAddress, Query, AdminResource } from '../common/resource.ts'
import {
  attributesAfter,
  attributesIn,
  changeable,
  changedIn,
  clearedBy,
  isAccountOfClient,
  knownIdentities,
  stateIn,
  valuesIn,
} from './user-body.ts'
import { searchOf } from './user-search.ts'
import { accessOf, showUser, showUsers } from './user-view.ts'

const VIEW = 'view-users'
const SEARCH = 'list-users'
const MANAGE = 'manage-users'

/** Keycloak: how many users a list has, unless it is asked for more. */
export const PAGE = 100

/** Keycloak: UsersResource, UserResource. Credentials in a body come prepared: see service/users/credentials.ts. */
export const users: AdminResource = {
  kind: 'user',
  view: VIEW,
  search: SEARCH,
  manage: MANAGE,
  async checkAccess(context, { id }) {
    if (id !== undefined) await findUser(context, id)
    requirePermissions(context, MANAGE)
  },
  async list(context, _place, query) {
    requirePermissions(context, SEARCH)
    const view = { brief: query.briefRepresentation === true, access: true }
    return showUsers(context, searchOf(query), view, parsePage(query, PAGE))
  },
  get: (context, place) => getUser(context, place, false),
  async create(context, _place, body) {
    requirePermissions(context, MANAGE)
    const { language } = await getUserNameSettings(context.tx, context.realm.number)
    const values = valuesIn(body)
    const username = (context.realm.usesEmailAsUsername ? values.email : null) ?? values.username ?? null
    if (username === null) throw failure('invalid', 'User name is missing')
    const profile = await getEffectiveUserProfile(context)
    const nothing = Object.fromEntries((profile.attributes ?? []).map(({ name }) => [name, null]))
    const names = { ...changeable(profile, values), username }
    const attributes = attributesAfter(profile, {}, attributesIn(body))
    throwProblems(findAttributeProblems(profile, { ...nothing, ...attributes, ...names }, { language: language ?? undefined }))
    const { createdTimestamp, groups } = omitNulls(body)
    const federatedIdentities = await knownIdentities(context, body.federatedIdentities)
    const representation = omitNulls({
      ...stateIn(body),
      ...names,
      ...(Object.keys(attributes).length && { attributes }),
      ...(createdTimestamp !== undefined && { createdTimestamp }),
      ...(groups !== undefined && { groups }),
      ...(federatedIdentities.length && { federatedIdentities }),
    })
    const [made] = await writers.user.create(context, [{ representation }])
    return made!.id
  },
  async replace(context, { id }, body) {
    const live = await findWholeUser(context, id)
    requirePermissions(context, MANAGE)
    const rules = await getUserNameSettings(context.tx, context.realm.number)
    const ofClient = isAccountOfClient(live)
    const namedByMail = context.realm.usesEmailAsUsername && !ofClient
    const profile = ofClient ? unrestrictedProfile : await getEffectiveUserProfile(context)
    const values = changeable(profile, { ...clearedBy(body), ...valuesIn(body) })
    const mail = (values.email === undefined ? live.representation.email : values.email) ?? null
    if (namedByMail && mail !== null) values.username = mail
    const missing = namedByMail && mail === null ? valuesIn(body).email : values.username
    if (missing === null) throw failure('invalid', 'User name is missing')
    const has = (live.representation.attributes ?? {}) as Representation
    const attributes = body.attributes == null ? has : attributesAfter(profile, has, attributesIn(body))
    const gone = Object.fromEntries(Object.keys(has).map((name) => [name, null]))
    const changed = changedIn(live, { ...gone, ...attributes, ...values })
    const mayRename = !ofClient && ((namedByMail && mail !== null) || rules.canChangeUsername)
    const fixed = changed.username && !mayRename ? [createAttributeError('username', 'error-user-attribute-read-only')] : []
    const closed = findReadOnlyProblems(profile, changedIn(live, { ...attributesIn(body), ...valuesIn(body) }))
    throwProblems([...fixed, ...closed, ...findAttributeProblems(profile, changed, { language: rules.language ?? undefined })])
    const stated: Representation = { ...stateIn(body), ...(body.attributes != null && { attributes }) }
    if (stated.credentials) {
      refuseServiceAccount(live)
      stated.credentials = await assignPriorities(context, id, stated.credentials as Representation[])
    }
    const set = { ...toReplacement(live, stated), ...values }
    await writers.user.update(context, [{ live, set }])
  },
  async delete(context, { id }) {
    const live = await findWholeUser(context, id)
    requirePermissions(context, MANAGE)
    await writers.user.delete(context, [live])
    describeAdminEvent(context, { representation: { id, username: live.key[0]! } })
  },
}

/** What makes the passwords that a body gives a user: one who is there, or who comes with it. */
export async function passwordsFor(
  context: Context,
  { id }: { readonly id?: string | undefined },
  body: Representation,
): Promise<PasswordHasher> {
  if (id !== undefined) return createUserPasswordHasher(context, await findUser(context, id))
  const { username, email = null } = valuesIn(body)
  return createRealmPasswordHasher(context, { username: String(username ?? email ?? ''), email: email as string | null })
}

/** How many users are found. */
export async function countAll(context: Context, query: Query): Promise<number> {
  requirePermissions(context, SEARCH)
  return countUsers(context.tx, context.realm.number, { ...searchOf(query), visible: getVisibility(context, VIEW) })
}

/** The user with that id; with what the profile says of the attributes, where that is asked for. */
export async function getUser(context: Context, { id }: ObjectAddress, withProfile: boolean): Promise<Representation> {
  const profile = await getEffectiveUserProfile(context)
  const shown = (await showUser(context, id, profile)) ?? nobody(context)
  requirePermissions(context, VIEW)
  const { canChangeUsername, hasIdentityProviders } = await getUserNameSettings(context.tx, context.realm.number)
  const readOnly = canChangeUsername && !context.realm.usesEmailAsUsername ? [] : ['username']
  return {
    ...shown,
    ...(hasIdentityProviders && { federatedIdentities: (await getFederatedIdentitiesByUser(context, [{ id }])).get(id) ?? [] }),
    ...(withProfile && { userProfileMetadata: toProfileMetadata(profile, readOnly) }),
    access: accessOf(context),
  }
}

/** The attributes of a user that the profile does not know, whoever may see them. */
export async function listUnmanagedAttributes(context: Context, id: string): Promise<Representation> {
  const { representation } = await findUser(context, id)
  requirePermissions(context, VIEW)
  const profile = await getEffectiveUserProfile(context)
  const attributes = Object.entries((representation.attributes ?? {}) as Representation)
  return Object.fromEntries(attributes.filter(([name]) => !isManagedAttribute(profile, name)))
}

/**
 * The user with that id, without the lists that are kept in tables of their own. Throws not_found; Keycloak: forbidden for who
 * may not even look for users. One statement.
 */
export async function findUser(context: Context, id: string): Promise<LiveObject> {
  return (await listObjects(context, 'user', { ids: [id] }))[0] ?? nobody(context)
}

/** The user with that id and all that they have, credentials apart. Throws as `findUser` does. */
export async function findWholeUser(context: Context, id: string): Promise<LiveObject> {
  return (await writers.user.list(context, { ids: [id] }))[0] ?? nobody(context)
}

/** Throws invalid where the user is the account of a client: it proves itself as the client does, and by nothing else. */
export function refuseServiceAccount(live: LiveObject): void {
  if (!isAccountOfClient(live)) return
  const reason = 'You can not manage credentials for this user'
  throw failure('invalid', reason, { form: 'error', reason })
}

function nobody(context: Context): never {
  requirePermissions(context, SEARCH)
  throw failure('not_found', 'User not found')
}
