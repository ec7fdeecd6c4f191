// What REST does with the members of organizations, who are people of the realm.

import type { Representation } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { countMembers, type MemberSearch, searchMembers } from '../../../store/organizations.ts'
import { selectCredentials } from '../../../store/users/credentials.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live.ts'
import { may } from '../../permissions/administrators.ts'
import { pageOf } from '../common/lists.ts'
import { getObject, type Query } from '../common/resource.ts'
import { shownName } from '../users/user-view.ts'
import { demandOrganizations, getOrganization, PAGE, show, showOrganizations } from './organizations.ts'

const VIEW = 'view-organizations'
const MANAGE = 'manage-organizations'
const NOT_FOUND = 'HTTP 404 Not Found'

/** The members of an organization that the query asks for, by username. */
export async function listMembers(context: Context, id: string, query: Query): Promise<Representation[]> {
  await demandOrganizations(context, VIEW, 'list-users')
  const organization = await getOrganization(context, id)
  const { tx, realm } = context
  if (!may(context, 'view-users')) return []
  const ids = await searchMembers(tx, realm.number, {
    organization: id,
    search: searchOf(query),
    page: pageOf(query, PAGE),
  })
  const found = ids.length ? await writers.user.list(context, { ids }) : []
  return query.briefRepresentation === false
    ? showInFull(context, organization, found)
    : found.map((user) => briefly(context, organization, user))
}

/** How many members an organization has. */
export async function countAllMembers(context: Context, id: string): Promise<number> {
  await demandOrganizations(context, VIEW, 'list-users')
  await getOrganization(context, id)
  return may(context, 'view-users') ? countMembers(context.tx, context.realm.number, id) : 0
}

/** One member of an organization. */
export async function getMember(context: Context, id: string, user: string): Promise<Representation> {
  await demandOrganizations(context, VIEW, 'view-users')
  const organization = await getOrganization(context, id)
  return (await showInFull(context, organization, [await memberOf(context, organization, user)]))[0]!
}

/** Makes a person of the realm a member. Gives their id. */
export async function addMember(context: WriteContext, id: string, user: string): Promise<string> {
  await demandOrganizations(context, MANAGE, 'list-users')
  const organization = await getOrganization(context, id)
  const live = await getObject(context, 'user', user, NOT_FOUND)
  if (belongsTo(organization, live)) throw failure('conflict', 'User is already a member of the organization.')
  const relations = { organizations: { add: [organization.key] } }
  await writers.user.update(context, [{ live, set: {}, relations }])
  tell(context, organization, live)
  return live.id
}

/** Ends a membership. Keycloak: with it ends an account that the organization made. */
export async function removeMember(context: WriteContext, id: string, user: string): Promise<void> {
  await demandOrganizations(context, MANAGE, 'manage-users')
  const organization = await getOrganization(context, id)
  const live = await memberOf(context, organization, user)
  const remove: Key[] = [organization.key]
  if (isManagedBy(organization, live)) await writers.user.delete(context, [live])
  else await writers.user.update(context, [{ live, set: {}, relations: { organizations: { remove } } }])
  tell(context, organization, live)
}

/** The organizations of a member of this one. */
export async function listOrganizationsOfMember(
  context: Context,
  id: string,
  user: string,
  brief: boolean,
): Promise<Representation[]> {
  await demandOrganizations(context, VIEW, 'view-users')
  return organizationsOf(context, await memberOf(context, await getOrganization(context, id), user), brief)
}

/** The organizations of a person. */
export async function listOrganizationsOfUser(
  context: Context,
  user: string,
  brief: boolean,
): Promise<Representation[]> {
  await demandOrganizations(context, 'list-organizations', 'view-users')
  return organizationsOf(context, await getObject(context, 'user', user, NOT_FOUND), brief)
}

async function organizationsOf(context: Context, user: LiveObject, brief: boolean): Promise<Representation[]> {
  if (!may(context, VIEW)) return []
  const keys = named(user, 'organizations').map((alias): Key => [alias])
  const found = keys.length ? await writers.organization.list(context, { keys }) : []
  return showOrganizations(
    context,
    found.map(({ id }) => id),
    brief,
  )
}

async function memberOf(context: Context, organization: LiveObject, user: string): Promise<LiveObject> {
  const live = await getObject(context, 'user', user, NOT_FOUND)
  if (!belongsTo(organization, live)) throw failure('not_found', NOT_FOUND)
  return live
}

function searchOf({ search, exact, membershipType }: Query): MemberSearch {
  const type = String(membershipType ?? '').toUpperCase()
  if (!['', 'MANAGED', 'UNMANAGED'].includes(type))
    throw failure('malformed', `Unknown membership type ${membershipType}`)
  const text = search ? String(search) : undefined
  return {
    ...(text !== undefined && (exact === true ? { whole: text } : { part: text })),
    ...(type && { managed: type === 'MANAGED' }),
  }
}

/** Keycloak: the event shows the organization, and says who the member is. */
function tell(context: WriteContext, organization: LiveObject, { representation }: LiveObject): void {
  const { username, email } = representation
  describeEvent(context, {
    representation: show(context, organization, true),
    details: { username: String(username), ...(email != null && { email: String(email) }) },
  })
}

function briefly({ realm }: Context, organization: LiveObject, user: LiveObject): Representation {
  const { firstName, lastName, email, ...rest } = user.representation
  const username = shownName(realm, user.key[0]!, (email ?? null) as string | null)
  const { emailVerified, enabled, createdTimestamp, federationLink } = rest
  const shown = { username, firstName, lastName, email, emailVerified, enabled, createdTimestamp, federationLink }
  return {
    id: user.id,
    ...(Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined)) as Representation),
    membershipType: isManagedBy(organization, user) ? 'MANAGED' : 'UNMANAGED',
  }
}

async function showInFull(
  context: Context,
  organization: LiveObject,
  users: readonly LiveObject[],
): Promise<Representation[]> {
  if (!users.length) return []
  const ids = users.map(({ id }) => id)
  const credentials = await selectCredentials(context.tx, context.realm.number, ids)
  const withCodes = new Set(credentials.filter(({ type }) => type === 'otp').map(({ user }) => user))
  return users.map((user) => {
    const { attributes, requiredActions = [], notBefore = 0 } = user.representation
    return {
      ...briefly(context, organization, user),
      ...(attributes && { attributes }),
      totp: withCodes.has(user.id),
      disableableCredentialTypes: [],
      requiredActions,
      notBefore,
    }
  })
}

function belongsTo({ key: [alias] }: LiveObject, user: LiveObject): boolean {
  return named(user, 'organizations').includes(alias!)
}

function isManagedBy({ key: [alias] }: LiveObject, user: LiveObject): boolean {
  return named(user, 'managedBy').includes(alias!)
}

function named({ representation }: LiveObject, field: 'organizations' | 'managedBy'): string[] {
  return (representation[field] ?? []) as string[]
}
