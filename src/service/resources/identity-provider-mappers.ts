// What REST does with the mappers of identity providers.
import type { Representation } from '../../kinds/kind.ts'
import { demand } from '../administrators.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import type { LiveObject } from '../live.ts'
import { present } from '../present.ts'
import { replacement, withoutNulls } from '../put.ts'
import { findProvider } from './identity-providers.ts'
import { getObject, newObject, type Place, type Resource } from './resource.ts'

const VIEW = 'view-identity-providers'
const MANAGE = 'manage-identity-providers'

/** The mappers under the address of a provider. Keycloak: one mapper is found by its id under every provider. */
export const identityProviderMappers: Resource = {
  kind: 'identityProviderMapper',
  view: VIEW,
  manage: MANAGE,
  async reach(context, { owner, id }) {
    demand(context, MANAGE)
    if (id === undefined) await findProvider(context, owner!)
    else await find(context, { owner: owner!, id })
  },
  async list(context, { owner }) {
    demand(context, VIEW)
    const { kind, id } = await findProvider(context, owner!)
    const found = await writers.identityProviderMapper.list(context, { parents: { kind, ids: [id] } })
    return found.map((live) => show(context, live))
  },
  async get(context, place) {
    demand(context, VIEW)
    return show(context, await find(context, place))
  },
  async create(context, { owner }, body) {
    demand(context, MANAGE)
    const { representation } = await findProvider(context, owner!)
    const stated = withoutNulls(body)
    const { name, identityProviderAlias, identityProviderMapper } = stated
    // Keycloak: its database says so.
    if (![name, identityProviderAlias, identityProviderMapper].every(Boolean))
      throw failure('duplicate', 'Duplicate resource error')
    const parent = await parentOf(context, stated)
    const key = ['identityProvider', ...parent.key, String(name)]
    const [namesake] = await writers.identityProviderMapper.list(context, { keys: [key] })
    if (namesake) {
      const { providerId } = representation
      throw failure('invalid', `Failed to add mapper '${name}' to identity provider [${providerId}].`)
    }
    const [made] = await writers.identityProviderMapper.create(context, [{ ...newObject(stated), parent }])
    return made!.id
  },
  async replace(context, place, body) {
    demand(context, MANAGE)
    const live = await find(context, place)
    const stated = withoutNulls(body)
    const moves = stated.identityProviderAlias !== undefined && stated.identityProviderAlias !== live.key.at(-2)
    if (moves) await move(context, live, stated)
    else await writers.identityProviderMapper.update(context, [{ live, set: replacement(live, stated) }])
  },
  async delete(context, place) {
    demand(context, MANAGE)
    await writers.identityProviderMapper.delete(context, [await find(context, place)])
  },
}

async function find(context: Context, { owner, id }: Place): Promise<LiveObject> {
  await findProvider(context, owner!)
  return getObject(context, 'identityProviderMapper', id, 'Model not found')
}

/** Keycloak: the body says which provider a mapper belongs to; the address does not matter. */
async function parentOf(context: Context, { identityProviderAlias }: Representation) {
  const [found] = await writers.identityProvider.list(context, { keys: [[String(identityProviderAlias)]] })
  if (!found) throw failure('invalid', `There is no identity provider ${identityProviderAlias}`)
  const { kind, id, key } = found
  return { kind, id, key }
}

async function move(context: WriteContext, live: LiveObject, stated: Representation): Promise<void> {
  const parent = await parentOf(context, stated)
  await writers.identityProviderMapper.delete(context, [live])
  const { config: _, ...kept } = live.representation
  const representation = { ...kept, ...stated }
  await writers.identityProviderMapper.create(context, [{ id: live.id, representation, parent }])
}

function show(context: Context, live: LiveObject): Representation {
  return { ...present(context.vault, live), identityProviderAlias: live.key.at(-2)! }
}
