// The fine-grained admin permissions of a caller: the scopes of objects that the policies of a realm grant or deny.
import { findPermissionType, type PermissionType, permissionTypes } from '../../kinds/admin-permissions.ts'
import { listManagedScopes, parseManagedResource } from '../../kinds/management-permissions.ts'
import { type AccessDecision, decideAccess } from './access-decisions.ts'
import type { EvaluationContext } from './identity.ts'
import { createPolicyEvaluation } from './policy-evaluation.ts'
import type { ProtectedResource, ResourceServer } from './resource-server.ts'

/** Whether a scope is granted (true) or denied (false). */
export interface ScopeGrants {
  /** For objects without a decision of their own. Absent: neither granted nor denied. */
  readonly all?: boolean | undefined
  /** By id of the object. */
  readonly byId: ReadonlyMap<string, boolean>
}

/** The version of fine-grained admin permissions that a realm uses. */
export type PermissionVersion = 1 | 2

/** The scopes that are granted or denied on the objects of a realm. */
export interface ObjectGrants {
  readonly version: PermissionVersion
  readonly find: (type: PermissionType, scope: string) => ScopeGrants
}

/** Collects decisions. Of several about the same object and scope, a denial counts. */
class GrantCollector {
  readonly #grants = new Map<string, { all?: boolean; readonly byId: Map<string, boolean> }>()

  /** Adds a decision about an object; without an id, about all objects of the type. */
  add(type: PermissionType, scope: string, { id, isGranted }: { readonly id?: string; readonly isGranted: boolean }) {
    const key = `${type} ${scope}`
    const grants = this.#grants.get(key) ?? { byId: new Map<string, boolean>() }
    this.#grants.set(key, grants)
    if (id === undefined) grants.all = isGranted && grants.all !== false
    else grants.byId.set(id, isGranted && grants.byId.get(id) !== false)
  }

  toGrants(version: PermissionVersion): ObjectGrants {
    return { version, find: (type, scope) => this.#grants.get(`${type} ${scope}`) ?? NO_GRANTS }
  }
}

const NO_GRANTS: ScopeGrants = { byId: new Map() }

/** Evaluates the permissions of version 2. A resource is named after its type, or after the id of an object. */
export function evaluateAdminPermissions(server: ResourceServer, context: EvaluationContext): ObjectGrants {
  const evaluation = createPolicyEvaluation(server, context)
  const resourcesByName = new Map(listOwnResources(server).map((resource) => [resource.name, resource]))
  const collector = new GrantCollector()
  for (const permission of server.policies.filter(({ fields }) => fields.type === 'scope')) {
    const { config, resources = [], scopes = [] } = permission.fields
    const type = findPermissionType(config?.defaultResourceType)
    if (!type) continue
    for (const name of resources.length ? resources : [type]) {
      const result = evaluation.evaluatePermission(permission, resourcesByName.get(name))
      if (!result) continue
      const decision = { ...(name !== type && { id: name }), isGranted: result.effect === 'PERMIT' }
      for (const scope of scopes.filter((scopeName) => permissionTypes[type].scopes.includes(scopeName)))
        collector.add(type, scope, decision)
    }
  }
  return collector.toGrants(2)
}

/** Evaluates the permissions of version 1, of which only grants count. The names of resources contain the ids of objects. */
export function evaluateManagementPermissions(settings: ResourceServer, context: EvaluationContext): ObjectGrants {
  // Another mode would permit what no policy grants.
  const server = { ...settings, enforcementMode: 'ENFORCING' } as const
  const requests = listOwnResources(server).flatMap((resource) => {
    const managed = parseManagedResource(resource.name)
    return managed ? listManagedScopes(managed.type).map((scope) => ({ resource, scopes: [scope] })) : []
  })
  const collector = new GrantCollector()
  for (const { type, id, scope } of decideAccess(server, context, requests).flatMap(toGrant))
    collector.add(type, scope, { ...(id !== undefined && { id }), isGranted: true })
  return collector.toGrants(1)
}

/** Returns the resources that no user owns. */
function listOwnResources({ resources }: ResourceServer): ProtectedResource[] {
  return resources.filter(({ owner }) => owner === undefined)
}

function toGrant({ request, effect, scopes }: AccessDecision) {
  const managed = parseManagedResource(request.resource!.name)!
  const scope = request.scopes[0]!
  return effect === 'PERMIT' && scopes.includes(scope) ? [{ ...managed, scope }] : []
}
