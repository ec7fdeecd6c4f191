// The REST operations on the members of organizations, who are users of the realm.

import { omitUndefined, type Representation, readObject, readText, readTexts } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { countMembers, type MemberSearch, searchMembers } from '../../../store/organizations.ts'
import { selectCredentials } from '../../../store/users/credentials.ts'
import {
  getObjectVisibility,
  requireListPermission,
  requireObjectPermission,
} from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { getEffectiveUserProfile } from '../../users/user-profile.ts'
import { canView } from '../../users/user-profile-rules.ts'
import { parsePage } from '../common/list-query.ts'
import { getObject, type Query } from '../common/resource.ts'
import { getDisplayedUsername } from '../users/user-representations.ts'
import {
  DEFAULT_PAGE_SIZE,
  getOrganization,
  listOrganizationsById,
  requireOrganizationAccess,
  requireOrganizations,
  toOrganizationRepresentation,
} from './organizations.ts'

const NOT_FOUND = 'HTTP 404 Not Found'

/** Keycloak: the most members of a group in a list, unless the query requests more. */
const MAX_GROUP_MEMBERS = 100

/** Lists the members of an organization that match a query, by username. */
export async function listMembers(context: Context, id: string, query: Query): Promise<Representation[]> {
  await requireListPermission(context, 'Users', 'list-users')
  await requireOrganizationAccess(context, 'view', id)
  const organization = await getOrganization(context, id)
  const { tx, realm } = context
  const ids = await searchMembers(tx, realm.number, {
    organization: id,
    search: { ...parseSearch(query), visible: await getObjectVisibility(context, 'Users') },
    page: parsePage(query, DEFAULT_PAGE_SIZE),
  })
  const members = ids.length ? await writers.user.list(context, { ids }) : []
  return query.briefRepresentation === false
    ? toFullMembers(context, organization, members)
    : members.map((user) => toBriefMember(context, organization, user))
}

/** Lists the members of an organization that are in one of its groups, by username. */
export async function listMembersOfOrganizationGroup(
  context: Context,
  { organization: id, group }: { readonly organization: string; readonly group: string },
  query: Query,
): Promise<Representation[]> {
  const organization = await getOrganization(context, id)
  const ids = await searchMembers(context.tx, context.realm.number, {
    organization: id,
    search: { group, visible: await getObjectVisibility(context, 'Users') },
    page: parsePage(query, MAX_GROUP_MEMBERS),
  })
  const members = ids.length ? await writers.user.list(context, { ids }) : []
  return query.briefRepresentation === true
    ? members.map((user) => toBriefMember(context, organization, user))
    : toFullMembers(context, organization, members)
}

/** Returns the number of members of an organization. */
export async function countMembersOfOrganization(context: Context, id: string): Promise<number> {
  await requireListPermission(context, 'Users', 'list-users')
  await requireOrganizationAccess(context, 'view', id)
  await getOrganization(context, id)
  const visible = await getObjectVisibility(context, 'Users')
  return countMembers(context.tx, context.realm.number, { organization: id, visible })
}

/** Returns a member of an organization. Throws not_found. */
export async function getMember(context: Context, id: string, user: string): Promise<Representation> {
  await requireUserAccess(context, 'view', user)
  await requireOrganizationAccess(context, 'view', id)
  const organization = await getOrganization(context, id)
  return (await toFullMembers(context, organization, [await getLiveMember(context, organization, user)]))[0]!
}

/** Makes a user of the realm a member. Returns the id of the user. */
export async function addMember(context: WriteContext, id: string, user: string): Promise<string> {
  await requireListPermission(context, 'Users', 'list-users')
  await requireOrganizationAccess(context, 'manage', id)
  const organization = await getOrganization(context, id)
  const live = await getObject(context, 'user', { id: user, notFound: NOT_FOUND })
  if (isMember(organization, live)) throw failure('conflict', 'User is already a member of the organization.')
  const relations = { organizations: { add: [organization.key] } }
  await writers.user.update(context, [{ live, set: {}, relations }])
  describeMemberEvent(context, organization, live)
  return live.id
}

/** Removes a member. Keycloak: deletes the user if the organization manages the account. */
export async function removeMember(context: WriteContext, id: string, user: string): Promise<void> {
  await requireUserAccess(context, 'manage', user)
  await requireOrganizationAccess(context, 'manage', id)
  const organization = await getOrganization(context, id)
  const live = await getLiveMember(context, organization, user)
  const remove: Key[] = [organization.key]
  if (isManagedMember(organization, live)) await writers.user.delete(context, [live])
  else await writers.user.update(context, [{ live, set: {}, relations: { organizations: { remove } } }])
  describeMemberEvent(context, organization, live)
}

/** Lists the organizations of a member of an organization; `brief`: without attributes. */
export async function listOrganizationsOfMember(
  context: Context,
  { organization, user }: { readonly organization: string; readonly user: string },
  brief: boolean,
): Promise<Representation[]> {
  await requireUserAccess(context, 'view', user)
  await requireOrganizationAccess(context, 'view', organization)
  const live = await getLiveMember(context, await getOrganization(context, organization), user)
  return toOrganizations(context, live, brief)
}

/** Lists the organizations of a user; `brief`: without attributes. */
export async function listOrganizationsOfUser(
  context: Context,
  user: string,
  brief: boolean,
): Promise<Representation[]> {
  await requireUserAccess(context, 'view', user)
  await requireListPermission(context, 'Organizations', 'list-organizations')
  await requireOrganizations(context)
  return toOrganizations(context, await getObject(context, 'user', { id: user, notFound: NOT_FOUND }), brief)
}

async function toOrganizations(context: Context, user: LiveObject, brief: boolean): Promise<Representation[]> {
  const keys = readTexts(user.representation.organizations).map((alias): Key => [alias])
  const visible = await getObjectVisibility(context, 'Organizations')
  const organizations = keys.length ? await writers.organization.list(context, { keys, visible }) : []
  return listOrganizationsById(
    context,
    organizations.map(({ id }) => id),
    brief,
  )
}

function requireUserAccess(context: Context, scope: 'view' | 'manage', id: string): Promise<void> {
  return requireObjectPermission(context, { type: 'Users', scope, objects: [{ id }] })
}

async function getLiveMember(context: Context, organization: LiveObject, user: string): Promise<LiveObject> {
  const live = await getObject(context, 'user', { id: user, notFound: NOT_FOUND })
  if (!isMember(organization, live)) throw failure('not_found', NOT_FOUND)
  return live
}

function parseSearch({ search, exact, membershipType }: Query): Omit<MemberSearch, 'visible'> {
  const type = String(membershipType ?? '').toUpperCase()
  if (!['', 'MANAGED', 'UNMANAGED'].includes(type))
    throw failure('invalid', `Unknown membership type ${membershipType}`, { form: 'error' })
  const text = search ? String(search) : undefined
  return {
    ...(text !== undefined && (exact === true ? { equals: text } : { contains: text })),
    ...(type && { managed: type === 'MANAGED' }),
  }
}

/** Keycloak: the admin event contains the organization, and the member as details. */
function describeMemberEvent(context: WriteContext, organization: LiveObject, { representation }: LiveObject): void {
  const { username, email } = representation
  describeAdminEvent(context, {
    representation: toOrganizationRepresentation(context, organization, true),
    details: { username: String(username), ...(email != null && { email: String(email) }) },
  })
}

function toBriefMember({ realm }: Context, organization: LiveObject, user: LiveObject): Representation {
  const { firstName, lastName, email, ...rest } = user.representation
  const username = getDisplayedUsername(realm, user.key[0]!, readText(email) ?? null)
  const { emailVerified, enabled, createdTimestamp, federationLink } = rest
  return {
    id: user.id,
    ...omitUndefined({
      username,
      firstName,
      lastName,
      email,
      emailVerified,
      enabled,
      createdTimestamp,
      federationLink,
      origin: federationLink,
    }),
    membershipType: isManagedMember(organization, user) ? 'MANAGED' : 'UNMANAGED',
  }
}

async function toFullMembers(
  context: Context,
  organization: LiveObject,
  users: readonly LiveObject[],
): Promise<Representation[]> {
  if (!users.length) return []
  const ids = users.map(({ id }) => id)
  const credentials = await selectCredentials(context.tx, context.realm.number, ids)
  const usersWithOtp = new Set(credentials.filter(({ type }) => type === 'otp').map(({ user }) => user))
  const profile = await getEffectiveUserProfile(context)
  return users.map((user) => {
    const { attributes, requiredActions = [], notBefore = 0 } = user.representation
    const visible = Object.entries(readObject(attributes)).filter(([name]) => canView(profile, name))
    return {
      ...toBriefMember(context, organization, user),
      ...(visible.length && { attributes: Object.fromEntries(visible) }),
      totp: usersWithOtp.has(user.id),
      disableableCredentialTypes: [],
      requiredActions,
      notBefore,
    }
  })
}

/** Whether a user is a member of an organization. */
export function isMember({ key: [alias] }: LiveObject, user: LiveObject): boolean {
  return readTexts(user.representation.organizations).includes(alias!)
}

function isManagedMember({ key: [alias] }: LiveObject, user: LiveObject): boolean {
  return readTexts(user.representation.managedBy).includes(alias!)
}
