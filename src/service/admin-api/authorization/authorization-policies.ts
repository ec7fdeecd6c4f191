// The REST operations on the policies and permissions of resource servers.
import { isAdminPermissions } from '../../../kinds/admin-permissions.ts'
import { listPolicyTargets } from '../../../kinds/authorization-policy.ts'
import { isPolicyType } from '../../../kinds/authorization-policy-types.ts'
import { subtractKeys } from '../../../kinds/compare.ts'
import { type Json, omitUndefined, type Representation, readObject, readTexts } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { ensureObjectResources } from '../../authorization/admin-permission-resources.ts'
import { listPoliciesWithTarget } from '../../authorization/authorization-writers.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { findChild, type Query, toNewObject, toParent } from '../common/resource.ts'
import { filterPolicies } from './authorization-filters.ts'
import { toBriefScope } from './authorization-scopes.ts'
import {
  createPolicyRenderers,
  findDeclaredTargets,
  getRelationKeys,
  listTargetIds,
  resolveTargets,
  toBriefPolicy,
  toRelationValues,
  toStoredSettings,
} from './policy-representation.ts'
import {
  findByName,
  getResourceServer,
  listServerObjects,
  NOT_FOUND,
  requireName,
  type ServerObjectAddress,
  toPage,
} from './resource-servers.ts'

const KIND = 'authorizationPolicy'

/** The two representations of policies: with the fields of their types, or with settings. */
export type PolicyForm = 'typed' | 'generic'

/** Creates the operations that list, find, get and delete policies in one of their forms. Keycloak: PolicyService, PermissionService. */
export function createPolicyOperations(form: PolicyForm) {
  const render = async (context: Context, live: LiveObject) =>
    (await createPolicyRenderers(context, [live]))[form](live)
  return {
    /** Returns undefined if the resource or scope in the query does not exist. */
    async list(context: Context, client: string, query: Query): Promise<Representation[] | undefined> {
      const server = await getResourceServer(context, client, 'view-authorization')
      const policies = await listServerObjects(context, server, { kind: KIND, search: String(query.name ?? '') })
      const matches = await filterPolicies(context, { server, policies }, query)
      if (!matches) return undefined
      const page = toPage(matches, query)
      const renderers = await createPolicyRenderers(context, page)
      const representations = page.map(renderers[form])
      if (query.fields !== '*') return representations
      const targetIds = await listTargetIds(context, page)
      return representations.map((policy, at) => {
        const { resources, scopes } = targetIds[at]!
        return { ...policy, resources: resources!, scopes: scopes! }
      })
    },
    async find(context: Context, client: string, name: string): Promise<Representation | undefined> {
      const server = await getResourceServer(context, client, 'view-authorization')
      const live = await findByName(context, server, { kind: KIND, name })
      return live && render(context, live)
    },
    async get(context: Context, client: string, id: string): Promise<Representation> {
      const server = await getResourceServer(context, client, 'view-authorization')
      return render(context, await getLivePolicy(context, server, id))
    },
    async delete(context: WriteContext, client: string, id: string): Promise<void> {
      const live = await getLivePolicy(context, await getResourceServer(context, client, 'manage-authorization'), id)
      const representation = await render(context, live)
      await writers[KIND].delete(context, [live])
      describeAdminEvent(context, { representation })
    },
  }
}

/** Returns the resource server of a new policy. Throws not_found if the client or the type of the policy does not exist. */
export async function getServerForPolicyType(context: Context, client: string, type: unknown): Promise<LiveObject> {
  const server = await getResourceServer(context, client, 'manage-authorization')
  if (!isPolicyType(type)) throw failure('not_found', NOT_FOUND)
  return server
}

/** The body of a new policy, and the form of the representation to return. */
export interface PolicyToCreate {
  readonly body: Representation
  readonly form: PolicyForm
}

/** Creates a policy. Returns the declared fields, with ids for targets. Throws not_found if its type does not exist. */
export async function createPolicy(
  context: WriteContext,
  client: string,
  { body, form }: PolicyToCreate,
): Promise<Representation> {
  const fields = omitNulls(body)
  const server = await getServerForPolicyType(context, client, fields.type)
  const type = String(fields.type)
  requireName(fields)
  const targets: Record<string, Key[]> = {}
  const objects = await nameObjects(context, server, fields)
  for (const target of listPolicyTargets(type)) {
    const value = target.field === 'resources' && objects ? objects : findDeclaredTargets(target, fields)
    if (value !== undefined) Object.assign(targets, await resolveTargets(context, { server, target, value }))
  }
  const config = { ...toStoredSettings(type, fields), ...readFurtherSettings(type, fields) }
  const { id, name, description, logic, decisionStrategy } = fields
  const scalars = omitUndefined({ id, name, description, type, logic, decisionStrategy, config })
  const [live] = await writers[KIND].create(context, [
    { ...toNewObject({ ...scalars, ...toRelationValues(targets) }), parent: toParent(server) },
  ])
  const representation = await toCreatedRepresentation(context, live!, { body: fields, form })
  describeAdminEvent(context, { representation })
  return representation
}

/** Replaces a policy. Keycloak: undeclared targets are removed, except for resources, scopes and policies. */
export async function replacePolicy(
  context: WriteContext,
  { client, id }: ServerObjectAddress,
  declared: Representation,
): Promise<void> {
  const server = await getResourceServer(context, client, 'manage-authorization')
  const live = await getLivePolicy(context, server, id)
  const body = omitNulls(declared)
  const type = String(live.representation.type)
  const relations: Record<string, { add: Key[]; remove: Key[] }> = {}
  const objects = await nameObjects(context, server, { type, ...body })
  for (const target of listPolicyTargets(type)) {
    const declaredTargets = findDeclaredTargets(target, body) ?? (target.type === undefined ? undefined : [])
    const value = target.field === 'resources' && objects ? objects : declaredTargets
    if (value === undefined) continue
    for (const [field, next] of Object.entries(await resolveTargets(context, { server, target, value }))) {
      const now = getRelationKeys(live, field)
      relations[field] = { add: subtractKeys(next, now), remove: subtractKeys(now, next) }
    }
  }
  const now = readObject(live.representation.config)
  const config = { ...toStoredSettings(type, body, now), ...readFurtherSettings(type, body) }
  const paths = Object.keys({ ...now, ...config }).map((name) => [`config.${name}`, config[name] ?? null] as const)
  const set = {
    name: requireName(body),
    description: body.description ?? null,
    logic: body.logic ?? 'POSITIVE',
    decisionStrategy: body.decisionStrategy ?? 'UNANIMOUS',
    ...Object.fromEntries(paths),
  }
  const [updated] = await writers[KIND].update(context, [{ live, set, relations }])
  describeAdminEvent(context, {
    representation: await toCreatedRepresentation(context, updated!, { body, form: 'typed' }),
  })
}

/** Returns the names of the resources of a fine-grained admin permission; undefined for any other policy. */
async function nameObjects(
  context: WriteContext,
  server: LiveObject,
  body: Representation,
): Promise<string[] | undefined> {
  if (!isAdminPermissions(server.representation) || body.type !== 'scope') return undefined
  const type = body.resourceType ?? readObject(body.config).defaultResourceType
  return ensureObjectResources(context, server, { type, objects: readTexts(body.resources) })
}

/** The operations that list what is related to a policy. Each throws not_found if there is no such policy. */
export const policyRelations = {
  async associatedPolicies(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getResourceServer(context, client, 'view-authorization')
    const policies = await listTargetsByName(context, await getLivePolicy(context, server, id), 'policies')
    return policies.map((live) => {
      const { description } = live.representation
      return { ...toBriefPolicy(live), ...(description !== undefined && { description }) }
    })
  },
  async dependentPolicies(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getResourceServer(context, client, 'view-authorization')
    return (await listPoliciesWithTarget(context, 'policies', [await getLivePolicy(context, server, id)])).map(
      toBriefPolicy,
    )
  },
  async resources(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getResourceServer(context, client, 'view-authorization')
    const resources = await listTargetsByName(context, await getLivePolicy(context, server, id), 'resources')
    return resources.map(({ id: _id, key, representation: { displayName } }) =>
      omitUndefined({ name: key.at(-1)!, displayName, _id }),
    )
  },
  async scopes(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getResourceServer(context, client, 'view-authorization')
    const scopes = await listTargetsByName(context, await getLivePolicy(context, server, id), 'scopes')
    return scopes.map(toBriefScope)
  },
}

const targetKinds = {
  policies: KIND,
  resources: 'authorizationResource',
  scopes: 'authorizationScope',
} as const

/** Lists the objects that a policy has in a field, by name. */
async function listTargetsByName(
  context: Context,
  { parent, representation }: LiveObject,
  field: keyof typeof targetKinds,
): Promise<LiveObject[]> {
  const names = readTexts(representation[field])
  const all = await listServerObjects(context, parent!, { kind: targetKinds[field] })
  return all.filter(({ key }) => names.includes(key.at(-1)!))
}

async function getLivePolicy(context: Context, server: LiveObject, id: string): Promise<LiveObject> {
  const live = await findChild(context, server, { kind: KIND, id })
  if (!live) throw failure('not_found', NOT_FOUND)
  return live
}

/** Returns the settings of a body that are not targets. */
function readFurtherSettings(type: string, { config }: Representation): Representation {
  const targetSettings = listPolicyTargets(type).map(({ configKey: setting }) => setting)
  const settings = Object.entries(readObject(config))
  return Object.fromEntries(settings.filter(([name, value]) => value !== null && !targetSettings.includes(name)))
}

/** Returns a policy as the response to its creation, with the declared fields. Keycloak: owner, users and clients are those of the body. */
async function toCreatedRepresentation(
  context: Context,
  live: LiveObject,
  { body, form }: PolicyToCreate,
): Promise<Representation> {
  const renderers = await createPolicyRenderers(context, [live])
  const typed = renderers.typed(live)
  const [targetIds] = await listTargetIds(context, [live])
  const targets = listPolicyTargets(live.representation.type)
  const declaredTargets = targets.flatMap(({ field, type }): [string, Json][] => {
    const declared = body[field]
    if (declared === undefined) return []
    if (type === undefined) return [[field, targetIds![field]!]]
    return [[field, field === 'users' || field === 'clients' ? declared : typed[field]!]]
  })
  const fields = form === 'generic' ? { ...renderers.generic(live), config: body.config ?? {} } : typed
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => !targets.some(({ field }) => field === name))),
    ...Object.fromEntries(declaredTargets),
    ...(body.owner !== undefined && { owner: body.owner }),
  }
}
