// Checks of invitations to organizations that are about to be accepted.
import type { Context, WriteContext } from '../../../service/context/context.ts'
import {
  consumeInvitation,
  findOrganization,
  findPendingInvitation,
  type OrganizationInvitation,
} from '../../../service/login/own-account.ts'
import type { LiveObject } from '../../../service/objects/live-objects.ts'
import { type Login, readRealm } from '../login.ts'
import { LoginError } from '../login-error.ts'

/** An invitation with its organization. */
export interface OpenInvitation {
  readonly invitation: OrganizationInvitation
  readonly organization: LiveObject
}

/** Returns the invitation that a registration accepts; undefined if there is none. Throws LoginError if it is not valid any more. */
export async function getLoginInvitation(login: Login): Promise<OpenInvitation | undefined> {
  const { invitation } = login.state.notes
  return invitation && readRealm(login, (context) => getOpenInvitation(context, { jti: invitation.id }))
}

/** Returns an invitation that can be accepted now, with its organization. Throws LoginError. A few statements. */
export async function getOpenInvitation(
  context: Context,
  { jti, org_id }: { readonly jti: string; readonly org_id?: string },
): Promise<OpenInvitation> {
  const invitation = await findPendingInvitation(context, jti)
  const organization = await getOpenOrganization(context, org_id ?? invitation?.organization ?? '')
  if (invitation?.organization !== organization.id) throw createStaleError('invalid_token')
  return { invitation, organization }
}

/** Uses up an invitation. Throws LoginError if it was used or deleted meanwhile. One statement. */
export async function useInvitation(context: WriteContext, id: string): Promise<void> {
  if (!(await consumeInvitation(context, id))) throw createStaleError('invalid_token')
}

/** Returns the organization with an id, which users can join. Throws LoginError. A few statements. */
export async function getOpenOrganization(context: Context, id: string): Promise<LiveObject> {
  const organization = await findOrganization(context, id)
  if (!organization) throw createStaleError('org_not_found')
  if (organization.representation.enabled === false) throw new LoginError('orgDisabledMessage', 'org_disabled')
  return organization
}

/** Creates the error of a link whose invitation cannot be accepted any more. */
export const createStaleError = (error: string): LoginError => new LoginError('staleInviteOrgLink', error)
