// The operations on invitations to organizations.
import * as z from 'zod'
import { namedSchemas } from '../../kinds/json-schema.ts'
import {
  checkInvitationAccess,
  getInvitation,
  type InvitingOrganization,
  inviteExistingUser,
  inviteUser,
  listInvitations,
  removeInvitation,
  resendInvitation,
} from '../../service/admin-api/organizations/organization-invitations.ts'
import type { BodyForm } from '../body.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, readBodyAfter, tagged } from '../operation.ts'
import { page } from '../query.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { withDelivery } from './emails.ts'

const ONE = '/admin/realms/{realm}/organizations/{org-id}'
const manage = 'manage-organizations'

const organization = (call: Call) => getParameter(call, 'org-id')
const invitation = (call: Call) => getParameter(call, 'invitation-id')
const inviting = (call: Call): InvitingOrganization => ({ organization: organization(call), base: call.base })
const event = { type: 'ORGANIZATION_MEMBERSHIP', operation: 'ACTION' } as const

const statusSchema = z.enum(['PENDING', 'EXPIRED']).register(namedSchemas, { id: 'Status' })

const invitationSchema = z
  .object({
    id: z.string().describe('Id of the invitation.'),
    organizationId: z.string().describe('Id of the organization.'),
    email: z.string().describe('Email address that the invitation was sent to.'),
    firstName: z.string().optional().describe('First name of the invited user.'),
    lastName: z.string().optional().describe('Last name of the invited user.'),
    sentDate: z.int().describe('Time at which the invitation was sent, in seconds since 1970.'),
    expiresAt: z.int().describe('Time at which the link expires, in seconds since 1970.'),
    status: statusSchema.describe('Whether the link has expired.'),
  })
  .describe('An invitation to an organization that was not accepted yet.')
  .register(namedSchemas, { id: 'OrganizationInvitationRepresentation' })

const invitationQuery = z.object({
  status: z.string().optional().describe('Only invitations with this status: PENDING or EXPIRED.'),
  email: z.string().optional().describe('Email address, in any case.'),
  firstName: z.string().optional().describe('First name, in any case.'),
  lastName: z.string().optional().describe('Last name, in any case.'),
  search: z.string().optional().describe('Part of the email address, first name or last name, in any case.'),
  ...page,
})

const invitedUser = z.object({
  email: z.string().optional().describe('Email address to send the invitation to. It is required.'),
  firstName: z.string().optional().describe('First name, which the registration form proposes.'),
  lastName: z.string().optional().describe('Last name, which the registration form proposes.'),
})
const existingUser = z.object({ id: z.string().optional().describe('Id of the user. It is required.') })
const toForm = (schema: z.ZodType): BodyForm => ({ schema, description: 'The user to invite.', isForm: true })

/** The operations on invitations to organizations. */
export const organizationInvitationOperations: Operation[] = tagged('Organizations', [
  {
    operationId: 'inviteUser',
    method: 'POST',
    path: `${ONE}/members/invite-user`,
    summary: 'Invite a user to an organization by email address',
    description: 'A user who does not exist yet registers by the link of the email.',
    permission: manage,
    event,
    body: toForm(invitedUser),
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: withDelivery(
      writeHandler(async (context, call) => {
        const body = await readBodyAfter(call, () => checkInvitationAccess(context, organization(call)))
        await inviteUser(context, inviting(call), invitedUser.parse(body))
      }),
    ),
  },
  {
    operationId: 'inviteExistingUser',
    method: 'POST',
    path: `${ONE}/members/invite-existing-user`,
    summary: 'Invite an existing user to an organization',
    permission: [manage, 'list-users'],
    event,
    body: toForm(existingUser),
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: withDelivery(
      writeHandler(async (context, call) => {
        const body = await readBodyAfter(call, () => checkInvitationAccess(context, organization(call)))
        await inviteExistingUser(context, inviting(call), existingUser.parse(body).id)
      }),
    ),
  },
  {
    operationId: 'listOrganizationInvitations',
    method: 'GET',
    path: `${ONE}/invitations`,
    summary: 'List the invitations to an organization',
    permission: manage,
    query: invitationQuery,
    responses: { 200: { description: 'The invitations.', schema: z.array(invitationSchema) }, ...errorResponses },
    handle: readHandler((context, call) => listInvitations(context, organization(call), call.query)),
  },
  {
    operationId: 'getOrganizationInvitation',
    method: 'GET',
    path: `${ONE}/invitations/{invitation-id}`,
    summary: 'Get an invitation to an organization',
    permission: manage,
    responses: { 200: { description: 'The invitation.', schema: invitationSchema }, ...errorResponses },
    handle: readHandler((context, call) => getInvitation(context, organization(call), invitation(call))),
  },
  {
    operationId: 'resendOrganizationInvitation',
    method: 'POST',
    path: `${ONE}/invitations/{invitation-id}/resend`,
    summary: 'Replace an invitation to an organization, and send it again',
    permission: manage,
    event,
    responses: { ...noContentResponse, ...errorResponses },
    handle: withDelivery(writeHandler((context, call) => resendInvitation(context, inviting(call), invitation(call)))),
  },
  {
    operationId: 'deleteOrganizationInvitation',
    method: 'DELETE',
    path: `${ONE}/invitations/{invitation-id}`,
    summary: 'Delete an invitation to an organization',
    permission: manage,
    event: 'ORGANIZATION_MEMBERSHIP',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => removeInvitation(context, organization(call), invitation(call))),
  },
])
