// What REST does with the resources of clients that decide permissions.
import { missing } from '../../../kinds/compare.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { namingAny } from '../../authorization/authorization.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { present } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { findIn, newObject, parentOf, type Query } from '../common/resource.ts'
import { briefPolicy } from './authorization-policy-wire.ts'
import { briefScope } from './authorization-scopes.ts'
import { filterResources } from './resource-filter.ts'
import {
  demandName,
  findNamed,
  getConfigurableServer,
  getServer,
  listOf,
  NOT_FOUND,
  paged,
} from './resource-servers.ts'

const KIND = 'authorizationResource'

/** Keycloak: ResourceSetService. */
export const authorizationResources = {
  async list(context: Context, client: string, query: Query): Promise<Representation[]> {
    const server = await getServer(context, client, 'view-authorization')
    const found = filterResources(await listOf(context, server, KIND), server, query)
    const shown = await showAll(context, server, paged(found, query))
    return query.deep === false ? shown.map(({ attributes: _, scopes: __, ...brief }) => brief) : shown
  },
  /** The resource of that name that is the client's own. */
  async find(context: Context, client: string, name: string): Promise<Representation | undefined> {
    const server = await getServer(context, client, 'view-authorization')
    const live = await findNamed(context, server, KIND, name)
    return live && !live.references.owner ? (await showAll(context, server, [live]))[0] : undefined
  },
  async get(context: Context, client: string, id: string): Promise<Representation> {
    const server = await getServer(context, client, 'view-authorization')
    return (await showAll(context, server, [await getIn(context, server, id)]))[0]!
  },
  async create(context: WriteContext, client: string, body: Representation): Promise<Representation> {
    const server = await getConfigurableServer(context, client)
    demandName(body)
    const { owner = null, ...stated } = read(body)
    const scopes = await withScopes(context, server, body.scopes)
    const person = await ownerNamed(context, server, owner)
    const [live] = await writers[KIND].create(context, [
      {
        ...created(stated),
        representation: { ...created(stated).representation, scopes, ...person },
        parent: parentOf(server),
      },
    ])
    const [shown] = await showAll(context, server, [live!])
    describeEvent(context, { representation: shown! })
    return shown!
  },
  async replace(context: WriteContext, client: string, id: string, body: Representation): Promise<void> {
    const server = await getConfigurableServer(context, client)
    const live = await getIn(context, server, id)
    demandName(body)
    // Keycloak: a resource stays whose it is.
    const { owner: _, ...stated } = read(body)
    const next = (await withScopes(context, server, body.scopes)).map((name): Key => [name])
    const now = (live.representation.scopes as string[]).map((name): Key => [name])
    const scopes = { add: missing(next, now), remove: missing(now, next) }
    const [updated] = await writers[KIND].update(context, [
      { live, set: replacement(live, stated), relations: { scopes } },
    ])
    describeEvent(context, { representation: (await showAll(context, server, [updated!]))[0]! })
  },
  async delete(context: WriteContext, client: string, id: string): Promise<void> {
    const server = await getConfigurableServer(context, client)
    const live = await getIn(context, server, id)
    const [representation] = await showAll(context, server, [live])
    await writers[KIND].delete(context, [live])
    describeEvent(context, { representation: representation! })
  },
  async attributes(context: Context, client: string, id: string): Promise<Json> {
    const server = await getServer(context, client, 'view-authorization')
    return present(context.vault, await find(context, server, id)).attributes!
  },
  async scopes(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getServer(context, client, 'view-authorization')
    const live = await find(context, server, id)
    const all = await listOf(context, server, 'authorizationScope')
    return all.filter(({ key }) => (live.representation.scopes as string[]).includes(key.at(-1)!)).map(briefScope)
  },
  /** Those that name the resource, are for its type, or for one of its scopes wherever it is. */
  async permissions(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getServer(context, client, 'view-authorization')
    const live = await find(context, server, id)
    const naming = new Set((await namingAny(context, 'resources', [live])).map((one) => one.id))
    const { type, scopes } = live.representation
    const all = await listOf(context, server, 'authorizationPolicy')
    return all
      .filter(({ id, representation: { resources, scopes: theirs, config } }) => {
        const forType = (config as Representation | undefined)?.defaultResourceType
        const forScope = (theirs as string[]).some((name) => (scopes as string[]).includes(name))
        return (
          naming.has(id) ||
          (type !== undefined && forType === type) ||
          (forScope && (resources as string[]).length === 0)
        )
      })
      .map(briefPolicy)
  },
}

async function getIn(context: Context, server: LiveObject, id: string): Promise<LiveObject> {
  const live = await findIn(context, server, KIND, id)
  if (!live) throw failure('not_found', NOT_FOUND)
  return live
}

/** Keycloak: what belongs to a resource says nothing where there is none. */
async function find(context: Context, server: LiveObject, id: string): Promise<LiveObject> {
  const live = await findIn(context, server, KIND, id)
  if (!live) throw failure('silent', 'There is no such resource')
  return live
}

/** Resources as they show. Statements: one. */
async function showAll(
  context: Context,
  server: LiveObject,
  resources: readonly LiveObject[],
): Promise<Representation[]> {
  const scopes = await listOf(context, server, 'authorizationScope')
  return resources.map((live) => {
    const { owner, scopes: names, ...shown } = present(context.vault, live)
    const own = scopes.filter(({ key }) => (names as string[]).includes(key.at(-1)!)).map(briefScope)
    const whose =
      owner === undefined ? { id: server.id, name: server.key[0]! } : { id: live.references.owner!, name: owner }
    return { ...shown, owner: whose, ...(own.length && { scopes: own }) }
  })
}

/** A body in the fields of the kind. Keycloak: `uri` is of an earlier form. */
function read({ uri = null, scopes: _, scopesUma: __, ...body }: Representation): Representation {
  return withoutNulls({ ...body, ...(uri !== null && (body.uris ?? null) === null && { uris: [uri] }) })
}

function created({ _id, ...stated }: Representation) {
  return newObject({ ...stated, ...(_id !== undefined && { id: _id }) })
}

/** The names of the scopes that a body names; those that are not there are made. Keycloak: so a resource does. */
async function withScopes(context: WriteContext, server: LiveObject, stated: Json | undefined): Promise<string[]> {
  const bodies = ((stated ?? []) as (string | Representation)[]).map((one) =>
    typeof one === 'string' ? { name: one } : withoutNulls(one),
  )
  if (!bodies.length) return []
  const all = await listOf(context, server, 'authorizationScope')
  const nameOf = ({ id, name }: Representation) =>
    all.find((one) => one.id === id)?.key.at(-1) ?? demandName({ name: name! })
  const names = [...new Set(bodies.map(nameOf))]
  const fresh = names.filter((name) => !all.some(({ key }) => key.at(-1) === name))
  if (fresh.length) {
    await writers.authorizationScope.create(
      context,
      fresh.map((name) => ({
        parent: parentOf(server),
        representation: { ...bodies.find((one) => one.name === name)!, name },
      })),
    )
  }
  return names
}

/** The owner that a body names by name or id, where it is not the client. */
async function ownerNamed(context: Context, server: LiveObject, owner: Json): Promise<Representation> {
  const { id, name } = typeof owner === 'string' ? { id: owner, name: owner } : ((owner ?? {}) as Representation)
  const texts = [id, name].filter((one) => typeof one === 'string')
  if (!texts.length || texts.includes(server.id) || texts.includes(server.key[0]!)) return {}
  const [user] = await writers.user.list(context, { ids: texts, keys: texts.map((text) => [text.toLowerCase()]) })
  if (!user) throw failure('invalid', `There is no user ${texts[0]}`)
  return { owner: user.key[0]! }
}
