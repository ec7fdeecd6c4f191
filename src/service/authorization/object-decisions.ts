// The decision about scopes of an object by fine-grained admin permissions of version 2, with its explanation.
import {
  ADMIN_PERMISSIONS,
  findPermissionType,
  type PermissionType,
  permissionTypeNames,
  permissionTypes,
} from '../../kinds/admin-permissions.ts'
import { getNameFromPath } from '../../kinds/group.ts'
import { selectGroupsOfUsers } from '../../store/groups.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import type { AccessDecision } from '../policy-evaluation/access-decisions.ts'
import type { NamedResource } from '../policy-evaluation/access-requests.ts'
import type { EvaluationContext } from '../policy-evaluation/identity.ts'
import { evaluateAdminPermissions } from '../policy-evaluation/object-grants.ts'
import { createPolicyEvaluation } from '../policy-evaluation/policy-evaluation.ts'
import type { Policy, ResourceServer } from '../policy-evaluation/resource-server.ts'
import { findPermittedObject } from './admin-permission-resources.ts'
import { type GrantedObject, isScopeGranted } from './scope-rules.ts'

/** A resource type, and the objects that are requested. */
export interface RequestedObjects {
  readonly type: string | undefined
  readonly resources: readonly NamedResource[]
}

/**
 * Decides about scopes of an object; of all objects of the type, if it does not exist. Keycloak: of several objects, only about the first.
 * Two statements at most.
 *
 * @throws invalid without a resource type or object
 */
export async function decideObjectAccess(
  context: Context,
  { server, evaluation }: { readonly server: ResourceServer; readonly evaluation: EvaluationContext },
  { type: typeName, resources: [resource] }: RequestedObjects,
): Promise<AccessDecision[]> {
  const type = findPermissionType(typeName)
  if (!type) throw failure('invalid', `resourceType must be one of ${permissionTypeNames.join(', ')}`)
  const name = resource?.name ?? resource?.id
  if (!resource || name === undefined)
    throw failure('invalid', `Name an object of ${ADMIN_PERMISSIONS} in resources, by its id or name`)
  const live = await findPermittedObject(context, type, name)
  const memberships =
    type === 'Users' && live && (await selectGroupsOfUsers(context.tx, context.realm.number, [live.id]))
  const object = { type, id: live?.id, groups: memberships ? memberships.get(live!.id) : undefined }
  const { scopes: allScopes } = permissionTypes[type]
  const requested = resource.scopes.length ? allScopes.filter((scope) => resource.scopes.includes(scope)) : allScopes
  return decide(server, evaluation, { object, requested, name: live ? toDisplayName(live) : type })
}

interface ObjectRequest {
  readonly object: GrantedObject
  readonly requested: readonly string[]
  /** The display name of the object. */
  readonly name: string
}

function decide(
  server: ResourceServer,
  evaluation: EvaluationContext,
  { object, requested, name }: ObjectRequest,
): AccessDecision[] {
  const applicable = server.policies.filter((policy) => listDecidedScopes(policy, object, requested).length)
  const { evaluatePermission } = createPolicyEvaluation(server, evaluation)
  const permissions = applicable.flatMap((permission) => evaluatePermission(permission, undefined) ?? [])
  if (!permissions.length) return []
  const grants = evaluateAdminPermissions(server, evaluation)
  const decided = permissions.flatMap(({ policy }) => listDecidedScopes(policy, object, requested))
  const scopes = requested.filter((scope) => decided.includes(scope))
  const granted = scopes.filter((scope) => isScopeGranted(grants, scope, object))
  const id = server.resources.find((resource) => resource.name === (object.id ?? object.type))?.id ?? ''
  const resource = { id, name, isOwnerManaged: false, uris: [], scopes: permissionTypes[object.type].scopes }
  return [
    granted.length
      ? { request: { resource, scopes }, effect: 'PERMIT', scopes: granted, permissions }
      : { request: { resource, scopes }, effect: 'DENY', scopes, permissions },
  ]
}

/** Returns the requested scopes of an object about which a policy decides. */
function listDecidedScopes({ fields }: Policy, object: GrantedObject, requested: readonly string[]): string[] {
  const type = findPermissionType(fields.config?.defaultResourceType)
  if (fields.type !== 'scope' || !type) return []
  const { resources = [], scopes = [] } = fields
  const covers = (ofType: PermissionType, ids: readonly string[]) =>
    type === ofType && (!resources.length || resources.some((name) => name === type || ids.includes(name)))
  if (covers(object.type, object.id === undefined ? [] : [object.id]))
    return requested.filter((scope) => scopes.includes(scope))
  const { groups = [], type: objectType } = object
  if (!groups.length || !covers('Groups', groups)) return []
  const { scopeAliases = {} } = permissionTypes[objectType]
  return requested.filter((scope) => scopeAliases[scope]?.some((alias) => scopes.includes(alias)))
}

function toDisplayName({ kind, key }: LiveObject): string {
  return kind === 'group' ? getNameFromPath(key[0]!) : key.at(-1)!
}
