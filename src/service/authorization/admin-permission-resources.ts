// The resources of the client `admin-permissions` that represent single objects. They are named after the ids of the objects.
import {
  ADMIN_PERMISSIONS,
  findPermissionType,
  type PermissionType,
  permissionTypeNames,
  permissionTypes,
} from '../../kinds/admin-permissions.ts'
import type { Json } from '../../kinds/json.ts'
import { ALL_PERMISSIONS } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { authorizationResources } from './authorization-writers.ts'

/** The resource type of a permission, and the objects that it is for: by id, by natural key where the type allows it, or by resource. */
export interface PermissionObjects {
  readonly type: Json | undefined
  /** Empty: all objects of the type. */
  readonly objects: readonly string[]
}

/** Returns the names of the resources of objects, and creates those that are missing. @throws invalid for an unknown type or object */
export async function ensureObjectResources(
  context: WriteContext,
  server: LiveObject,
  { type: declaredType, objects }: PermissionObjects,
): Promise<string[]> {
  const type = findPermissionType(declaredType)
  if (!type) throw invalid(`resourceType must be one of ${permissionTypeNames.join(', ')}`)
  if (!objects.length) return [type]
  const parents = { kind: 'client', ids: [server.id] } as const
  const resources = await authorizationResources.list(context, { parents })
  const namesByIdOrName = new Map(
    resources.flatMap(({ id, key }) => [id, key.at(-1)!].map((text) => [text, key.at(-1)!])),
  )
  const unresolved = objects.filter((object) => !namesByIdOrName.has(object))
  const ids = await findIds(context, type, unresolved)
  const missing = [...new Set(ids.values())].filter((id) => !namesByIdOrName.has(id))
  if (missing.length)
    await authorizationResources.create(
      context,
      missing.map((name) => ({
        parent: { kind: 'client', id: server.id, key: server.key },
        representation: { name, scopes: [...permissionTypes[type].scopes] },
      })),
    )
  return [...new Set(objects.map((object) => namesByIdOrName.get(object) ?? ids.get(object)!))]
}

/** Returns the ids of objects by what they are called in a permission. One statement, or none. @throws invalid if one does not exist */
async function findIds(
  context: Context,
  type: PermissionType,
  objects: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const find = await loadObjects(context, type, objects)
  return new Map(
    objects.map((object) => {
      const live = find(object)
      if (!live) throw invalid(`there is no ${permissionTypes[type].kind} ${object}`)
      return [object, live.id]
    }),
  )
}

/** Returns the object that is called by its id, or by its natural key where the type allows it. One statement. */
export async function findPermittedObject(
  context: Context,
  type: PermissionType,
  name: string,
): Promise<LiveObject | undefined> {
  return (await loadObjects(context, type, [name]))(name)
}

/** Loads objects, and returns a function that finds them by what they are called in a permission. One statement, or none. */
async function loadObjects(
  context: Context,
  type: PermissionType,
  objects: readonly string[],
): Promise<(object: string) => LiveObject | undefined> {
  if (!objects.length) return () => undefined
  const { kind, hasNames } = permissionTypes[type]
  const toKey = (name: string) => (kind === 'user' ? name.toLowerCase() : name)
  const keys = hasNames ? objects.map((object) => [toKey(object)]) : []
  const live = await listObjects(context, kind, { ids: objects, ...(hasNames && { keys }) })
  const byId = new Map(live.map((object) => [object.id, object]))
  const byName = new Map(hasNames ? live.map((object) => [object.key[0]!, object]) : [])
  return (object) => byId.get(object) ?? byName.get(toKey(object))
}

/** Deletes the resources that represent objects, and the permissions that have no other resource. No statement in a realm without policies. */
export async function deleteObjectResources(context: WriteContext, objects: readonly LiveObject[]): Promise<void> {
  const policies = objects.length ? await context.findAdminPolicies(context) : undefined
  if (policies?.version !== 2) return
  const keys = objects.map(({ id }) => ['client', ADMIN_PERMISSIONS, id])
  const resources = await authorizationResources.list(context, { keys })
  // The permissions on an object that does not exist give nothing.
  if (resources.length) await authorizationResources.delete({ ...context, permissions: ALL_PERMISSIONS }, resources)
}

const invalid = (reason: string) => failure('invalid', 'unknown_error', { form: 'error', reason })
