// What REST does with the mappers of identity providers.
import type { Representation } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { type Present, present } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { demand } from '../../permissions/administrators.ts'
import { plainResource } from '../common/plain-resource.ts'
import { getObject, newObject, type Place, parentOf, type Resource } from '../common/resource.ts'
import { findProvider } from './identity-providers.ts'

const kind = 'identityProviderMapper'
const MANAGE = 'manage-identity-providers'

/** Keycloak: one mapper is found by its id under every provider. */
const find = async (context: Context, { owner, id }: Place) => {
  await findProvider(context, owner!)
  return getObject(context, kind, id, 'Model not found')
}

const show: Present = (vault, live) => ({ ...present(vault, live), identityProviderAlias: live.key.at(-2)! })

/** The mappers under the address of a provider. */
export const identityProviderMappers: Resource = {
  ...plainResource({
    kind,
    view: 'view-identity-providers',
    manage: MANAGE,
    find,
    owner: findProvider,
    present: show,
  }),
  async create(context, { owner }, body) {
    demand(context, MANAGE)
    const { representation } = await findProvider(context, owner!)
    const stated = withoutNulls(body)
    const { name, identityProviderAlias, identityProviderMapper } = stated
    // Keycloak: its database says so.
    if (![name, identityProviderAlias, identityProviderMapper].every(Boolean))
      throw failure('duplicate', 'Duplicate resource error')
    const provider = await providerOf(context, stated)
    const key = ['identityProvider', ...provider.key, String(name)]
    const [namesake] = await writers[kind].list(context, { keys: [key] })
    if (namesake) {
      const { providerId } = representation
      throw failure('invalid', `Failed to add mapper '${name}' to identity provider [${providerId}].`)
    }
    const [made] = await writers[kind].create(context, [{ ...newObject(stated), parent: parentOf(provider) }])
    return made!.id
  },
  async replace(context, place, body) {
    demand(context, MANAGE)
    const live = await find(context, place)
    const stated = withoutNulls(body)
    const moves = stated.identityProviderAlias !== undefined && stated.identityProviderAlias !== live.key.at(-2)
    if (moves) await move(context, live, stated)
    else await writers[kind].update(context, [{ live, set: replacement(live, stated) }])
  },
}

/** Keycloak: the body says which provider a mapper belongs to; the address does not matter. */
async function providerOf(context: Context, { identityProviderAlias }: Representation): Promise<LiveObject> {
  const [found] = await writers.identityProvider.list(context, { keys: [[String(identityProviderAlias)]] })
  if (!found) throw failure('invalid', `There is no identity provider ${identityProviderAlias}`)
  return found
}

async function move(context: WriteContext, live: LiveObject, stated: Representation): Promise<void> {
  const parent = parentOf(await providerOf(context, stated))
  await writers[kind].delete(context, [live])
  const { config: _, ...kept } = live.representation
  const representation = { ...kept, ...stated }
  await writers[kind].create(context, [{ id: live.id, representation, parent }])
}
