// The REST operations on the credentials of a user.

import { type Representation, readTexts } from '../../../kinds/json.ts'
import { updateVersions } from '../../../store/objects.ts'
import {
  deleteCredentialsById,
  labelCredential,
  reorderCredentials,
  type StoredCredential,
  selectCredentials,
} from '../../../store/users/credentials.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { recordEntry } from '../../journal/journal.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requireControlOfUsers } from '../../permissions/privilege-escalation.ts'
import {
  assignPriorities,
  createUserPasswordHasher,
  requireDistinctLabels,
  UPDATE_PASSWORD,
} from '../../users/credentials.ts'
import type { PasswordHasher } from '../../users/password-policy-checks.ts'
import { getLiveUser, getManageableUser, getViewableUser, refuseServiceAccount } from './users.ts'

/** The ids in the URL of a credential: of the user, and of the credential. */
export interface CredentialAddress {
  readonly user: string
  readonly id: string
}

/** Lists the credentials of a user in their order, without their secrets. */
export async function listCredentials(context: Context, user: string): Promise<Representation[]> {
  const live = await getViewableUser(context, user)
  const credentials = await listLiveCredentials(context, live)
  const listed = credentials.map(({ id, type, createdAt, body: { userLabel, credentialData } }) => ({
    id,
    type,
    ...(userLabel !== undefined && { userLabel }),
    createdDate: createdAt.getTime(),
    credentialData: credentialData!,
  }))
  const { federationLink } = live.representation
  // Keycloak: the password of a user of a directory has no time of creation.
  return federationLink === undefined ? listed : [...listed, { type: 'password', createdDate: -1, federationLink }]
}

/**
 * Creates the hasher for the password in a body.
 *
 * @throws not_found, or forbidden unless the caller may set the password of the user; invalid if the body has no password.
 */
export async function createPasswordResetHasher(
  context: Context,
  user: string,
  { value }: Representation,
): Promise<PasswordHasher> {
  const live = await getLiveUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'reset-password', objects: [live] })
  refuseServiceAccount(live)
  if (value == null) throw failure('invalid', 'No password provided', { form: 'error' })
  if (String(value).trim() === '') throw failure('invalid', 'Empty password not allowed', { form: 'error' })
  return createUserPasswordHasher(context, live)
}

/** Sets the password of a user, which is hashed already. Unless it is temporary, the user need not change it any longer. */
export async function resetPassword(context: WriteContext, user: string, credential: Representation): Promise<void> {
  const live = await getLiveUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'reset-password', objects: [live] })
  const actions = readTexts(live.representation.requiredActions)
  const isActionDone = credential.temporary !== true && actions.includes(UPDATE_PASSWORD)
  const requiredActions = actions.filter((action) => action !== UPDATE_PASSWORD)
  const credentials = await assignPriorities(context, user, [credential])
  await writers.user.update(context, [{ live, set: { credentials, ...(isActionDone && { requiredActions }) } }])
}

/** Deletes a credential of a user. */
export async function deleteCredential(context: WriteContext, { user, id }: CredentialAddress): Promise<void> {
  const { live, credential } = await getCredential(context, { user, id })
  // Deleting a credential may weaken the authentication of the user.
  await requireControlOfUsers(context, [user])
  await deleteCredentialsById(context.tx, context.realm.number, [id])
  const { userLabel } = credential.body
  await recordCredentialChange(context, live)
  describeAdminEvent(context, {
    details: {
      ...(userLabel !== undefined && { credential_user_label: String(userLabel) }),
      credential_type: credential.type,
      credential_id: id,
    },
  })
}

/** Deletes the one-time password credentials of a user. */
export async function deleteOneTimeCodes(context: WriteContext, user: string): Promise<void> {
  const live = await getManageableUser(context, user)
  const credentials = await listLiveCredentials(context, live)
  const ids = credentials.filter(({ type }) => type === 'otp').map(({ id }) => id)
  if (!ids.length) return
  await requireControlOfUsers(context, [user])
  await deleteCredentialsById(context.tx, context.realm.number, ids)
  await recordCredentialChange(context, live)
}

/** Sets the label of a credential of a user. */
export async function setCredentialLabel(
  context: WriteContext,
  address: CredentialAddress,
  label: string,
): Promise<void> {
  const { live, credential, credentials } = await getCredential(context, address)
  const remaining = credentials.filter((other) => other !== credential)
  const labelled = { type: credential.type, userLabel: label }
  requireDistinctLabels([...remaining.map(({ type, body }) => ({ ...body, type })), labelled])
  await labelCredential(context.tx, context.realm.number, { id: address.id, label })
  await recordCredentialChange(context, live)
}

/** Moves a credential of a user after another one; without one to the first position. Keycloak: an unknown one is ignored. */
export async function moveCredential(
  context: WriteContext,
  address: CredentialAddress,
  previousId?: string,
): Promise<void> {
  const { live, credential, credentials } = await getCredential(context, address)
  const rest = credentials.filter((other) => other !== credential)
  const position = previousId === undefined ? 0 : rest.findIndex(({ id }) => id === previousId) + 1
  if (previousId !== undefined && position === 0) return
  const reordered = rest.toSpliced(position, 0, credential)
  await reorderCredentials(
    context.tx,
    context.realm.number,
    reordered.map(({ id }, index) => ({ id, position: (index + 1) * 10 })),
  )
  await recordCredentialChange(context, live)
}

/** A credential, its user, and all credentials of the user. */
interface LiveCredential {
  readonly live: LiveObject
  readonly credential: StoredCredential
  readonly credentials: readonly StoredCredential[]
}

async function getCredential(context: Context, { user, id }: CredentialAddress): Promise<LiveCredential> {
  const live = await getManageableUser(context, user)
  const credentials = await listLiveCredentials(context, live)
  const credential = credentials.find((candidate) => candidate.id === id)
  if (!credential) throw failure('not_found', 'Credential not found')
  return { live, credential, credentials }
}

function listLiveCredentials({ tx, realm }: Context, { id }: LiveObject): Promise<StoredCredential[]> {
  return selectCredentials(tx, realm.number, [id])
}

/** Records in the journal that the credentials of a user changed, without values: they are secret. */
async function recordCredentialChange(context: WriteContext, live: LiveObject): Promise<void> {
  await updateVersions(context.tx, context.realm.number, { kind: 'user', version: context.version, ids: [live.id] })
  recordEntry(context, { operation: 'update', kind: 'user', object: live, fields: { credentials: null } })
}
