// What REST does with users: what a body may say of one, in the order in which the reference server refuses it.
import { requiredActionProviders } from '../../kinds/authentication-providers.ts'
import type { Json } from '../../kinds/fields.ts'
import type { Representation } from '../../kinds/kind.ts'
import { selectKeys } from '../../store/objects.ts'
import { countUsers } from '../../store/user-search.ts'
import { findNameRules } from '../../store/users.ts'
import { describeEvent } from '../admin-events.ts'
import { demand, visibleTo } from '../administrators.ts'
import type { Context } from '../context.ts'
import { placedAfter } from '../credentials.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import type { LiveObject } from '../live.ts'
import { replacement, withoutNulls } from '../put.ts'
import { problem, problemsOf, profileMetadata, refuseAll } from '../user-profile.ts'
import { pageOf } from './lists.ts'
import { getObject, type Place, type Query, type Resource } from './resource.ts'
import { searchOf } from './user-search.ts'
import { accessOf, showUser, showUsers } from './user-view.ts'

const VIEW = 'view-users'
const MANAGE = 'manage-users'

/** Keycloak: how many users a list has, unless it is asked for more. */
export const PAGE = 100

/** Keycloak: UsersResource, UserResource. Credentials in a body come prepared: see service/credentials.ts. */
export const users: Resource = {
  kind: 'user',
  view: VIEW,
  manage: MANAGE,
  async reach(context, { id }) {
    if (id !== undefined) await findUser(context, id)
    demand(context, MANAGE)
  },
  async list(context, _place, query) {
    demand(context, VIEW)
    const view = { brief: query.briefRepresentation === true, access: true }
    return showUsers(context, searchOf(query), view, pageOf(query, PAGE))
  },
  get: (context, place) => getUser(context, place, false),
  async create(context, _place, body) {
    demand(context, MANAGE)
    const { nameIsMail } = await findNameRules(context.tx, context.realm.number)
    const values = valuesIn(body)
    const username = nameIsMail ? (values.email ?? null) : (values.username ?? null)
    if (username === null && (values.username ?? null) === null) throw failure('invalid', 'User name is missing')
    if (username === null) throw problem('email', 'error-user-attribute-required')
    refuseAll(problemsOf({ ...values, username }))
    const { createdTimestamp, groups } = withoutNulls(body)
    const federatedIdentities = await knownIdentities(context, body.federatedIdentities)
    const representation = withoutNulls({
      ...stateIn(body),
      ...values,
      username,
      ...(createdTimestamp !== undefined && { createdTimestamp }),
      ...(groups !== undefined && { groups }),
      ...(federatedIdentities.length && { federatedIdentities }),
    })
    const [made] = await writers.user.create(context, [{ representation }])
    return made!.id
  },
  async replace(context, { id }, body) {
    const live = await findUser(context, id)
    demand(context, MANAGE)
    const rules = await findNameRules(context.tx, context.realm.number)
    const values = { ...clearedBy(body), ...valuesIn(body) }
    if (rules.nameIsMail)
      values.username = values.email === undefined ? (live.representation.email ?? null) : values.email
    if (values.username === null) throw failure('invalid', 'User name is missing')
    const renamed = values.username !== undefined && values.username !== live.key[0]
    const mayRename = rules.nameIsMail || (rules.nameMayChange && !isAccountOfClient(live))
    const fixed = renamed && !mayRename ? [problem('username', 'error-user-attribute-read-only')] : []
    refuseAll([...fixed, ...(isAccountOfClient(live) ? [] : problemsOf(values))])
    const stated = { ...stateIn(body), ...attributesIn(live, body) }
    if (stated.credentials) stated.credentials = await placedAfter(context, id, stated.credentials as Representation[])
    const set = { ...replacement(live, stated), ...values }
    await writers.user.update(context, [{ live, set }])
  },
  async delete(context, { id }) {
    const live = await findUser(context, id)
    demand(context, MANAGE)
    await writers.user.delete(context, [live])
    describeEvent(context, { representation: { id, username: live.key[0]! } })
  },
}

/** How many users are found. */
export async function countAll(context: Context, query: Query): Promise<number> {
  demand(context, VIEW)
  return countUsers(context.tx, context.realm.number, { ...searchOf(query), visible: visibleTo(context, VIEW) })
}

/** The user with that id; with what the profile says of the attributes, where that is asked for. */
export async function getUser(context: Context, { id }: Place, withProfile: boolean): Promise<Representation> {
  const live = await findUser(context, id)
  demand(context, VIEW)
  const { nameMayChange, nameIsMail, providers } = await findNameRules(context.tx, context.realm.number)
  const readOnly = nameMayChange && !nameIsMail ? [] : ['username']
  return {
    ...(await showUser(context, live)),
    ...(providers && { federatedIdentities: live.representation.federatedIdentities ?? [] }),
    ...(withProfile && { userProfileMetadata: profileMetadata(readOnly) }),
    access: accessOf(context),
  }
}

/** The user with that id. Throws not_found. */
export function findUser(context: Context, id: string): Promise<LiveObject> {
  return getObject(context, 'user', id, 'User not found')
}

/** What a body says of names and address; null: there is none. Keycloak: first and last name may be among the attributes. */
function valuesIn({ attributes, ...body }: Representation): Record<string, Json> {
  const among = (attributes ?? {}) as Record<string, string[] | null>
  const own = {
    firstName: among.firstName?.[0],
    lastName: among.lastName?.[0],
    ...withoutNulls(body),
  } as Representation
  const named = ['username', 'email', 'firstName', 'lastName'].flatMap((name): [string, Json][] => {
    const value = own[name]
    return value === undefined ? [] : [[name, String(value).trim() === '' ? null : value]]
  })
  return Object.fromEntries(named)
}

/** Keycloak: who states attributes states names and address with them: what is not stated is gone. */
function clearedBy({ attributes }: Representation): Record<string, Json> {
  return attributes == null ? {} : { email: null, firstName: null, lastName: null }
}

/** What a body says besides names. Keycloak: required actions that the server does not know are left out. */
function stateIn(body: Representation): Representation {
  const { enabled, emailVerified, requiredActions, credentials } = withoutNulls(body)
  const actions = (requiredActions ?? []) as string[]
  return {
    ...(enabled !== undefined && { enabled }),
    ...(emailVerified !== undefined && { emailVerified }),
    ...(requiredActions !== undefined && {
      requiredActions: actions.filter((one) => requiredActionProviders.has(one)),
    }),
    ...(credentials !== undefined && { credentials }),
  }
}

/** Keycloak: attributes that the profile does not know are left out, but for the accounts of clients. */
function attributesIn(live: LiveObject, { attributes }: Representation): Representation {
  if (attributes == null || !isAccountOfClient(live)) return {}
  const valued = Object.entries(attributes as Record<string, string[] | null>).filter(([, values]) => values?.length)
  return { attributes: Object.fromEntries(valued) }
}

function isAccountOfClient({ representation }: LiveObject): boolean {
  return representation.serviceAccountClientId !== undefined
}

/** Keycloak: accounts at identity providers that the realm does not have are left out. Statements: one, or none. */
async function knownIdentities(context: Context, stated: Json | undefined): Promise<Representation[]> {
  const identities = (stated ?? []) as Representation[]
  if (!identities.length) return []
  const keys = identities.map(({ identityProvider }) => [String(identityProvider)])
  const found = await selectKeys(context.tx, context.realm.number, 'identityProvider', { keys })
  const known = new Set(found.map(({ key }) => key[0]))
  return identities.filter(({ identityProvider }) => known.has(String(identityProvider)))
}
