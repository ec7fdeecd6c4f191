// The REST operations on invitations to organizations. Keycloak: OrganizationInvitationResource.
import { type Representation, readText, readTextListMap } from '../../../kinds/json.ts'
import { isEmailAddress } from '../../../lib/email-address.ts'
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import {
  deleteInvitation,
  findInvitation,
  findUserWithEmail,
  type InvitationSearch,
  insertInvitation,
  type OrganizationInvitation,
  selectInvitations,
} from '../../../store/organization-invitations.ts'
import { requireListPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { createActionToken, INVITATION_TOKEN } from '../../messages/action-tokens.ts'
import { enqueueMessages } from '../../messages/outbox.ts'
import { findSmtpSettings } from '../../messages/smtp.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { parsePage } from '../common/list-query.ts'
import type { Query } from '../common/resource.ts'
import { isMember } from './organization-members.ts'
import { getOrganization, requireOrganizationAccess } from './organizations.ts'

/** The client of the page on which users accept an invitation. Keycloak: the account console. */
const ACCOUNT = 'account'

/** Keycloak: the messages of its email service and of its database. */
const NOT_SENT = 'Failed to send invite email'
const DUPLICATE = 'Duplicate resource error'

/** An organization, and the address of the server as users see it. */
export interface InvitingOrganization {
  /** The id of the organization. */
  readonly organization: string
  readonly base: string
}

/** A user to invite, by email address. */
export interface InvitedUser {
  readonly email?: string | undefined
  readonly firstName?: string | undefined
  readonly lastName?: string | undefined
}

/** Throws forbidden or not_found unless the caller may manage the invitations of the organization, and it exists. */
export async function checkInvitationAccess(context: Context, organization: string): Promise<LiveObject> {
  await requireOrganizationAccess(context, 'manage', organization)
  return getOrganization(context, organization)
}

/** Sends an invitation to an email address. Throws invalid, and conflict for a member or where there is an invitation already. */
export async function inviteUser(
  context: WriteContext,
  { organization: id, base }: InvitingOrganization,
  { email: address, firstName, lastName }: InvitedUser,
): Promise<void> {
  const organization = await getInvitingOrganization(context, id)
  const email = (address ?? '').trim().toLowerCase()
  if (email === '') throw failure('invalid', 'Email is required to invite a member')
  if (!isEmailAddress(email, true)) throw failure('invalid', 'Invalid email format')
  const user = await findUserByEmail(context, email)
  if (user && isMember(organization, user)) throw failure('conflict', 'User already a member of the organization')
  if (await hasPendingInvitation(context, id, email)) throw failure('conflict', 'User already has a pending invitation')
  const names = user ? readNames(user) : { firstName: firstName?.trim() || null, lastName: lastName?.trim() || null }
  await sendInvitation(context, { organization, user, base, email, ...names })
}

/** Sends an invitation to a user. Throws invalid, and conflict where there is an invitation already. Keycloak: also to a member. */
export async function inviteExistingUser(
  context: WriteContext,
  { organization: id, base }: InvitingOrganization,
  user: string | undefined,
): Promise<void> {
  await requireListPermission(context, 'Users', 'list-users')
  const organization = await getInvitingOrganization(context, id)
  if (!user) throw failure('invalid', 'To invite a member you need to provide the user id', { form: 'error' })
  const [live] = await writers.user.list(context, { ids: [user] })
  if (!live) throw failure('invalid', 'User does not exist')
  const email = readText(live.representation.email)
  if (!email) throw failure('invalid', 'User does not have an email address')
  await sendInvitation(context, { organization, user: live, base, email, ...readNames(live) })
}

/** Lists the invitations of an organization that match a query, the latest first. Expired ones are among them. */
export async function listInvitations(context: Context, id: string, query: Query): Promise<Representation[]> {
  await checkInvitationAccess(context, id)
  const invitations = await selectInvitations(context.tx, context.realm.number, {
    organization: id,
    search: parseSearch(context, query),
    page: parsePage(query),
  })
  return invitations.map((invitation) => toRepresentation(context, invitation))
}

/** Returns an invitation of an organization. Throws not_found. */
export async function getInvitation(context: Context, organization: string, id: string): Promise<Representation> {
  await checkInvitationAccess(context, organization)
  return toRepresentation(context, await getInvitationOf(context, organization, id))
}

/** Replaces an invitation by another one with a new link, and sends it. Throws not_found. */
export async function resendInvitation(
  context: WriteContext,
  { organization: organizationId, base }: InvitingOrganization,
  id: string,
): Promise<void> {
  const organization = await getInvitingOrganization(context, organizationId)
  const { email, firstName, lastName } = await getInvitationOf(context, organizationId, id)
  await deleteInvitation(context.tx, context.realm.number, id)
  const user = await findUserByEmail(context, email)
  await sendInvitation(context, { organization, user, base, email, firstName, lastName })
}

/** Deletes an invitation, whose link is invalid then. Throws not_found. */
export async function removeInvitation(context: WriteContext, organization: string, id: string): Promise<void> {
  await checkInvitationAccess(context, organization)
  const invitation = await getInvitationOf(context, organization, id)
  await deleteInvitation(context.tx, context.realm.number, id)
  describeInvitationEvent(context, invitation)
}

async function getInvitingOrganization(context: Context, id: string): Promise<LiveObject> {
  const organization = await checkInvitationAccess(context, id)
  if (organization.representation.enabled === false) throw failure('invalid', 'Organization is disabled')
  return organization
}

async function getInvitationOf(context: Context, organization: string, id: string): Promise<OrganizationInvitation> {
  const invitation = await findInvitation(context.tx, context.realm.number, id)
  if (invitation?.organization !== organization)
    throw failure('not_found', 'Invitation not found', { form: 'errorMessage' })
  return invitation
}

async function findUserByEmail(context: Context, email: string): Promise<LiveObject | undefined> {
  const id = await findUserWithEmail(context.tx, context.realm.number, email)
  return id === undefined ? undefined : (await writers.user.list(context, { ids: [id] }))[0]
}

async function hasPendingInvitation(
  { tx, realm, now }: Context,
  organization: string,
  email: string,
): Promise<boolean> {
  const search = { email, expired: { is: false, now } }
  return (await selectInvitations(tx, realm.number, { organization, search, page: { max: 1 } })).length > 0
}

function readNames({ representation }: LiveObject): Pick<OrganizationInvitation, 'firstName' | 'lastName'> {
  return { firstName: readText(representation.firstName) ?? null, lastName: readText(representation.lastName) ?? null }
}

/** An invitation to send. `user`: undefined if the user is to register. */
interface NewInvitation extends Pick<OrganizationInvitation, 'email' | 'firstName' | 'lastName'> {
  readonly organization: LiveObject
  readonly user: LiveObject | undefined
  readonly base: string
}

/** Stores an invitation, and sends its link. Throws invalid without a mail server, and conflict for a second invitation. */
async function sendInvitation(
  context: WriteContext,
  { organization, user, base, email, firstName, lastName }: NewInvitation,
): Promise<void> {
  const { tx, realm, vault, now } = context
  const { representation: settings } = await getCurrentRealm(context)
  if (!findSmtpSettings(vault, settings))
    throw failure('invalid', `${NOT_SENT}: the realm has no mail server. Configure smtpServer.`)
  const redirectUrl = readText(organization.representation.redirectUrl)
  const token = createActionToken(context, Number(settings.actionTokenGeneratedByAdminLifespan), {
    typ: INVITATION_TOKEN,
    azp: ACCOUNT,
    eml: email,
    org_id: organization.id,
    ...(user && { sub: user.id }),
    ...(redirectUrl && { reduri: redirectUrl }),
  })
  const expiresAt = new Date(token.exp * 1000)
  const invitation = {
    id: token.jti,
    organization: organization.id,
    email,
    firstName,
    lastName,
    sentAt: now,
    expiresAt,
  }
  if (!(await insertInvitation(tx, realm.number, invitation)))
    throw failure('conflict', DUPLICATE, { form: { error: 'conflict' } })
  const hasNames = firstName !== null && lastName !== null
  await enqueueMessages(context, {
    kind: 'mail',
    to: email,
    template: hasNames ? 'orgInvitePersonalized' : 'orgInvite',
    locale: readTextListMap(user?.representation.attributes).locale?.[0],
    values: { organization: String(organization.representation.name), ...(hasNames && { firstName, lastName }) },
    link: { base, token },
    until: token.exp,
  })
  describeInvitationEvent(context, invitation)
}

function parseSearch({ now }: Context, { search, email, firstName, lastName, status }: Query): InvitationSearch {
  if (status && status !== 'PENDING' && status !== 'EXPIRED')
    throw failure('invalid', `Unknown status ${status}: use PENDING or EXPIRED`, { form: 'error' })
  return {
    ...(search ? { contains: String(search) } : {}),
    ...(email ? { email: String(email) } : {}),
    ...(firstName ? { firstName: String(firstName) } : {}),
    ...(lastName ? { lastName: String(lastName) } : {}),
    ...(status ? { expired: { is: status === 'EXPIRED', now } } : {}),
  }
}

function toRepresentation({ now }: Context, invitation: OrganizationInvitation): Representation {
  const { id, organization, email, firstName, lastName, sentAt, expiresAt } = invitation
  return {
    id,
    organizationId: organization,
    email,
    ...(firstName !== null && { firstName }),
    ...(lastName !== null && { lastName }),
    sentDate: toEpochSeconds(sentAt),
    expiresAt: toEpochSeconds(expiresAt),
    status: expiresAt <= now ? 'EXPIRED' : 'PENDING',
  }
}

/** Keycloak: the admin event has neither names nor times. */
function describeInvitationEvent(
  context: WriteContext,
  { id, organization, email }: Pick<OrganizationInvitation, 'id' | 'organization' | 'email'>,
): void {
  const representation = { id, organizationId: organization, email, sentDate: 0, expiresAt: 0 }
  describeAdminEvent(context, { representation })
}
