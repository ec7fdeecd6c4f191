// Protocol mappers in the bodies of clients and client scopes.
import { type Representation, readTextMap } from '../../../kinds/json.ts'
import { toStoredMapperConfig } from '../../../kinds/mapper-types.ts'
import type { WriteContext } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { toNewObject, toParent } from '../common/resource.ts'

/** Returns the fields that a protocol mapper in the body of a new client or client scope declares. */
export function readNestedMapper(mapper: Representation): Representation {
  return { ...mapper, config: toStoredMapperConfig(readTextMap(mapper.config)) }
}

/**
 * Replaces the protocol mappers of an owner by those in its body, matched by protocol and name. Keycloak: an update of a
 * client does this, and one of a client scope does not; only new mappers get default settings.
 */
export async function replaceMappers(
  context: WriteContext,
  owner: LiveObject,
  bodies: readonly Representation[],
): Promise<void> {
  const parent = toParent(owner)
  const live = await writers.protocolMapper.list(context, { parents: { kind: owner.kind, ids: [owner.id] } })
  const toKey = ({ protocol, name }: Representation) => JSON.stringify([protocol, name])
  const liveByKey = new Map(live.map((mapper) => [toKey(mapper.representation), mapper]))
  const declared = bodies.map((body) => ({
    body: { config: {}, ...omitNulls(body) },
    live: liveByKey.get(toKey(body)),
  }))
  await writers.protocolMapper.delete(
    context,
    live.filter((mapper) => !declared.some((match) => match.live === mapper)),
  )
  await writers.protocolMapper.update(
    context,
    declared.flatMap(({ body, live }) => (live ? [{ live, set: toReplacement(live, body) }] : [])),
  )
  await writers.protocolMapper.create(
    context,
    declared.flatMap(({ body, live }) => (live ? [] : [{ ...toNewObject(readNestedMapper(body)), parent }])),
  )
}
