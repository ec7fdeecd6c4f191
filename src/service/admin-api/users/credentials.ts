// The credentials of a user: what is known of them, their order, and a new password.
import type { Representation } from '../../../kinds/json.ts'
import { updateVersions } from '../../../store/objects.ts'
import {
  deleteCredentialsById,
  labelCredential,
  reorderCredentials,
  type StoredCredential,
  selectCredentials,
} from '../../../store/users/credentials.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { recordEntry } from '../../journal/journal.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { requireControlOfUsers } from '../../permissions/privilege-escalation.ts'
import { createUserPasswordHasher, assignPriorities, UPDATE_PASSWORD } from '../../users/credentials.ts'
import type { PasswordHasher } from '../../users/password-policy-checks.ts'
import { findUser, refuseServiceAccount } from './users.ts'

const MANAGE = 'manage-users'

/** The credentials of a user, in their order, without what is secret of them. */
export async function listCredentials(context: Context, user: string): Promise<Representation[]> {
  const live = await findUser(context, user)
  requirePermissions(context, 'view-users')
  return (await credentialsOf(context, live)).map(({ id, type, createdAt, body: { userLabel, credentialData } }) => ({
    id,
    type,
    ...(userLabel !== undefined && { userLabel }),
    createdDate: createdAt.getTime(),
    credentialData: credentialData!,
  }))
}

/**
 * What makes the password that the body gives a user. Throws not_found or forbidden unless the caller may give them one,
 * malformed where the body has none.
 */
export async function passwordsFor(context: Context, user: string, { value }: Representation): Promise<PasswordHasher> {
  const live = await findUser(context, user)
  requirePermissions(context, MANAGE)
  refuseServiceAccount(live)
  if (value == null) throw failure('invalid', 'No password provided', { form: 'error' })
  if (String(value).trim() === '') throw failure('invalid', 'Empty password not allowed', { form: 'error' })
  return createUserPasswordHasher(context, live)
}

/** Gives a user the password, which is hashed already. One that lasts takes away the duty to choose another. */
export async function resetPassword(context: WriteContext, user: string, prepared: Representation): Promise<void> {
  const live = await findUser(context, user)
  requirePermissions(context, MANAGE)
  const actions = (live.representation.requiredActions ?? []) as string[]
  const lasting = prepared.temporary !== true && actions.includes(UPDATE_PASSWORD)
  const requiredActions = actions.filter((one) => one !== UPDATE_PASSWORD)
  const credentials = await assignPriorities(context, user, [prepared])
  await writers.user.update(context, [{ live, set: { credentials, ...(lasting && { requiredActions }) } }])
}

/** Takes a credential from a user. */
export async function removeCredential(context: WriteContext, user: string, id: string): Promise<void> {
  const { live, credential } = await findCredential(context, user, id)
  // What is left is easier to get past.
  await requireControlOfUsers(context, [user])
  await deleteCredentialsById(context.tx, context.realm.number, [id])
  const { userLabel } = credential.body
  await changed(context, live)
  describeAdminEvent(context, {
    details: {
      ...(userLabel !== undefined && { credential_user_label: String(userLabel) }),
      credential_type: credential.type,
      credential_id: id,
    },
  })
}

/** Takes the one-time codes from a user. */
export async function removeOneTimeCodes(context: WriteContext, user: string): Promise<void> {
  const live = await findUser(context, user)
  requirePermissions(context, MANAGE)
  const codes = (await credentialsOf(context, live)).filter(({ type }) => type === 'otp').map(({ id }) => id)
  if (!codes.length) return
  await requireControlOfUsers(context, [user])
  await deleteCredentialsById(context.tx, context.realm.number, codes)
  await changed(context, live)
}

/** Calls a credential of a user otherwise. */
export async function setLabel(context: WriteContext, user: string, id: string, label: string): Promise<void> {
  const { live } = await findCredential(context, user, id)
  await labelCredential(context.tx, context.realm.number, { id, label })
  await changed(context, live)
}

/** Puts a credential of a user behind another one, or first. Keycloak: behind one that is not there nothing is put. */
export async function moveCredential(context: WriteContext, user: string, id: string, after?: string): Promise<void> {
  const { live, credential, all } = await findCredential(context, user, id)
  const others = all.filter((one) => one !== credential)
  const at = after === undefined ? 0 : others.findIndex((one) => one.id === after) + 1
  if (after !== undefined && at === 0) return
  const order = [...others.slice(0, at), credential, ...others.slice(at)]
  await reorderCredentials(
    context.tx,
    context.realm.number,
    order.map(({ id }, index) => ({ id, position: (index + 1) * 10 })),
  )
  await changed(context, live)
}

async function findCredential(
  context: Context,
  user: string,
  id: string,
): Promise<{ live: LiveObject; credential: StoredCredential; all: readonly StoredCredential[] }> {
  const live = await findUser(context, user)
  requirePermissions(context, MANAGE)
  const all = await credentialsOf(context, live)
  const credential = all.find((one) => one.id === id)
  if (!credential) throw failure('not_found', 'Credential not found')
  return { live, credential, all }
}

function credentialsOf({ tx, realm }: Context, { id }: LiveObject): Promise<StoredCredential[]> {
  return selectCredentials(tx, realm.number, [id])
}

/** Notes that the credentials of a user are others now: what they were is a secret. */
async function changed(context: WriteContext, live: LiveObject): Promise<void> {
  await updateVersions(context.tx, context.realm.number, { kind: 'user', version: context.version, ids: [live.id] })
  recordEntry(context, { operation: 'update', kind: 'user', object: live, fields: { credentials: null } })
}
