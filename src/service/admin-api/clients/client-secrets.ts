// What REST does with the secrets of clients.
import type { Representation } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { renewed, rotatedSecret, withoutRotated } from '../../login/secret-rotation.ts'
import { demand, may } from '../../permissions/administrators.ts'
import { demandClients } from '../../permissions/privilege.ts'
import { getObject } from '../common/resource.ts'
import { CLIENT_NOT_FOUND, refuseAdministration } from './clients.ts'

/** Keycloak: CredentialRepresentation. */
interface Secret {
  readonly type: 'secret'
  readonly value?: string
}

const find = (context: Context, id: string) => getObject(context, 'client', id, CLIENT_NOT_FOUND)

/** The secret of a client, masked for who may only view clients; without a value where it has none. */
export async function getSecret(context: Context, id: string): Promise<Secret> {
  demand(context, 'view-clients')
  const { representation } = await find(context, id)
  return shown(context, id, representation.secret)
}

/** Gives a client a new secret. The one before counts for a while where a policy of the realm says so. */
export async function renewSecret(context: WriteContext, id: string): Promise<Secret> {
  demand(context, 'manage-clients')
  const live = await find(context, id)
  refuseAdministration(context, live)
  const set = renewed(context, await settingsOf(context), live)
  await writers.client.update(context, [{ live, set }])
  describeEvent(context, { representation: { type: 'secret', value: MASK } })
  return { type: 'secret', value: String(set.secret) }
}

/** The secret that a client had before, while that is kept, masked as the other one is. Throws not_found. */
export async function getRotatedSecret(context: Context, id: string): Promise<Secret> {
  demand(context, 'view-clients')
  const { representation } = await find(context, id)
  const secret = rotatedSecret(await settingsOf(context), representation)
  if (secret === undefined) throw failure('not_found', 'Client does not have a rotated secret')
  return shown(context, id, secret)
}

/** Ends the secret that a client had before, if any. */
export async function deleteRotatedSecret(context: WriteContext, id: string): Promise<void> {
  demand(context, 'manage-clients')
  const live = await find(context, id)
  refuseAdministration(context, live)
  await writers.client.update(context, [{ live, set: withoutRotated }])
  describeEvent(context, { representation: { type: 'secret', value: MASK } })
}

/** A secret as the caller may read it. Throws forbidden where the client is stronger than the caller. One statement, or none. */
async function shown(context: Context, id: string, secret: unknown): Promise<Secret> {
  if (typeof secret !== 'string') return { type: 'secret' }
  await demandClients(context, [id])
  return { type: 'secret', value: may(context, 'manage-clients') ? context.vault.open(secret) : MASK }
}

async function settingsOf(context: Context): Promise<Representation> {
  const [realm] = await writers.realm.list(context, {})
  return realm!.representation
}
