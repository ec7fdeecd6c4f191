// What REST does with the scopes of clients that decide permissions.
import type { Representation } from '../../kinds/kind.ts'
import { describeEvent } from '../admin-events.ts'
import { namingAny } from '../authorization.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import type { LiveObject } from '../live.ts'
import { present } from '../present.ts'
import { replacement, withoutNulls } from '../put.ts'
import { briefPolicy } from './authorization-policy-wire.ts'
import type { Query } from './resource.ts'
import { newObject } from './resource.ts'
import { demandName, findIn, findNamed, getServer, listOf, paged, parentOf } from './resource-servers.ts'

const KIND = 'authorizationScope'

/** Keycloak: ScopeService. Where there is no such scope, undefined or false says so. */
export const authorizationScopes = {
  async list(context: Context, client: string, query: Query): Promise<Representation[]> {
    const server = await getServer(context, client, 'view-authorization')
    const found = await listOf(context, server, KIND, String(query.name ?? ''))
    const wanted = query.scopeId ? found.filter(({ id }) => id === query.scopeId) : found
    return paged(wanted, query).map((live) => present(context.vault, live))
  },
  async find(context: Context, client: string, name: string): Promise<Representation | undefined> {
    const live = await findNamed(context, await getServer(context, client, 'view-authorization'), KIND, name)
    return live && present(context.vault, live)
  },
  async get(context: Context, client: string, id: string): Promise<Representation | undefined> {
    const live = await findIn(context, await getServer(context, client, 'view-authorization'), KIND, id)
    return live && present(context.vault, live)
  },
  /** Keycloak: a scope of that name that is there already becomes what is stated. */
  async create(context: WriteContext, client: string, body: Representation): Promise<Representation> {
    const server = await getServer(context, client, 'manage-authorization')
    const stated = withoutNulls(body)
    const there = await findNamed(context, server, KIND, demandName(stated))
    const [live] = there
      ? await writers[KIND].update(context, [{ live: there, set: replacement(there, stated) }])
      : await writers[KIND].create(context, [{ ...newObject(stated), parent: parentOf(server) }])
    const shown = present(context.vault, live!)
    describeEvent(context, { representation: shown })
    return shown
  },
  async replace(context: WriteContext, client: string, id: string, body: Representation): Promise<boolean> {
    const live = await findIn(context, await getServer(context, client, 'manage-authorization'), KIND, id)
    if (!live) return false
    demandName(body)
    const [updated] = await writers[KIND].update(context, [{ live, set: replacement(live, body) }])
    describeEvent(context, { representation: present(context.vault, updated!) })
    return true
  },
  async delete(context: WriteContext, client: string, id: string): Promise<boolean> {
    const server = await getServer(context, client, 'manage-authorization')
    const live = await findIn(context, server, KIND, id)
    if (!live) return false
    if ((await resourcesWith(context, server, live)).length)
      throw failure('invalid', 'Scopes can not be removed while associated with resources.')
    await writers[KIND].delete(context, [live])
    describeEvent(context, { representation: present(context.vault, live) })
    return true
  },
  async permissions(context: Context, client: string, id: string): Promise<Representation[] | undefined> {
    const live = await findIn(context, await getServer(context, client, 'view-authorization'), KIND, id)
    return live && (await namingAny(context, 'scopes', [live])).map(briefPolicy)
  },
  async resources(context: Context, client: string, id: string): Promise<Representation[] | undefined> {
    const server = await getServer(context, client, 'view-authorization')
    const live = await findIn(context, server, KIND, id)
    return live && (await resourcesWith(context, server, live)).map(({ id, key }) => ({ name: key.at(-1)!, _id: id }))
  },
}

/** Scopes by name and id alone. */
export function briefScope({ id, key }: LiveObject): Representation {
  return { id, name: key.at(-1)! }
}

async function resourcesWith(context: Context, server: LiveObject, scope: LiveObject): Promise<LiveObject[]> {
  const all = await listOf(context, server, 'authorizationResource')
  return all.filter(({ representation }) => (representation.scopes as string[]).includes(scope.key.at(-1)!))
}
