// Rotation of client secrets: where a client policy demands it, secrets expire, and the previous secret stays valid for a
// while after a renewal. Keycloak: the executor secret-rotation, and the client attributes in which it stores its state.
import { type Json, type Representation, readTextMap } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { listExecutors } from '../client-policies/list-executors.ts'
import { generateClientSecret } from '../clients/clients.ts'
import type { WriteContext } from '../context/context.ts'
import { writers } from '../kinds/index.ts'
import { findLiveRealm, type LiveObject } from '../objects/live-objects.ts'

const EXECUTOR = 'secret-rotation'
const CREATED = 'client.secret.creation.time'
const EXPIRES = 'client.secret.expiration.time'
const ROTATED = 'client.secret.rotated'
const ROTATED_CREATED = 'client.secret.rotated.creation.time'
const ROTATED_EXPIRES = 'client.secret.rotated.expiration.time'

/** The periods of a secret rotation, in seconds. */
export interface SecretRotation {
  readonly lifespan: number
  /** The time for which the previous secret stays valid after a renewal; 0: none. */
  readonly gracePeriod: number
}

/** Keycloak: the defaults of the executor's configuration. */
const DEFAULTS: SecretRotation = { lifespan: 2_505_600, gracePeriod: 172_800 }

/** Returns the rotation that the realm's client policies demand for a client; undefined if none do. */
export function findSecretRotation(realm: Representation, client: Representation): SecretRotation | undefined {
  if (client.publicClient === true || client.bearerOnly === true) return undefined
  const event = { name: 'secret rotation', client } as const
  const executor = listExecutors(realm, event, { undecided: 'not met' }).find((entry) => entry.executor === EXECUTOR)
  if (!executor) return undefined
  const { configuration } = executor
  const seconds = (name: string, defaultValue: number) => Number(configuration[name] ?? defaultValue)
  return {
    lifespan: seconds('expiration-period', DEFAULTS.lifespan),
    gracePeriod: seconds('rotated-expiration-period', DEFAULTS.gracePeriod),
  }
}

/** Lists the secrets that a client may use at a time, encrypted: the current one, and the previous one in its grace period. */
export function listValidSecrets(realm: Representation, client: Representation, now: Date): string[] {
  const { secret } = client
  const attributes = readTextMap(client.attributes)
  const expires = Number(attributes[EXPIRES] || 0)
  if (typeof secret !== 'string' || (expires > 0 && expires < toEpochSeconds(now))) return []
  const rotated = findRotatedSecret(realm, client)
  return rotated !== undefined && Number(attributes[ROTATED_EXPIRES] || 0) >= toEpochSeconds(now)
    ? [secret, rotated]
    : [secret]
}

/** Returns the previous secret of a client, encrypted; undefined if there is none or no policy demands rotation. */
export function findRotatedSecret(realm: Representation, client: Representation): string | undefined {
  return findSecretRotation(realm, client) && readTextMap(client.attributes)[ROTATED]
}

/** Returns the fields to set on a client to give it a new secret and to keep the current one for its grace period. */
export function rotateSecret(context: WriteContext, realm: Representation, { representation }: LiveObject): Fields {
  const { secret, attributes } = generateClientSecret(context, {})
  const created = attributes[CREATED]!
  const rotation = findSecretRotation(realm, representation)
  const fields = { secret, [`attributes.${CREATED}`]: created }
  if (!rotation) return fields
  const previous = representation.secret
  const keepsPrevious = rotation.gracePeriod > 0 && typeof previous === 'string'
  const after = (seconds: number) => String(toEpochSeconds(context.now) + seconds)
  return {
    ...fields,
    [`attributes.${EXPIRES}`]: after(rotation.lifespan),
    ...(keepsPrevious
      ? {
          [`attributes.${ROTATED}`]: context.vault.open(previous),
          [`attributes.${ROTATED_CREATED}`]: created,
          [`attributes.${ROTATED_EXPIRES}`]: after(rotation.gracePeriod),
        }
      : clearedRotatedSecret),
  }
}

/** The fields to set on a client to remove its previous secret. */
export const clearedRotatedSecret: Fields = {
  [`attributes.${ROTATED}`]: null,
  [`attributes.${ROTATED_CREATED}`]: null,
  [`attributes.${ROTATED_EXPIRES}`]: null,
}

/** Sets an expiration on the secrets of listed clients whose policies demand rotation, and renews those that have expired. */
export async function applySecretRotation(
  context: WriteContext,
  listClients: () => Promise<readonly LiveObject[]>,
): Promise<void> {
  if (!context.realm.hasClientPolicies) return
  const realm = (await findLiveRealm(context))!.representation
  const clients = await listClients()
  const updates = clients.flatMap((client) => {
    const rotation = findSecretRotation(realm, client.representation)
    const expires = Number(readTextMap(client.representation.attributes)[EXPIRES] || 0)
    if (!rotation || expires >= toEpochSeconds(context.now)) return []
    const expiration = { [`attributes.${EXPIRES}`]: String(toEpochSeconds(context.now) + rotation.lifespan) }
    return [{ live: client, set: expires ? rotateSecret(context, realm, client) : expiration }]
  })
  if (updates.length) await writers.client.update(context, updates)
}

type Fields = Readonly<Record<string, Json>>
