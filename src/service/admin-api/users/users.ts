// What REST does with users.
import type { Representation } from '../../../kinds/json.ts'
import { countUsers } from '../../../store/users/user-search.ts'
import { findNameRules } from '../../../store/users/users.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { type LiveObject, listObjects } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { demand, visibleTo } from '../../permissions/administrators.ts'
import { passwordsOf, passwordsOfUser, placedAfter } from '../../users/credentials.ts'
import { federatedIdentitiesOf } from '../../users/federated-identities.ts'
import type { PasswordMaker } from '../../users/password-rules.ts'
import { profileOfPeople } from '../../users/profile.ts'
import {
  isManaged,
  openProfile,
  problem,
  problemsOf,
  profileMetadata,
  readOnlyProblems,
  refuseAll,
} from '../../users/user-profile.ts'
import { pageOf } from '../common/lists.ts'
import type { Place, Query, Resource } from '../common/resource.ts'
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
export const users: Resource = {
  kind: 'user',
  view: VIEW,
  search: SEARCH,
  manage: MANAGE,
  async reach(context, { id }) {
    if (id !== undefined) await findUser(context, id)
    demand(context, MANAGE)
  },
  async list(context, _place, query) {
    demand(context, SEARCH)
    const view = { brief: query.briefRepresentation === true, access: true }
    return showUsers(context, searchOf(query), view, pageOf(query, PAGE))
  },
  get: (context, place) => getUser(context, place, false),
  async create(context, _place, body) {
    demand(context, MANAGE)
    const { language } = await findNameRules(context.tx, context.realm.number)
    const values = valuesIn(body)
    const username = (context.realm.namedByMail ? values.email : null) ?? values.username ?? null
    if (username === null) throw failure('invalid', 'User name is missing')
    const profile = await profileOfPeople(context)
    const nothing = Object.fromEntries((profile.attributes ?? []).map(({ name }) => [name, null]))
    const names = { ...changeable(profile, values), username }
    const attributes = attributesAfter(profile, {}, attributesIn(body))
    refuseAll(problemsOf(profile, { ...nothing, ...attributes, ...names }, 'admin', language ?? undefined))
    const { createdTimestamp, groups } = withoutNulls(body)
    const federatedIdentities = await knownIdentities(context, body.federatedIdentities)
    const representation = withoutNulls({
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
    demand(context, MANAGE)
    const rules = await findNameRules(context.tx, context.realm.number)
    const ofClient = isAccountOfClient(live)
    const namedByMail = context.realm.namedByMail && !ofClient
    const profile = ofClient ? openProfile : await profileOfPeople(context)
    const values = changeable(profile, { ...clearedBy(body), ...valuesIn(body) })
    const mail = (values.email === undefined ? live.representation.email : values.email) ?? null
    if (namedByMail && mail !== null) values.username = mail
    const missing = namedByMail && mail === null ? valuesIn(body).email : values.username
    if (missing === null) throw failure('invalid', 'User name is missing')
    const has = (live.representation.attributes ?? {}) as Representation
    const attributes = body.attributes == null ? has : attributesAfter(profile, has, attributesIn(body))
    const gone = Object.fromEntries(Object.keys(has).map((name) => [name, null]))
    const changed = changedIn(live, { ...gone, ...attributes, ...values })
    const mayRename = !ofClient && ((namedByMail && mail !== null) || rules.nameMayChange)
    const fixed = changed.username && !mayRename ? [problem('username', 'error-user-attribute-read-only')] : []
    const closed = readOnlyProblems(profile, changedIn(live, { ...attributesIn(body), ...valuesIn(body) }))
    refuseAll([...fixed, ...closed, ...problemsOf(profile, changed, 'admin', rules.language ?? undefined)])
    const stated: Representation = { ...stateIn(body), ...(body.attributes != null && { attributes }) }
    if (stated.credentials) {
      refuseServiceAccount(live)
      stated.credentials = await placedAfter(context, id, stated.credentials as Representation[])
    }
    const set = { ...replacement(live, stated), ...values }
    await writers.user.update(context, [{ live, set }])
  },
  async delete(context, { id }) {
    const live = await findWholeUser(context, id)
    demand(context, MANAGE)
    await writers.user.delete(context, [live])
    describeEvent(context, { representation: { id, username: live.key[0]! } })
  },
}

/** What makes the passwords that a body gives a user: one who is there, or who comes with it. */
export async function passwordsFor(
  context: Context,
  { id }: { readonly id?: string | undefined },
  body: Representation,
): Promise<PasswordMaker> {
  if (id !== undefined) return passwordsOfUser(context, await findUser(context, id))
  const { username, email = null } = valuesIn(body)
  return passwordsOf(context, { username: String(username ?? email ?? ''), email: email as string | null })
}

/** How many users are found. */
export async function countAll(context: Context, query: Query): Promise<number> {
  demand(context, SEARCH)
  return countUsers(context.tx, context.realm.number, { ...searchOf(query), visible: visibleTo(context, VIEW) })
}

/** The user with that id; with what the profile says of the attributes, where that is asked for. */
export async function getUser(context: Context, { id }: Place, withProfile: boolean): Promise<Representation> {
  const profile = await profileOfPeople(context)
  const shown = (await showUser(context, id, profile)) ?? nobody(context)
  demand(context, VIEW)
  const { nameMayChange, providers } = await findNameRules(context.tx, context.realm.number)
  const readOnly = nameMayChange && !context.realm.namedByMail ? [] : ['username']
  return {
    ...shown,
    ...(providers && { federatedIdentities: (await federatedIdentitiesOf(context, [{ id }])).get(id) ?? [] }),
    ...(withProfile && { userProfileMetadata: profileMetadata(profile, readOnly) }),
    access: accessOf(context),
  }
}

/** The attributes of a user that the profile does not know, whoever may see them. */
export async function listUnmanagedAttributes(context: Context, id: string): Promise<Representation> {
  const { representation } = await findUser(context, id)
  demand(context, VIEW)
  const profile = await profileOfPeople(context)
  const attributes = Object.entries((representation.attributes ?? {}) as Representation)
  return Object.fromEntries(attributes.filter(([name]) => !isManaged(profile, name)))
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

/** Throws malformed where the user is the account of a client: it proves itself as the client does, and by nothing else. */
export function refuseServiceAccount(live: LiveObject): void {
  if (!isAccountOfClient(live)) return
  const reason = 'You can not manage credentials for this user'
  throw failure('malformed', reason, { reason })
}

function nobody(context: Context): never {
  demand(context, SEARCH)
  throw failure('not_found', 'User not found')
}
