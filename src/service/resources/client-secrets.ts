// What REST does with the secrets of clients.
import type { Representation } from '../../kinds/kind.ts'
import { MASK } from '../../kinds/mask.ts'
import { describeEvent } from '../admin-events.ts'
import { demand } from '../administrators.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import { demandClients } from '../privilege.ts'
import { renewed, rotatedSecret, withoutRotated } from '../secret-rotation.ts'
import { CLIENT_NOT_FOUND, refuseAdministration } from './clients.ts'
import { getObject } from './resource.ts'

/** Keycloak: CredentialRepresentation. */
interface Secret {
  readonly type: 'secret'
  readonly value?: string
}

const find = (context: Context, id: string) => getObject(context, 'client', id, CLIENT_NOT_FOUND)

/** The secret of a client; without a value where it has none. */
export async function getSecret(context: Context, id: string): Promise<Secret> {
  demand(context, 'view-clients')
  const live = await find(context, id)
  await demandClients(context, [id])
  return shown(context, live.representation.secret)
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

/** The secret that a client had before, while that is kept. Throws not_found. */
export async function getRotatedSecret(context: Context, id: string): Promise<Secret> {
  demand(context, 'view-clients')
  const { representation } = await find(context, id)
  const secret = rotatedSecret(await settingsOf(context), representation)
  if (secret === undefined) throw failure('not_found', 'Client does not have a rotated secret')
  await demandClients(context, [id])
  return shown(context, secret)
}

/** Ends the secret that a client had before, if any. */
export async function deleteRotatedSecret(context: WriteContext, id: string): Promise<void> {
  demand(context, 'manage-clients')
  const live = await find(context, id)
  refuseAdministration(context, live)
  await writers.client.update(context, [{ live, set: withoutRotated }])
  describeEvent(context, { representation: { type: 'secret', value: MASK } })
}

function shown({ vault }: Context, secret: unknown): Secret {
  return { type: 'secret', ...(typeof secret === 'string' && { value: vault.open(secret) }) }
}

async function settingsOf(context: Context): Promise<Representation> {
  const [realm] = await writers.realm.list(context, {})
  return realm!.representation
}
