// The REST operations on identity providers, which are found by alias or id. Their secrets are masked.
import { removeLegacySettings } from '../../../kinds/identity-provider.ts'
import {
  type IdentityProviderMapperType,
  type IdentityProviderType,
  identityProviderMapperTypes,
  identityProviderTypes,
  listTypesOfProvider,
} from '../../../kinds/identity-provider-types.ts'
import { kinds } from '../../../kinds/index.ts'
import { type Representation, readObject, readTextMap } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import { maskRepresentation } from '../../../kinds/mask-representation.ts'
import { parseVaultReference } from '../../../kinds/vault-reference.ts'
import { type IdentityProviderSearch, searchIdentityProviders } from '../../../store/identity-providers.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { type ToWire, toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNullsButEnabled, toReplacement } from '../../objects/put-body.ts'
import { describeReservedCharacter } from '../../objects/reserved-characters.ts'
import { getVisibility, requirePermissions } from '../../permissions/require-permissions.ts'
import { createPlainResource } from '../common/plain-resource.ts'
import type { AdminResource, Query } from '../common/resource.ts'

const VIEW = 'view-identity-providers'
const MANAGE = 'manage-identity-providers'
const NOT_FOUND = 'HTTP 404 Not Found'

/** Keycloak: IdentityProvidersResource, IdentityProviderResource. */
export const identityProviders: AdminResource = {
  ...createPlainResource({
    kind: 'identityProvider',
    view: VIEW,
    manage: MANAGE,
    getObject: (context, { id }) => getProvider(context, id),
    toWire: (vault, live) => toProviderRepresentation(vault, live),
  }),
  async list(context, _address, query) {
    requirePermissions(context, VIEW)
    const search = { ...parseSearch(query), visible: getVisibility(context, VIEW) }
    const ids = await searchIdentityProviders(context.tx, context.realm.number, search)
    const providers = await writers.identityProvider.list(context, { ids })
    const isBrief = query.briefRepresentation === true
    return providers.map((live) =>
      isBrief ? toBriefRepresentation(live) : toProviderRepresentation(context.vault, live),
    )
  },
  async create(context, _address, body) {
    requirePermissions(context, MANAGE)
    const { internalId, ...fields } = removeLegacySettings(omitNullsButEnabled(body))
    const { alias } = fields
    const reserved = describeReservedCharacter(String(alias ?? ''))
    if (reserved !== undefined) throw failure('invalid', reserved, { form: 'error' })
    requireKnownType(fields)
    if (alias === undefined || alias === '') throw failure('invalid', 'path is null')
    const representation = omitMaskedSettings(fields)
    const id = typeof internalId === 'string' && internalId !== '' ? internalId : undefined
    const [provider] = await writers.identityProvider.create(context, [{ id, representation }])
    describeProviderEvent(context, provider!, fields)
    return String(alias)
  },
  async replace(context, { id }, body) {
    requirePermissions(context, MANAGE)
    const live = await getProvider(context, id)
    const fields = removeLegacySettings(omitNullsButEnabled(body))
    requireKnownType(fields)
    const { alias, providerId } = live.representation
    if (fields.alias !== undefined && fields.alias !== alias)
      throw failure('invalid', 'Identity Provider alias cannot be changed')
    // Keycloak: the type stays.
    const set = toReplacement(live, { ...fields, providerId: providerId! })
    await writers.identityProvider.update(context, [{ live, set }])
    describeProviderEvent(context, live, fields)
  },
}

/** Returns the provider with that alias, or else with that id. Throws not_found. */
export async function getProvider(context: Context, aliasOrId: string): Promise<LiveObject> {
  const matches = await writers.identityProvider.list(context, { keys: [[aliasOrId]], ids: [aliasOrId] })
  const provider = matches.find(({ key }) => key[0] === aliasOrId) ?? matches[0]
  if (!provider) throw failure('not_found', NOT_FOUND)
  return provider
}

/** Returns the mapper types that an identity provider supports, by id. */
export async function listMapperTypes(
  context: Context,
  aliasOrId: string,
): Promise<Record<string, IdentityProviderMapperType>> {
  requirePermissions(context, VIEW)
  const { mapperTypes = [] } = findType((await getProvider(context, aliasOrId)).representation) ?? {}
  return Object.fromEntries(mapperTypes.map((id) => [id, identityProviderMapperTypes[id]!]))
}

/** Returns a type of identity provider by id. Throws invalid if there is none. */
export function getProviderType(context: Context, providerId: string): IdentityProviderType {
  requirePermissions(context, VIEW)
  const type = identityProviderTypes[providerId]
  if (!type) throw failure('invalid', 'HTTP 400 Bad Request', { form: 'error' })
  return type
}

/** Keycloak: the admin event contains the provider of the body, with its id and alias. */
function describeProviderEvent(context: WriteContext, { id, key }: LiveObject, fields: Representation): void {
  const representation = { enabled: true, config: {}, ...fields, internalId: id, alias: key[0]! }
  describeAdminEvent(context, { representation: maskRepresentation(kinds.identityProvider, representation) })
}

/** The most providers of a list, unless the query requests more. */
const PAGE = 100

/** Parses the query of a list. Throws invalid if it filters by an unknown type or capability. */
function parseSearch({
  search,
  type,
  capability,
  realmOnly,
  first,
  max,
}: Query): Omit<IdentityProviderSearch, 'visible'> {
  const text = String(search ?? '').trim()
  const exact = /^"(.*)"$/s.exec(text)?.[1]
  const filters = [
    findFilterIds('type', type, idsByType),
    findFilterIds('capability', capability, idsByCapability),
  ].filter((ids) => ids !== undefined)
  return {
    ...(exact !== undefined ? { exact } : text !== '' && { pattern: `${text}*` }),
    ...(filters.length && { providerIds: filters.reduce((ids, other) => ids.filter((id) => other.includes(id))) }),
    ...(realmOnly === true && { realmOnly }),
    first: typeof first === 'number' && first >= 0 ? first : 0,
    ...(typeof max !== 'number' ? { max: PAGE } : max >= 0 && { max }),
  }
}

const idsByType = new Map(
  Object.values(identityProviderTypes)
    .flatMap(({ types }) => types)
    .map((type) => [type, listTypeIds(({ types }) => types.includes(type))]),
)
const idsByCapability = new Map([['USER_LINKING', listTypeIds((type) => type.linksUsers !== false)]])

function listTypeIds(matches: (type: IdentityProviderType) => boolean): string[] {
  return Object.entries(identityProviderTypes).flatMap(([id, type]) => (matches(type) ? [id] : []))
}

/** Returns the ids of the provider types that pass a filter; undefined if the query does not filter. */
function findFilterIds(
  name: string,
  value: unknown,
  idsByValue: ReadonlyMap<string, string[]>,
): readonly string[] | undefined {
  if (value === undefined || value === '' || value === 'ANY') return undefined
  const ids = idsByValue.get(String(value))
  if (!ids) throw failure('invalid', `${name} must be one of ${[...idsByValue.keys()].join(', ')}`)
  return ids
}

function findType({ providerId }: Readonly<Representation>): IdentityProviderType | undefined {
  return identityProviderTypes[String(providerId)]
}

/** Throws invalid for an unknown type. Only REST does: providers of unknown types in documents are stored only. */
function requireKnownType(fields: Representation): void {
  if (!findType(fields)) throw failure('invalid', `Invalid identity provider id [${fields.providerId ?? null}]`)
}

/** Omits masked settings of a new provider: a mask retains an existing secret, and there is none. */
function omitMaskedSettings(fields: Representation): Representation {
  const config = Object.entries(readObject(fields.config)).filter(([, value]) => value !== MASK)
  return { ...fields, config: Object.fromEntries(config) }
}

/** Returns the wire representation of a provider, with its secret masked. */
export const toProviderRepresentation: ToWire = (vault, live) => {
  const { config, ...fields } = toWireRepresentation(vault, live)
  const { clientSecret, ...settings } = readTextMap(config)
  const { organization } = live.references
  return {
    ...fields,
    ...(organization !== undefined && { organizationId: organization }),
    config: { ...settings, ...(clientSecret !== undefined && { clientSecret: maskSecret(clientSecret) }) },
    types: listTypesOfProvider(live.representation.providerId),
  }
}

/** Keycloak: a reference to an entry of a vault is not a secret. */
function maskSecret(secret: string): string {
  return parseVaultReference(secret) === undefined ? MASK : secret
}

function toBriefRepresentation({ id, representation }: LiveObject): Representation {
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
