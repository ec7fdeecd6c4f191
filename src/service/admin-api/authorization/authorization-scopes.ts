// The REST operations on the authorization scopes of clients.
import { type Representation, readTexts } from '../../../kinds/json.ts'
import { listPoliciesWithTarget } from '../../authorization/authorization-writers.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { createPlainResource } from '../common/plain-resource.ts'
import { type AdminResource, createChildGetter, type ObjectAddress } from '../common/resource.ts'
import { toBriefPolicy } from './policy-representation.ts'
import {
  findByName,
  getAnyResourceServer,
  getConfigurableResourceServer,
  getResourceServer,
  listServerObjects,
  requireName,
  toPage,
} from './resource-servers.ts'

const kind = 'authorizationScope'
const VIEW = 'view-authorization'
const MANAGE = 'manage-authorization'

const getScope = createChildGetter({
  kind,
  getOwner: getAnyResourceServer,
  form: 'empty',
  notFound: 'There is no such scope',
})

const plainResource = createPlainResource({
  kind,
  view: VIEW,
  manage: MANAGE,
  getObject: getScope,
  getOwner: getAnyResourceServer,
  readBody: (body) => ({ ...omitNulls(body), name: requireName(body) }),
  // Keycloak: the events contain the whole scope, not the body.
  describeChange: (context, live) =>
    describeAdminEvent(context, { representation: toWireRepresentation(context.vault, live) }),
})

/** The REST operations on authorization scopes. Keycloak: ScopeService. */
export const authorizationScopes: AdminResource = {
  ...plainResource,
  async list(context, { owner }, query) {
    const server = await getResourceServer(context, owner!, VIEW)
    const byName = await listServerObjects(context, server, { kind, search: String(query.name ?? '') })
    const matches = query.scopeId ? byName.filter(({ id }) => id === query.scopeId) : byName
    return toPage(matches, query).map((live) => toWireRepresentation(context.vault, live))
  },
  /** Keycloak: a scope that has the name already is replaced. */
  async create(context, { owner }, body) {
    const server = await getConfigurableResourceServer(context, owner!)
    const existing = await findByName(context, server, { kind, name: requireName(body) })
    if (!existing) return plainResource.create(context, { owner: owner! }, body)
    await plainResource.replace(context, { owner: owner!, id: existing.id }, body)
    return existing.id
  },
  async replace(context, address, body) {
    await getConfigurableResourceServer(context, address.owner!)
    await plainResource.replace(context, address, body)
  },
  async delete(context, address) {
    await getConfigurableResourceServer(context, address.owner!)
    if ((await listLiveResourcesWithScope(context, await getScope(context, address))).length)
      throw failure('invalid', 'Scopes can not be removed while associated with resources.')
    await plainResource.delete(context, address)
  },
}

/** Creates a scope, or replaces the one that has the name. Returns it. */
export async function createScope(context: WriteContext, owner: string, body: Representation): Promise<Representation> {
  const id = await authorizationScopes.create(context, { owner }, body)
  return toWireRepresentation(context.vault, await getScope(context, { owner, id }))
}

/** Returns the scope with that name, if there is one. Two statements. */
export async function findScope(context: Context, client: string, name: string): Promise<Representation | undefined> {
  const live = await findByName(context, await getResourceServer(context, client, VIEW), { kind, name })
  return live && toWireRepresentation(context.vault, live)
}

/** Lists the permissions on a scope. */
export async function listPermissionsOnScope(context: Context, address: ObjectAddress): Promise<Representation[]> {
  requirePermissions(context, VIEW)
  return (await listPoliciesWithTarget(context, 'scopes', [await getScope(context, address)])).map(toBriefPolicy)
}

/** Lists the protected resources that have an authorization scope. */
export async function listResourcesWithScope(context: Context, address: ObjectAddress): Promise<Representation[]> {
  requirePermissions(context, VIEW)
  const resources = await listLiveResourcesWithScope(context, await getScope(context, address))
  return resources.map(({ id, key }) => ({ name: key.at(-1)!, _id: id }))
}

/** Returns the id and name of a scope. */
export function toBriefScope({ id, key }: LiveObject): Representation {
  return { id, name: key.at(-1)! }
}

async function listLiveResourcesWithScope(context: Context, { key, parent }: LiveObject): Promise<LiveObject[]> {
  const all = await listServerObjects(context, parent!, { kind: 'authorizationResource' })
  return all.filter(({ representation }) => readTexts(representation.scopes).includes(key.at(-1)!))
}
