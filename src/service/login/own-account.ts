// Changes that users make to their own account on the login pages, and the invitations that they accept there.
import { randomUUID } from 'node:crypto'
import { type FlatFields, lowerCaseTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readTexts } from '../../kinds/json.ts'
import { updateVersions } from '../../store/objects.ts'
import { deleteInvitation, findInvitation, type OrganizationInvitation } from '../../store/organization-invitations.ts'
import { insertCredentials, selectCredentials } from '../../store/users/credentials.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { recordEntry } from '../journal/journal.ts'
import { writers } from '../kinds/index.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'

export type { OrganizationInvitation }

/**
 * Changes fields of the account with an id, and removes completed required actions. A new email address is unverified.
 *
 * @throws not_found where there is no such user, conflict where the username or the email address is taken.
 */
export async function updateOwnAccount(
  context: WriteContext,
  id: string,
  { set, completedActions = [] }: { readonly set: FlatFields; readonly completedActions?: readonly string[] },
): Promise<LiveObject> {
  const live = await getUser(context, id)
  const requiredActions = readTexts(live.representation.requiredActions).filter(
    (action) => !completedActions.includes(action),
  )
  const folded = lowerCaseTexts(kinds.user, set)
  const hasNewEmail = 'email' in folded && folded.email !== (live.representation.email ?? null)
  const fields = { ...folded, requiredActions, ...(hasNewEmail && { emailVerified: false }) }
  const [updated] = await writers.user.update(context, [{ live, set: fields }])
  return updated!
}

/** Adds a credential to an account, after the existing ones, and returns its id. */
export async function addOwnCredential(
  context: WriteContext,
  id: string,
  { type, secretData, credentialData, userLabel }: Representation,
): Promise<string> {
  const { tx, realm, now, vault, version } = context
  const live = await getUser(context, id)
  const existing = await selectCredentials(tx, realm.number, [id])
  const body = {
    secretData: vault.seal(String(secretData)),
    credentialData: String(credentialData),
    ...(userLabel !== undefined && { userLabel }),
  }
  const position = Math.max(0, ...existing.map((credential) => credential.position)) + 10
  const row = { id: randomUUID(), user_account: id, type: String(type), position, created_at: now.toISOString(), body }
  await insertCredentials(tx, realm.number, [row])
  await updateVersions(tx, realm.number, { kind: 'user', version, ids: [id] })
  recordEntry(context, { operation: 'update', kind: 'user', object: live, fields: { credentials: null } })
  return row.id
}

async function getUser(context: WriteContext, id: string): Promise<LiveObject> {
  const [live] = await listObjects(context, 'user', { ids: [id] })
  if (!live) throw failure('not_found', 'User not found')
  return live
}

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
