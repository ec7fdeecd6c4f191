// What REST does with identity providers: by alias or id, secrets masked.
import { withoutEarlierSettings } from '../../../kinds/identity-provider.ts'
import {
  type IdentityProviderMapperType,
  type IdentityProviderType,
  identityProviderMapperTypes,
  identityProviderTypes,
} from '../../../kinds/identity-provider-types.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import { masked } from '../../../kinds/masked.ts'
import { searchProviders } from '../../../store/identity-providers.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { type Present, present } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { reservedIn } from '../../objects/reserved.ts'
import { demand, visibleTo } from '../../permissions/administrators.ts'
import { plainResource } from '../common/plain-resource.ts'
import type { Resource } from '../common/resource.ts'
import { searchOf } from './identity-provider-search.ts'

const VIEW = 'view-identity-providers'
const MANAGE = 'manage-identity-providers'
const NOT_FOUND = 'HTTP 404 Not Found'

/** Keycloak: IdentityProvidersResource, IdentityProviderResource. */
export const identityProviders: Resource = {
  ...plainResource({
    kind: 'identityProvider',
    view: VIEW,
    manage: MANAGE,
    find: (context, { id }) => findProvider(context, id),
    present: (vault, live) => showProvider(vault, live),
  }),
  async list(context, _place, query) {
    demand(context, VIEW)
    const search = { ...searchOf(query), visible: visibleTo(context, VIEW) }
    const ids = await searchProviders(context.tx, context.realm.number, search)
    const found = await writers.identityProvider.list(context, { ids })
    return found.map((live) => (query.briefRepresentation === true ? briefly(live) : showProvider(context.vault, live)))
  },
  async create(context, _place, body) {
    demand(context, MANAGE)
    const { internalId, ...stated } = withoutEarlierSettings(withoutNulls(body))
    const { alias } = stated
    const reserved = reservedIn(String(alias ?? ''))
    if (reserved !== undefined) throw failure('malformed', reserved)
    demandType(stated)
    if (alias === undefined || alias === '') throw failure('invalid', 'path is null')
    const representation = withoutMask(stated)
    const id = typeof internalId === 'string' && internalId !== '' ? internalId : undefined
    const [made] = await writers.identityProvider.create(context, [{ id, representation }])
    tell(context, made!, stated)
    return String(alias)
  },
  async replace(context, { id }, body) {
    demand(context, MANAGE)
    const live = await findProvider(context, id)
    const stated = withoutEarlierSettings(withoutNulls(body))
    demandType(stated)
    const { alias, providerId } = live.representation
    if (stated.alias !== undefined && stated.alias !== alias)
      throw failure('invalid', 'Identity Provider alias cannot be changed')
    // Keycloak: the type stays as it is.
    const set = replacement(live, { ...stated, providerId: providerId! })
    await writers.identityProvider.update(context, [{ live, set }])
    tell(context, live, stated)
  },
}

/** The provider with that alias, or else with that id. Throws not_found. */
export async function findProvider(context: Context, aliasOrId: string): Promise<LiveObject> {
  const found = await writers.identityProvider.list(context, { keys: [[aliasOrId]], ids: [aliasOrId] })
  const provider = found.find(({ key }) => key[0] === aliasOrId) ?? found[0]
  if (!provider) throw failure('not_found', NOT_FOUND)
  return provider
}

/** The types of mappers that a provider takes, by id. */
export async function mapperTypesOf(
  context: Context,
  aliasOrId: string,
): Promise<Record<string, IdentityProviderMapperType>> {
  demand(context, VIEW)
  const { mapperTypes = [] } = typeOf((await findProvider(context, aliasOrId)).representation) ?? {}
  return Object.fromEntries(mapperTypes.map((id) => [id, identityProviderMapperTypes[id]!]))
}

/** A type of identity provider. Throws malformed when there is none. */
export function getProviderType(context: Context, providerId: string): IdentityProviderType {
  demand(context, VIEW)
  const type = identityProviderTypes[providerId]
  if (!type) throw failure('malformed', 'HTTP 400 Bad Request')
  return type
}

/** Keycloak: its event shows a provider as it is read from the body, with id and name. */
function tell(context: WriteContext, { id, key }: LiveObject, stated: Representation): void {
  const read = { enabled: true, config: {}, ...stated, internalId: id, alias: key[0]! }
  describeEvent(context, { representation: masked(kinds.identityProvider, read) })
}

function typeOf({ providerId }: Readonly<Representation>): IdentityProviderType | undefined {
  return identityProviderTypes[String(providerId)]
}

/** Documents keep providers of types that are not known; REST refuses them. */
function demandType(stated: Representation): void {
  if (!typeOf(stated)) throw failure('invalid', `Invalid identity provider id [${stated.providerId ?? null}]`)
}

/** A mask keeps the secret that is there; a new provider has none. */
function withoutMask(stated: Representation): Representation {
  const config = Object.entries((stated.config ?? {}) as Representation).filter(([, value]) => value !== MASK)
  return { ...stated, config: Object.fromEntries(config) }
}

/** A provider as it shows. */
export const showProvider: Present = (vault, live) => {
  const { config, ...shown } = present(vault, live)
  const { clientSecret, ...settings } = config as Record<string, string>
  const type = typeOf(live.representation)
  const { organization } = live.references
  return {
    ...shown,
    ...(organization !== undefined && { organizationId: organization }),
    config: { ...settings, ...(clientSecret !== undefined && { clientSecret: hidden(clientSecret) }) },
    types: type && !type.social ? [...type.types] : [],
  }
}

/** Keycloak: where a secret is kept elsewhere, its place is none. */
function hidden(secret: string): string {
  return secret.startsWith('${vault.') ? secret : MASK
}

function briefly({ id, representation }: LiveObject): Representation {
  const { alias, displayName, providerId, enabled } = representation
  return {
    alias: alias!,
    ...(displayName !== undefined && { displayName }),
    internalId: id,
    ...(providerId !== undefined && { providerId }),
    enabled: enabled!,
    config: {},
  }
}
