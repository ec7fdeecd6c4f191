// What REST does with the scopes of clients that decide permissions.
import type { Representation } from '../../../kinds/json.ts'
import { namingAny } from '../../authorization/authorization.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { present } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { withoutNulls } from '../../objects/put.ts'
import { demand } from '../../permissions/administrators.ts'
import { plainResource } from '../common/plain-resource.ts'
import { byIdIn, type Place, type Resource } from '../common/resource.ts'
import { briefPolicy } from './authorization-policy-wire.ts'
import {
  demandName,
  findNamed,
  findServer,
  getConfigurableServer,
  getServer,
  listOf,
  paged,
} from './resource-servers.ts'

const kind = 'authorizationScope'
const VIEW = 'view-authorization'
const MANAGE = 'manage-authorization'

const find = byIdIn(kind, findServer, 'silent', 'There is no such scope')

const plain = plainResource({
  kind,
  view: VIEW,
  manage: MANAGE,
  find,
  owner: findServer,
  read: (body) => ({ ...withoutNulls(body), name: demandName(body) }),
  // Keycloak: events show a scope as it is then.
  tell: (context, live) => describeEvent(context, { representation: present(context.vault, live) }),
})

/** Keycloak: ScopeService. */
export const authorizationScopes: Resource = {
  ...plain,
  async list(context, { owner }, query) {
    const found = await listOf(context, await getServer(context, owner!, VIEW), kind, String(query.name ?? ''))
    const wanted = query.scopeId ? found.filter(({ id }) => id === query.scopeId) : found
    return paged(wanted, query).map((live) => present(context.vault, live))
  },
  /** Keycloak: a scope of that name that is there already becomes what is stated. */
  async create(context, place, body) {
    const server = await getConfigurableServer(context, place.owner!)
    const there = await findNamed(context, server, kind, demandName(body))
    if (!there) return plain.create(context, place, body)
    await plain.replace(context, { ...place, id: there.id }, body)
    return there.id
  },
  async replace(context, place, body) {
    await getConfigurableServer(context, place.owner!)
    await plain.replace(context, place, body)
  },
  async delete(context, place) {
    await getConfigurableServer(context, place.owner!)
    if ((await resourcesWith(context, await find(context, place))).length)
      throw failure('invalid', 'Scopes can not be removed while associated with resources.')
    await plain.delete(context, place)
  },
}

/** Makes a scope, or replaces the one of that name; gives it. */
export async function createScope(context: WriteContext, owner: string, body: Representation): Promise<Representation> {
  const id = await authorizationScopes.create(context, { owner }, body)
  return present(context.vault, await find(context, { owner, id }))
}

/** The scope of that name. Statements: two. */
export async function findScope(context: Context, client: string, name: string): Promise<Representation | undefined> {
  const live = await findNamed(context, await getServer(context, client, VIEW), kind, name)
  return live && present(context.vault, live)
}

/** The permissions on a scope. */
export async function permissionsOn(context: Context, place: Place): Promise<Representation[]> {
  demand(context, VIEW)
  return (await namingAny(context, 'scopes', [await find(context, place)])).map(briefPolicy)
}

/** The resources that have a scope. */
export async function resourcesOf(context: Context, place: Place): Promise<Representation[]> {
  demand(context, VIEW)
  const found = await resourcesWith(context, await find(context, place))
  return found.map(({ id, key }) => ({ name: key.at(-1)!, _id: id }))
}

/** Scopes by name and id alone. */
export function briefScope({ id, key }: LiveObject): Representation {
  return { id, name: key.at(-1)! }
}

async function resourcesWith(context: Context, { key, parent }: LiveObject): Promise<LiveObject[]> {
  const all = await listOf(context, parent!, 'authorizationResource')
  return all.filter(({ representation }) => (representation.scopes as string[]).includes(key.at(-1)!))
}
