// The REST operations on the resources of resource servers.
import { subtractKeys } from '../../../kinds/compare.ts'
import { isList, isObject, type Json, type Representation, readObject, readTexts } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { listPoliciesWithTarget } from '../../authorization/authorization-writers.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { findChild, type Query, toNewObject, toParent } from '../common/resource.ts'
import { filterResources } from './authorization-filters.ts'
import { toBriefScope } from './authorization-scopes.ts'
import { toBriefPolicy } from './policy-representation.ts'
import {
  findByName,
  getConfigurableResourceServer,
  getResourceServer,
  listServerObjects,
  NOT_FOUND,
  requireName,
  type ServerObjectAddress,
  toPage,
} from './resource-servers.ts'

const KIND = 'authorizationResource'

/** The operations on the resources of a resource server, without checks of permissions. */
export const serverResources = {
  async list(context: Context, server: LiveObject, query: Query): Promise<Representation[]> {
    const matches = filterResources(await listServerObjects(context, server, { kind: KIND }), server, query)
    const resources = await toRepresentations(context, server, toPage(matches, query))
    return query.deep === false ? resources.map(({ attributes: _, scopes: __, ...brief }) => brief) : resources
  },
  async get(context: Context, server: LiveObject, id: string): Promise<Representation> {
    return (await toRepresentations(context, server, [await getLiveResource(context, server, id)]))[0]!
  },
  async create(context: WriteContext, server: LiveObject, body: Representation): Promise<Representation> {
    requireName(body)
    const { owner = null, _id = null, ...fields } = readBody(body)
    const scopes = await ensureScopes(context, server, body.scopes)
    const user = await findOwner(context, server, owner)
    const { id, representation: declared } = toNewObject({ ...fields, id: _id })
    const [live] = await writers[KIND].create(context, [
      { ...(id !== undefined && { id }), representation: { ...declared, scopes, ...user }, parent: toParent(server) },
    ])
    const [representation] = await toRepresentations(context, server, [live!])
    describeAdminEvent(context, { representation: representation! })
    return representation!
  },
  async replace(
    context: WriteContext,
    server: LiveObject,
    { id, body }: { readonly id: string; readonly body: Representation },
  ): Promise<void> {
    const live = await getLiveResource(context, server, id)
    requireName(body)
    // Keycloak: the owner stays.
    const { owner: _, ...fields } = readBody(body)
    const next = (await ensureScopes(context, server, body.scopes)).map((name): Key => [name])
    const now = readTexts(live.representation.scopes).map((name): Key => [name])
    const scopes = { add: subtractKeys(next, now), remove: subtractKeys(now, next) }
    const [updated] = await writers[KIND].update(context, [
      { live, set: toReplacement(live, fields), relations: { scopes } },
    ])
    describeAdminEvent(context, { representation: (await toRepresentations(context, server, [updated!]))[0]! })
  },
  async delete(context: WriteContext, server: LiveObject, id: string): Promise<void> {
    const live = await getLiveResource(context, server, id)
    const [representation] = await toRepresentations(context, server, [live])
    await writers[KIND].delete(context, [live])
    describeAdminEvent(context, { representation: representation! })
  },
}

/** The REST operations on protected resources. Keycloak: ResourceSetService. */
export const authorizationResources = {
  async list(context: Context, client: string, query: Query): Promise<Representation[]> {
    return serverResources.list(context, await getResourceServer(context, client, 'view-authorization'), query)
  },
  /** Returns the resource with that name if the client itself owns it. */
  async find(context: Context, client: string, name: string): Promise<Representation | undefined> {
    const server = await getResourceServer(context, client, 'view-authorization')
    const live = await findByName(context, server, { kind: KIND, name })
    return live && !live.references.owner ? (await toRepresentations(context, server, [live]))[0] : undefined
  },
  async get(context: Context, client: string, id: string): Promise<Representation> {
    return serverResources.get(context, await getResourceServer(context, client, 'view-authorization'), id)
  },
  async create(context: WriteContext, client: string, body: Representation): Promise<Representation> {
    return serverResources.create(context, await getConfigurableResourceServer(context, client), body)
  },
  async replace(context: WriteContext, { client, id }: ServerObjectAddress, body: Representation): Promise<void> {
    await serverResources.replace(context, await getConfigurableResourceServer(context, client), { id, body })
  },
  async delete(context: WriteContext, client: string, id: string): Promise<void> {
    await serverResources.delete(context, await getConfigurableResourceServer(context, client), id)
  },
  async attributes(context: Context, client: string, id: string): Promise<Json> {
    const server = await getResourceServer(context, client, 'view-authorization')
    return toWireRepresentation(context.vault, await getParentResource(context, server, id)).attributes!
  },
  async scopes(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getResourceServer(context, client, 'view-authorization')
    const { representation } = await getParentResource(context, server, id)
    const names = readTexts(representation.scopes)
    const all = await listServerObjects(context, server, { kind: 'authorizationScope' })
    return all.filter(({ key }) => names.includes(key.at(-1)!)).map(toBriefScope)
  },
  /** Lists the permissions on the resource itself, on its type, and on one of its scopes without a resource. */
  async permissions(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getResourceServer(context, client, 'view-authorization')
    const live = await getParentResource(context, server, id)
    const onResource = new Set((await listPoliciesWithTarget(context, 'resources', [live])).map((policy) => policy.id))
    const { type } = live.representation
    const scopes = readTexts(live.representation.scopes)
    const all = await listServerObjects(context, server, { kind: 'authorizationPolicy' })
    const isOnResource = ({ id: policyId, representation: policy }: LiveObject) => {
      if (onResource.has(policyId)) return true
      if (type !== undefined && readObject(policy.config).defaultResourceType === type) return true
      return readTexts(policy.scopes).some((name) => scopes.includes(name)) && !readTexts(policy.resources).length
    }
    return all.filter(isOnResource).map(toBriefPolicy)
  },
}

async function getLiveResource(context: Context, server: LiveObject, id: string): Promise<LiveObject> {
  const live = await findChild(context, server, { kind: KIND, id })
  if (!live) throw failure('not_found', NOT_FOUND)
  return live
}

/** Keycloak: for what belongs to a resource, the response of not_found has no body. */
async function getParentResource(context: Context, server: LiveObject, id: string): Promise<LiveObject> {
  const live = await findChild(context, server, { kind: KIND, id })
  if (!live) throw failure('not_found', 'There is no such resource', { form: 'empty' })
  return live
}

/** Returns the wire representations of resources. One statement. */
async function toRepresentations(
  context: Context,
  server: LiveObject,
  resources: readonly LiveObject[],
): Promise<Representation[]> {
  const scopes = await listServerObjects(context, server, { kind: 'authorizationScope' })
  return resources.map((live) => {
    const { owner: username, scopes: scopeNames, ...fields } = toWireRepresentation(context.vault, live)
    const names = readTexts(scopeNames)
    const scopesOfResource = scopes.filter(({ key }) => names.includes(key.at(-1)!)).map(toBriefScope)
    const owner =
      username === undefined ? { id: server.id, name: server.key[0]! } : { id: live.references.owner!, name: username }
    return { ...fields, owner, ...(scopesOfResource.length && { scopes: scopesOfResource }) }
  })
}

/** Returns the declared fields of a body, without its scopes. Keycloak: `uri` is the legacy form of `uris`. */
function readBody({ uri = null, scopes: _, scopesUma: __, ...body }: Representation): Representation {
  return omitNulls({ ...body, ...(uri !== null && (body.uris ?? null) === null && { uris: [uri] }) })
}

/** Creates the missing ones of the scopes that a body declares, by name or as objects. Returns the names of all. */
async function ensureScopes(context: WriteContext, server: LiveObject, declared: Json | undefined): Promise<string[]> {
  const bodies = (isList(declared) ? declared : []).map(
    (scope): Representation => (isObject(scope) ? omitNulls(scope) : { name: scope }),
  )
  if (!bodies.length) return []
  const existing = await listServerObjects(context, server, { kind: 'authorizationScope' })
  const getName = ({ id, name }: Representation) =>
    existing.find((scope) => scope.id === id)?.key.at(-1) ?? requireName({ name: name! })
  const names = [...new Set(bodies.map(getName))]
  const missing = names.filter((name) => !existing.some(({ key }) => key.at(-1) === name))
  if (missing.length) {
    await writers.authorizationScope.create(
      context,
      missing.map((name) => ({
        parent: toParent(server),
        representation: { ...bodies.find((body) => body.name === name)!, name },
      })),
    )
  }
  return names
}

/** Returns the owner that a body declares by name or id, as a field; no field if the owner is the client itself. */
async function findOwner(context: Context, server: LiveObject, owner: Json): Promise<Representation> {
  const { id, name } = typeof owner === 'string' ? { id: owner, name: owner } : readObject(owner)
  const texts = [id, name].filter((text) => typeof text === 'string')
  if (!texts.length || texts.includes(server.id) || texts.includes(server.key[0]!)) return {}
  const [user] = await writers.user.list(context, { ids: texts, keys: texts.map((text) => [text.toLowerCase()]) })
  if (!user) throw failure('invalid', `There is no user ${texts[0]}`)
  return { owner: user.key[0]! }
}
