// Fine-grained admin permissions of version 1: the resources and permissions of the client with the admin roles.
import { getManagementClientId, type ManagedTypeName, managedTypes } from '../../kinds/management-permissions.ts'
import { ALL_PERMISSIONS } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import type { Writers } from '../objects/writers.ts'
import { deleteObjectResources } from './admin-permission-resources.ts'
import { authorizationPolicies, authorizationResources, authorizationScopes } from './authorization-writers.ts'

/** The object whose permissions are managed; of type `users`, the id is ignored. */
export interface ManagedTarget {
  readonly type: ManagedTypeName
  readonly id: string
}

/** The resource of an object, and the permissions on it by scope. */
export interface ManagementPermissions {
  readonly resource: LiveObject
  readonly permissions: ReadonlyMap<string, LiveObject>
}

/** Returns the permissions on an object; undefined if they are not enabled. Two statements at most. */
export async function findManagementPermissions(
  context: Context,
  object: ManagedTarget,
): Promise<ManagementPermissions | undefined> {
  const [resource] = await listManagementObjects(context, authorizationResources, [nameResource(object)])
  if (!resource) return undefined
  const scopes = new Map(managedTypes[object.type].scopes.map((scope) => [namePermission(object, scope), scope]))
  const permissions = await listManagementObjects(context, authorizationPolicies, [...scopes.keys()])
  return { resource, permissions: new Map(permissions.map((live) => [scopes.get(live.key.at(-1)!)!, live])) }
}

/** Creates the resource of an object and the permissions on it, or those of them that are missing. The number of statements is constant. */
export async function enableManagementPermissions(
  context: WriteContext,
  management: LiveObject,
  object: ManagedTarget,
): Promise<void> {
  const { scopes, resourceType, decisionStrategy } = managedTypes[object.type]
  const { kind, id, key } = management
  // Permissions without policies give nothing.
  const privilegedContext = { ...context, permissions: ALL_PERMISSIONS }
  const create = async (writers: Writers, names: readonly string[], represent: (at: number) => object) => {
    const present = new Set((await listManagementObjects(context, writers, names)).map((live) => live.key.at(-1)))
    const missing = names.flatMap((name, at) =>
      present.has(name) ? [] : [{ parent: { kind, id, key }, representation: { name, ...represent(at) } }],
    )
    if (missing.length) await writers.create(privilegedContext, missing)
  }
  const resource = nameResource(object)
  await create(authorizationScopes, scopes, () => ({}))
  await create(authorizationResources, [resource], () => ({
    scopes: [...scopes],
    ...(resourceType !== undefined && { type: resourceType }),
  }))
  const permissions = scopes.map((scope) => namePermission(object, scope))
  await create(authorizationPolicies, permissions, (at) => ({
    type: 'scope',
    decisionStrategy,
    resources: [resource],
    scopes: [scopes[at]!],
  }))
}

/** Deletes the resource of an object and the permissions on it. */
export async function disableManagementPermissions(context: WriteContext, object: ManagedTarget): Promise<void> {
  const existing = await findManagementPermissions(context, object)
  if (!existing) return
  // In version 1, a deletion gives nothing.
  const privilegedContext = { ...context, permissions: ALL_PERMISSIONS }
  await authorizationPolicies.delete(privilegedContext, [...existing.permissions.values()])
  await authorizationResources.delete(privilegedContext, [existing.resource])
}

/**
 * Returns writers that delete, with objects of a kind, the permissions on them; those on the roles of clients too. Keycloak: the permissions
 * on a deleted identity provider remain.
 */
export function withManagementPermissions(type: 'group' | 'client' | 'role', writers: Writers): Writers {
  return {
    ...writers,
    async delete(context, objects) {
      const deleted = objects.map(({ id }) => nameResource({ type, id }))
      const parents = { kind: 'client', ids: objects.map(({ id }) => id) } as const
      const roles = type === 'client' && objects.length ? await listObjects(context, 'role', { parents }) : []
      const names = [...deleted, ...roles.map(({ id }) => nameResource({ type: 'role', id }))]
      await authorizationResources.delete(
        { ...context, permissions: ALL_PERMISSIONS },
        await listManagementObjects(context, authorizationResources, names),
      )
      await deleteObjectResources(context, [...objects, ...roles])
      await writers.delete(context, objects)
    },
  }
}

const nameResource = ({ type, id }: ManagedTarget): string => managedTypes[type].nameResource(id)

const namePermission = ({ type, id }: ManagedTarget, scope: string): string =>
  managedTypes[type].namePermission(scope, id)

/** Returns the objects with these names of the client with the admin roles. One statement, or none. */
async function listManagementObjects(
  context: Context,
  writers: Writers,
  names: readonly string[],
): Promise<LiveObject[]> {
  if (!names.length) return []
  const client = getManagementClientId(context.realm.name)
  return writers.list(context, { keys: names.map((name) => ['client', client, name]) })
}
