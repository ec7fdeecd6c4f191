// What REST does with the protocol mappers of clients and client scopes.

import type { Key, KindName, Representation } from '../../kinds/kind.ts'
import { effectiveMapperConfig, mapperTypes, nestedMapperConfig } from '../../kinds/mapper-types.ts'
import { demand } from '../administrators.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import type { LiveObject } from '../live.ts'
import { type Present, present } from '../present.ts'
import { replacement, withoutNulls } from '../put.ts'
import { getObject, newObject, type Place, type Resource, type Way } from './resource.ts'

const NOT_FOUND = 'Model not found'

/** The resource of the protocol mappers of an owner, with what only they have. */
export interface ProtocolMappers extends Resource {
  reach(context: Context, way: Way): Promise<void>
  /** Those of one protocol. */
  listOf(context: Context, owner: string, protocol: string): Promise<Representation[]>
  /** Makes several at once; all or nothing. */
  createAll(context: WriteContext, owner: string, bodies: readonly Representation[]): Promise<void>
}

/** Keycloak: ProtocolMappersResource, of the clients or of the client scopes of a realm. */
export function protocolMappersOf(owners: KindName, ownerNotFound: string): ProtocolMappers {
  const ownerOf = async (context: Context, id: string | undefined) => {
    const { key } = await getObject(context, owners, id!, ownerNotFound)
    return { kind: owners, id: id!, key }
  }
  const all = async (context: Context, owner: string | undefined) => {
    demand(context, 'view-clients')
    const { id } = await ownerOf(context, owner)
    return writers.protocolMapper.list(context, { parents: { kind: owners, ids: [id] } })
  }
  const find = async (context: Context, { id, owner }: Place) => {
    await ownerOf(context, owner)
    const [found] = await writers.protocolMapper.list(context, { ids: [id] })
    if (found?.parent?.id !== owner) throw failure('not_found', NOT_FOUND)
    return found!
  }
  const createAll = async (context: WriteContext, owner: string | undefined, bodies: readonly Representation[]) => {
    demand(context, 'manage-clients')
    const parent = await ownerOf(context, owner)
    for (const body of bodies) checkType(body)
    return writers.protocolMapper.create(
      context,
      bodies.map((body) => ({ ...newObject(withoutNulls(body)), parent })),
    )
  }
  return {
    kind: 'protocolMapper',
    view: 'view-clients',
    manage: 'manage-clients',
    async reach(context, { owner }) {
      demand(context, 'manage-clients')
      await ownerOf(context, owner)
    },
    async list(context, { owner }) {
      return (await all(context, owner)).map((live) => show(context.vault, live))
    },
    async listOf(context, owner, protocol) {
      const found = await all(context, owner)
      return found
        .filter(({ representation }) => representation.protocol === protocol)
        .map((live) => show(context.vault, live))
    },
    async get(context, place) {
      demand(context, 'view-clients')
      return show(context.vault, await find(context, place))
    },
    async create(context, { owner }, body) {
      const [made] = await createAll(context, owner, [body])
      return made!.id
    },
    async createAll(context, owner, bodies) {
      const parent = await ownerOf(context, owner)
      await refuseNamesakes(context, parent, bodies)
      await createAll(context, owner, bodies)
    },
    async replace(context, place, body) {
      demand(context, 'manage-clients')
      const live = await find(context, place)
      checkType(body)
      // Keycloak: the name stays.
      const { name: _, ...set } = replacement(live, body)
      await writers.protocolMapper.update(context, [{ live, set }])
    },
    async delete(context, place) {
      demand(context, 'manage-clients')
      await writers.protocolMapper.delete(context, [await find(context, place)])
    },
  }
}

/** A protocol mapper as it stands in the body of a new client or client scope. */
export function nestedMapper(mapper: Representation): Representation {
  return { ...mapper, config: nestedMapperConfig((mapper.config ?? {}) as Record<string, string>) }
}

/**
 * Makes the protocol mappers of an owner those that its body states, by protocol and name. Keycloak: an update of a
 * client does so, and one of a client scope does not.
 */
export async function replaceMappers(
  context: WriteContext,
  owner: LiveObject,
  bodies: readonly Representation[],
): Promise<void> {
  const { kind, id, key } = owner
  const live = await writers.protocolMapper.list(context, { parents: { kind, ids: [id] } })
  const nameOf = ({ protocol, name }: Representation) => JSON.stringify([protocol, name])
  const kept = new Map(live.map((one) => [nameOf(one.representation), one]))
  const stated = bodies.map((body) => ({ body: nestedMapper(withoutNulls(body)), live: kept.get(nameOf(body)) }))
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
    stated.flatMap(({ body, live }) => (live ? [] : [{ ...newObject(body), parent: { kind, id, key } }])),
  )
}

const show: Present = (vault, live: LiveObject) => {
  const shown = present(vault, live)
  const config = effectiveMapperConfig(String(shown.protocolMapper), shown.config as Record<string, string>)
  return { ...shown, config }
}

function checkType({ protocolMapper, name }: Representation): void {
  if (!Object.hasOwn(mapperTypes, String(protocolMapper)))
    throw failure('not_found', 'ProtocolMapper provider not found')
  // Keycloak: its database says so.
  if (name === undefined || name === null) throw failure('duplicate', 'Duplicate resource error')
}

async function refuseNamesakes(
  context: Context,
  parent: { kind: KindName; id: string; key: Key },
  bodies: readonly Representation[],
): Promise<void> {
  const names = bodies.map(({ name }) => name)
  const existing = await writers.protocolMapper.list(context, { parents: { kind: parent.kind, ids: [parent.id] } })
  const taken = existing.some(({ representation }) => names.includes(representation.name))
  if (taken || new Set(names).size < names.length) {
    throw failure('duplicate', 'Protocol mapper name must be unique per protocol')
  }
}
