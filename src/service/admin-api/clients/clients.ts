// What REST does with clients: how they show, how they are found, which of them cannot be touched.
import { ADMIN_PERMISSIONS } from '../../../kinds/admin-permissions.ts'
import { adminClientOf, isBuiltIn, MASTER } from '../../../kinds/built-in/index.ts'
import { originsOf, withProtocolDefaults } from '../../../kinds/client.ts'
import { flatten } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import { masked } from '../../../kinds/masked.ts'
import type { ObjectFilter } from '../../../store/object-filter.ts'
import { freshSecret } from '../../clients/clients.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { type Present, present, presentAll } from '../../kinds/present.ts'
import { followRotation } from '../../login/secret-rotation.ts'
import type { LiveObject } from '../../objects/live.ts'
import { named, replacement, withoutNulls } from '../../objects/put.ts'
import { demand, may, visibleTo } from '../../permissions/administrators.ts'
import { lackingForClients } from '../../permissions/privilege.ts'
import { attributesOf, pageOf } from '../common/lists.ts'
import { plainResource } from '../common/plain-resource.ts'
import { byId, type Query, type Resource } from '../common/resource.ts'
import { nestedMapper, replaceMappers } from './nested-mappers.ts'
import { accountScope, withOwnScopes } from './stated-scopes.ts'

/** What is said of a client that does not exist. */
export const CLIENT_NOT_FOUND = 'Could not find client'

/** Keycloak: the attributes that clients can be looked up by. */
const SEARCHABLE = [
  'saml_idp_initiated_sso_url_name',
  'saml.artifact.binding.identifier',
  'jwt.credential.issuer',
  'jwt.credential.sub',
]

const find = byId('client', CLIENT_NOT_FOUND)

const plain = plainResource({
  kind: 'client',
  view: 'view-clients',
  search: 'list-clients',
  manage: 'manage-clients',
  find,
  nested: nestedMapper,
})

/** Keycloak: ClientsResource, ClientResource. */
export const clients: Resource = {
  ...plain,
  async list(context, _place, query) {
    demand(context, 'list-clients')
    const found = await writers.client.list(context, {
      ...filterOf(query),
      visible: visibleTo(context, 'view-clients'),
    })
    return presentAll(context, 'client', found, await showTo(context, found))
  },
  async get(context, place) {
    demand(context, 'view-clients')
    const found = [await find(context, place)]
    return (await presentAll(context, 'client', found, await showTo(context, found)))[0]!
  },
  async create(context, place, body) {
    const stated = withProtocolDefaults(withSecret(context, withoutSettings(body)))
    const id = await plain.create(context, place, await withOwnScopes(context, withoutNulls(stated)))
    await followRotation(context, [await find(context, { id })])
    return id
  },
  async replace(context, place, body) {
    demand(context, 'manage-clients')
    const live = await find(context, place)
    refuseAdministration(context, live)
    const set = update(context, live, await named(context, 'client', withoutSettings(body)))
    const scopes = await accountScope(context, live, body)
    await followRotation(context, await writers.client.update(context, [{ live, set, ...scopes }]))
    const { protocolMappers } = body
    if (Array.isArray(protocolMappers)) await replaceMappers(context, live, protocolMappers as Representation[])
  },
  async delete(context, place) {
    demand(context, 'manage-clients')
    const live = await find(context, place)
    refuseAdministration(context, live)
    if (isBuiltIn(context.realm.name, 'client', live.key) || live.key[0] === ADMIN_PERMISSIONS)
      throw failure('bad_request', 'Could not delete client')
    await writers.client.delete(context, [live])
    describeEvent(context, { representation: { id: live.id, clientId: live.key[0]! } })
  },
}

/** Keycloak: a client that is public only because its protocol says so gets a secret all the same. */
function withSecret(context: Context, body: Representation): Representation {
  const { protocol, publicClient, secret } = withoutNulls(body)
  return protocol !== 'openid-connect' || publicClient !== undefined || secret !== undefined
    ? body
    : { ...body, ...freshSecret(context, body.attributes as Representation | null | undefined) }
}

/**
 * Keycloak: an update leaves the settings of authorization alone, and those of a new client are imported into it; whether a
 * client came with its realm is the server's to say.
 */
function withoutSettings({ authorizationSettings: _, ...body }: Representation): Representation {
  if ((body.attributes ?? null) === null) return body
  const { realm_client: __, ...attributes } = body.attributes as Representation
  return { ...body, attributes }
}

function update(context: Context, live: LiveObject, body: Representation) {
  const next = { ...live.representation, ...withoutNulls(body) }
  const { redirectUris, webOrigins, publicClient, bearerOnly } = next
  const stated = replacement(live, body)
  const lacksSecret = publicClient !== true && (stated.secret ?? live.representation.secret) === undefined
  const set = {
    ...stated,
    // Keycloak: whenever a client that keeps a secret is written and has none, it gets one.
    ...(lacksSecret && flatten(kinds.client, freshSecret(context, {}))),
    // Keycloak: a client that keeps no secret loses its authorization services without a word.
    ...((publicClient === true || bearerOnly === true) && { authorizationServicesEnabled: null }),
  }
  // Keycloak: whenever a client is written that has no origins, and none are stated, its redirect URIs give them.
  if ((body.webOrigins ?? null) !== null || (webOrigins as string[] | undefined)?.length) return set
  return { ...set, webOrigins: originsOf((redirectUris ?? []) as string[]).sort() }
}

/**
 * Whoever knows the secret of a client can act in its place: it is masked for who may only view clients, and of a client whose account is
 * stronger than the caller. Keycloak: shows it to all of them. Statements: one, or none.
 */
async function showTo(context: Context, clients: readonly LiveObject[]): Promise<Present> {
  const manages = may(context, 'manage-clients')
  const acting = manages ? clients.filter(({ representation }) => representation.serviceAccountsEnabled === true) : []
  const stronger = await lackingForClients(
    context,
    acting.map(({ id }) => id),
  )
  return (vault, live) => {
    const whole = present(vault, live)
    const isHidden = !manages || stronger.has(live.id)
    const { secret, authorizationServicesEnabled, ...shown } = isHidden ? masked(kinds.client, whole) : whole
    const builtIn = isAdministration(context, live) || live.key[0] === ADMIN_PERMISSIONS
    const manage = manages && !builtIn
    return {
      ...shown,
      ...(secret !== undefined && shown.publicClient !== true && { secret }),
      ...(authorizationServicesEnabled === true && { authorizationServicesEnabled }),
      access: { view: true, configure: manage, manage },
    }
  }
}

/** Keycloak: the client that holds the administration roles of a realm is nobody's to change. */
function isAdministration({ realm }: Context, { key: [clientId] }: Pick<LiveObject, 'key'>): boolean {
  if (realm.name !== MASTER) return clientId === 'realm-management'
  return clientId!.endsWith(adminClientOf(''))
}

/** Throws forbidden where the client holds the administration roles of a realm. Keycloak: also to who has all power. */
export function refuseAdministration(context: Context, live: Pick<LiveObject, 'key'>): void {
  if (isAdministration(context, live)) throw failure('forbidden', 'HTTP 403 Forbidden')
}

function filterOf(query: Query): ObjectFilter {
  const { clientId, search } = query
  const page = pageOf(query)
  const attributes = attributesOf(String(query.q ?? ''))
  if (Object.keys(attributes).length) return { ...page, containing: { attributes: searchable(attributes) } }
  if (!clientId) return page
  return search === true ? { ...page, search: String(clientId) } : { ...page, keys: [[String(clientId)]] }
}

function searchable(attributes: Representation): Representation {
  const refused = Object.keys(attributes).filter((name) => !SEARCHABLE.includes(name))
  if (refused.length) throw failure('bad_request', `Attributes [${refused.join(', ')}] not allowed for search`)
  return attributes
}
