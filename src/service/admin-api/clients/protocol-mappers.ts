// What REST does with the protocol mappers of clients and client scopes.
import { randomUUID } from 'node:crypto'
import type { Representation } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import { effectiveMapperConfig, mapperTypes } from '../../../kinds/mapper-types.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { type Present, present } from '../../kinds/present.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { demand } from '../../permissions/administrators.ts'
import { plainResource } from '../common/plain-resource.ts'
import { byIdIn, getObject, newObject, type Place, parentOf } from '../common/resource.ts'
import { refuseAdministration } from './clients.ts'

const MANAGE = 'manage-clients'

/** Keycloak: subjects of this type cannot be traced back without a salt, which is made up where none is stated. */
const PAIRWISE = 'oidc-sha256-pairwise-sub-mapper'
const SALT = 'pairwiseSubAlgorithmSalt'

/** Keycloak: ProtocolMappersResource, of the clients or of the client scopes of a realm. */
export function protocolMappersOf(owners: KindName, ownerNotFound: string) {
  const owner = (context: Context, id: string) => getObject(context, owners, id, ownerNotFound)
  const changeable = async (context: Context, id: string) => {
    const live = await owner(context, id)
    if (owners === 'client') refuseAdministration(context, live)
    return live
  }
  const resourceOf = (of: typeof owner) =>
    plainResource({
      kind: 'protocolMapper',
      view: 'view-clients',
      manage: MANAGE,
      find: byIdIn('protocolMapper', of, 'not_found', 'Model not found'),
      owner: of,
      read,
      present: show,
    })
  const find = byIdIn('protocolMapper', changeable, 'not_found', 'Model not found')
  const { list, get } = resourceOf(owner)
  return {
    ...resourceOf(changeable),
    list,
    get,
    async replace(context: WriteContext, place: Place, body: Representation): Promise<void> {
      demand(context, MANAGE)
      const live = await find(context, place)
      // Keycloak: the name stays.
      const { name: _, ...set } = replacement(live, read(body))
      await writers.protocolMapper.update(context, [{ live, set }])
    },
    /** Makes several at once; all or nothing. */
    async createAll(context: WriteContext, name: string, bodies: readonly Representation[]): Promise<void> {
      demand(context, MANAGE)
      const client = await changeable(context, name)
      const there = await writers.protocolMapper.list(context, { parents: { kind: owners, ids: [client.id] } })
      const names = [...there.map(({ key }) => key.at(-1)), ...bodies.map((body) => body.name)]
      if (new Set(names).size < names.length)
        throw failure('duplicate', 'Protocol mapper name must be unique per protocol')
      const parent = parentOf(client)
      await writers.protocolMapper.create(
        context,
        bodies.map((body) => ({ ...newObject(read(body)), parent })),
      )
    },
  }
}

const show: Present = (vault, live) => {
  const shown = present(vault, live)
  const config = effectiveMapperConfig(String(shown.protocolMapper), shown.config as Record<string, string>)
  return { ...shown, config }
}

function read(body: Representation): Representation {
  const { protocolMapper, name = null } = body
  if (!Object.hasOwn(mapperTypes, String(protocolMapper)))
    throw failure('not_found', 'ProtocolMapper provider not found')
  // Keycloak: its database says so.
  if (name === null) throw failure('duplicate', 'Duplicate resource error')
  const stated = withoutNulls(body)
  if (protocolMapper !== PAIRWISE) return stated
  const { [SALT]: salt, ...config } = (stated.config ?? {}) as Record<string, string>
  return { ...stated, config: { ...config, [SALT]: salt || randomUUID() } }
}
