// The REST operations on the secrets of clients.

import { MASK } from '../../../kinds/mask.ts'
import { hasObjectPermission, requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { clearedRotatedSecret, findRotatedSecret, rotateSecret } from '../../login/secret-rotation.ts'
import { requireControlOfClients } from '../../permissions/privilege-escalation.ts'
import { getClient, refuseAdminClient } from '../common/client-lookup.ts'
import { getCurrentRealm } from '../common/current-realm.ts'

/** Keycloak: CredentialRepresentation. */
interface SecretRepresentation {
  readonly type: 'secret'
  readonly value?: string
}

/** Returns the secret of a client, masked for callers who may only view clients; without a value if it has none. */
export async function getSecret(context: Context, id: string): Promise<SecretRepresentation> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [{ id }] })
  const { representation } = await getClient(context, id)
  return toSecret(context, id, representation.secret)
}

/** Regenerates the secret of a client. The previous one stays valid for a while if a client policy of the realm rotates secrets. */
export async function regenerateSecret(context: WriteContext, id: string): Promise<SecretRepresentation> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'configure', objects: [{ id }] })
  const live = await getClient(context, id)
  refuseAdminClient(context, live)
  const { representation: realm } = await getCurrentRealm(context)
  const set = rotateSecret(context, realm, live)
  await writers.client.update(context, [{ live, set }])
  describeAdminEvent(context, { representation: { type: 'secret', value: MASK } })
  return { type: 'secret', value: String(set.secret) }
}

/** Returns the previous secret of a client, masked for callers who may only view clients. Throws not_found if it has none. */
export async function getRotatedSecret(context: Context, id: string): Promise<SecretRepresentation> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [{ id }] })
  const { representation } = await getClient(context, id)
  const { representation: realm } = await getCurrentRealm(context)
  const secret = findRotatedSecret(realm, representation)
  if (secret === undefined) throw failure('not_found', 'Client does not have a rotated secret')
  return toSecret(context, id, secret)
}

/** Deletes the previous secret of a client, if any. */
export async function deleteRotatedSecret(context: WriteContext, id: string): Promise<void> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'configure', objects: [{ id }] })
  const live = await getClient(context, id)
  refuseAdminClient(context, live)
  await writers.client.update(context, [{ live, set: clearedRotatedSecret }])
  describeAdminEvent(context, { representation: { type: 'secret', value: MASK } })
}

/** Throws forbidden if the service account of the client has more admin permissions than the caller. One statement, or none. */
async function toSecret(context: Context, id: string, secret: unknown): Promise<SecretRepresentation> {
  if (typeof secret !== 'string') return { type: 'secret' }
  await requireControlOfClients(context, [id])
  const canConfigure = await hasObjectPermission(context, { type: 'Clients', scope: 'configure', objects: [{ id }] })
  return { type: 'secret', value: canConfigure ? context.vault.open(secret) : MASK }
}
