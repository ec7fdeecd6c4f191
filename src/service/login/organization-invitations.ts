// Invitations to organizations that users accept on the login pages.
import { deleteInvitation, findInvitation, type OrganizationInvitation } from '../../store/organization-invitations.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { writers } from '../kinds/index.ts'
import type { LiveObject } from '../objects/live-objects.ts'

export type { OrganizationInvitation }

/** Returns an invitation that has not expired; undefined if there is none with the id. One statement. */
export async function findPendingInvitation(
  { tx, realm, now }: Context,
  id: string,
): Promise<OrganizationInvitation | undefined> {
  const invitation = await findInvitation(tx, realm.number, id)
  return invitation && invitation.expiresAt > now ? invitation : undefined
}

/** Returns the organization with an id; undefined if it does not exist, or if the realm has no organizations. A few statements. */
export async function findOrganization(context: Context, id: string): Promise<LiveObject | undefined> {
  const [realm] = await writers.realm.list(context, {})
  if (realm?.representation.organizationsEnabled !== true) return undefined
  return (await writers.organization.list(context, { ids: [id] }))[0]
}

/** Uses up an invitation. Returns whether it existed; of concurrent uses exactly one returns true. One statement. */
export function consumeInvitation({ tx, realm }: WriteContext, id: string): Promise<boolean> {
  return deleteInvitation(tx, realm.number, id)
}
