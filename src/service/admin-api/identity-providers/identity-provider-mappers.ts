// The REST operations on the mappers of identity providers.
import type { Representation } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { duplicateResource, failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { type ToWire, toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { createPlainResource } from '../common/plain-resource.ts'
import { type AdminResource, getObject, type ObjectAddress, toNewObject, toParent } from '../common/resource.ts'
import { getProvider } from './identity-providers.ts'

const kind = 'identityProviderMapper'
const MANAGE = 'manage-identity-providers'

/** Keycloak: a mapper is found by its id below any provider. */
const getMapper = async (context: Context, { owner, id }: ObjectAddress) => {
  await getProvider(context, owner!)
  return getObject(context, kind, { id, notFound: 'Model not found' })
}

const toMapperRepresentation: ToWire = (vault, live) => ({
  ...toWireRepresentation(vault, live),
  identityProviderAlias: live.key.at(-2)!,
})

/** Keycloak: the operations of IdentityProviderResource on mappers. */
export const identityProviderMappers: AdminResource = {
  ...createPlainResource({
    kind,
    view: 'view-identity-providers',
    manage: MANAGE,
    getObject: getMapper,
    getOwner: getProvider,
    toWire: toMapperRepresentation,
  }),
  async create(context, { owner }, body) {
    requirePermissions(context, MANAGE)
    const { representation } = await getProvider(context, owner!)
    const fields = omitNulls(body)
    const { name, identityProviderAlias, identityProviderMapper } = fields
    // Keycloak: the error is that of its database.
    if (![name, identityProviderAlias, identityProviderMapper].every(Boolean)) throw duplicateResource()
    const provider = await getDeclaredProvider(context, fields)
    const key = ['identityProvider', ...provider.key, String(name)]
    const [namesake] = await writers[kind].list(context, { keys: [key] })
    if (namesake) {
      const { providerId } = representation
      throw failure('invalid', `Failed to add mapper '${name}' to identity provider [${providerId}].`)
    }
    const [mapper] = await writers[kind].create(context, [{ ...toNewObject(fields), parent: toParent(provider) }])
    return mapper!.id
  },
  async replace(context, address, body) {
    requirePermissions(context, MANAGE)
    const live = await getMapper(context, address)
    const fields = omitNulls(body)
    const isMoved = fields.identityProviderAlias !== undefined && fields.identityProviderAlias !== live.key.at(-2)
    if (isMoved) await moveMapper(context, live, fields)
    else await writers[kind].update(context, [{ live, set: toReplacement(live, fields) }])
  },
}

/** Keycloak: the body names the provider that a mapper belongs to; the one in the URL is ignored. */
async function getDeclaredProvider(context: Context, { identityProviderAlias }: Representation): Promise<LiveObject> {
  const [provider] = await writers.identityProvider.list(context, { keys: [[String(identityProviderAlias)]] })
  if (!provider) throw failure('invalid', `There is no identity provider ${identityProviderAlias}`)
  return provider
}

/** Moves a mapper to the provider that its body declares, with the same id. */
async function moveMapper(context: WriteContext, live: LiveObject, fields: Representation): Promise<void> {
  const parent = toParent(await getDeclaredProvider(context, fields))
  await writers[kind].delete(context, [live])
  const { config: _, ...retained } = live.representation
  const representation = { ...retained, ...fields }
  await writers[kind].create(context, [{ id: live.id, representation, parent }])
}
