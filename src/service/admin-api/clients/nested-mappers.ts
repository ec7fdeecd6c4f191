// Protocol mappers as they stand in the bodies of clients and client scopes.
import type { Representation } from '../../../kinds/json.ts'
import { nestedMapperConfig } from '../../../kinds/mapper-types.ts'
import type { WriteContext } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { newObject, parentOf } from '../common/resource.ts'

/** A protocol mapper as it stands in the body of a new client or client scope. */
export function nestedMapper(mapper: Representation): Representation {
  return { ...mapper, config: nestedMapperConfig((mapper.config ?? {}) as Record<string, string>) }
}

/**
 * Makes the protocol mappers of an owner those that its body states, by protocol and name. Keycloak: an update of a
 * client does so, and one of a client scope does not; only what is new gets settings beside those that are stated.
 */
export async function replaceMappers(
  context: WriteContext,
  owner: LiveObject,
  bodies: readonly Representation[],
): Promise<void> {
  const parent = parentOf(owner)
  const live = await writers.protocolMapper.list(context, { parents: { kind: owner.kind, ids: [owner.id] } })
  const nameOf = ({ protocol, name }: Representation) => JSON.stringify([protocol, name])
  const kept = new Map(live.map((one) => [nameOf(one.representation), one]))
  const stated = bodies.map((body) => ({ body: { config: {}, ...withoutNulls(body) }, live: kept.get(nameOf(body)) }))
  await writers.protocolMapper.delete(
    context,
    live.filter((one) => !stated.some((other) => other.live === one)),
  )
  await writers.protocolMapper.update(
    context,
    stated.flatMap(({ body, live }) => (live ? [{ live, set: replacement(live, body) }] : [])),
  )
  await writers.protocolMapper.create(
    context,
    stated.flatMap(({ body, live }) => (live ? [] : [{ ...newObject(nestedMapper(body)), parent }])),
  )
}
