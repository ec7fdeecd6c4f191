// Secrets of clients that end after a time, and count for a while after they were renewed: where a client policy says so.
// Keycloak: the executor secret-rotation, and the attributes in which it keeps what it knows.
import type { Json, Representation } from '../../kinds/json.ts'
import { secondsOf } from '../../lib/seconds.ts'
import { freshSecret } from '../clients/clients.ts'
import type { WriteContext } from '../context/context.ts'
import { writers } from '../kinds/index.ts'
import { type LiveObject, listObjects } from '../objects/live.ts'

const EXECUTOR = 'secret-rotation'
const CREATED = 'client.secret.creation.time'
const ENDS = 'client.secret.expiration.time'
const ROTATED = 'client.secret.rotated'
const ROTATED_CREATED = 'client.secret.rotated.creation.time'
const ROTATED_ENDS = 'client.secret.rotated.expiration.time'

/** How long secrets count, in seconds. */
export interface Rotation {
  readonly lifespan: number
  /** After a new one was made; 0: not at all. */
  readonly afterwards: number
}

/** Keycloak: what holds where the executor's settings say nothing. */
const USUAL: Rotation = { lifespan: 2_505_600, afterwards: 172_800 }

/** How the realm's policies have the secret of a client rotate; undefined: they do not. Pure. */
export function rotationOf(realm: Representation, client: Representation): Rotation | undefined {
  if (client.publicClient === true || client.bearerOnly === true) return undefined
  const named = new Set(
    listOf(realm.clientPolicies)
      .filter(({ enabled, conditions }) => enabled === true && isAbout(listOf(conditions), client))
      .flatMap(({ profiles }) => (profiles ?? []) as string[]),
  )
  const demanded = listOf(realm.clientProfiles)
    .filter(({ name }) => named.has(String(name)))
    .flatMap(({ executors }) => listOf(executors))
    .find(({ executor }) => executor === EXECUTOR)
  if (!demanded) return undefined
  const settings = (demanded.configuration ?? {}) as Representation
  const seconds = (name: string, usual: number) => Number(settings[name] ?? usual)
  return {
    lifespan: seconds('expiration-period', USUAL.lifespan),
    afterwards: seconds('rotated-expiration-period', USUAL.afterwards),
  }
}

/** The secrets that a client may use at that time, sealed: its own, and the one from before for as long as that counts. Pure. */
export function countingSecrets(realm: Representation, client: Representation, now: Date): string[] {
  const { secret } = client
  const attributes = attributesOf(client)
  const ends = Number(attributes[ENDS] || 0)
  if (typeof secret !== 'string' || (ends > 0 && ends < secondsOf(now))) return []
  const rotated = rotatedSecret(realm, client)
  return rotated !== undefined && Number(attributes[ROTATED_ENDS] || 0) >= secondsOf(now) ? [secret, rotated] : [secret]
}

/** The secret that the client had before, sealed; undefined where none is kept, or its secrets do not rotate. Pure. */
export function rotatedSecret(realm: Representation, client: Representation): string | undefined {
  return rotationOf(realm, client) && attributesOf(client)[ROTATED]
}

/** The fields of a client with a new secret, and what is kept of the one that it has. Pure but for the secret. */
export function renewed(context: WriteContext, realm: Representation, { representation }: LiveObject): Fields {
  const { secret, attributes } = freshSecret(context, {})
  const created = (attributes as Representation)[CREATED]!
  const rotation = rotationOf(realm, representation)
  const fields = { secret: secret!, [`attributes.${CREATED}`]: created }
  if (!rotation) return fields
  const before = representation.secret
  const keeps = rotation.afterwards > 0 && typeof before === 'string'
  const after = (period: number) => String(secondsOf(context.now) + period)
  return {
    ...fields,
    [`attributes.${ENDS}`]: after(rotation.lifespan),
    ...(keeps
      ? {
          [`attributes.${ROTATED}`]: context.vault.open(before),
          [`attributes.${ROTATED_CREATED}`]: created,
          [`attributes.${ROTATED_ENDS}`]: after(rotation.afterwards),
        }
      : withoutRotated),
  }
}

/** What a client forgets with the secret that it had before. */
export const withoutRotated: Fields = {
  [`attributes.${ROTATED}`]: null,
  [`attributes.${ROTATED_CREATED}`]: null,
  [`attributes.${ROTATED_ENDS}`]: null,
}

/** Lets secrets of clients that were just written end when policies of the realm say so, and renews those that are over. */
export async function followRotation(context: WriteContext, written: readonly LiveObject[]): Promise<void> {
  const [live] = await listObjects(context, 'realm', {})
  const realm = live!.representation
  const updates = written.flatMap((client) => {
    const rotation = rotationOf(realm, client.representation)
    const ends = Number(attributesOf(client.representation)[ENDS] || 0)
    if (!rotation || ends >= secondsOf(context.now)) return []
    const first = { [`attributes.${ENDS}`]: String(secondsOf(context.now) + rotation.lifespan) }
    return [{ live: client, set: ends ? renewed(context, realm, client) : first }]
  })
  if (updates.length) await writers.client.update(context, updates)
}

type Fields = Readonly<Record<string, Json>>

/** Whether a policy is about the client: all of its conditions hold. One that only a request can tell does not. */
function isAbout(conditions: readonly Representation[], client: Representation): boolean {
  return conditions.length > 0 && conditions.every((one) => holds(one, client))
}

function holds({ condition, configuration }: Representation, client: Representation): boolean {
  const settings = (configuration ?? {}) as Representation
  const known = condition === 'any-client' || condition === 'client-access-type'
  const fits = condition === 'any-client' || ((settings.type ?? []) as string[]).includes(accessTypeOf(client))
  return known && fits !== (String(settings['is-negative-logic'] ?? false) === 'true')
}

function accessTypeOf({ publicClient, bearerOnly }: Representation): string {
  if (publicClient === true) return 'public'
  return bearerOnly === true ? 'bearer-only' : 'confidential'
}

const listOf = (value: Json | undefined) => (value ?? []) as Representation[]
const attributesOf = ({ attributes }: Representation) => (attributes ?? {}) as Record<string, string>
