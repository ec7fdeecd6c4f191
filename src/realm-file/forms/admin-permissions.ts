// The client that decides what administrators may do with single objects, whole: documents and exports may declare parts of it.
import { ADMIN_PERMISSIONS, permissionScopes, permissionTypes } from '../../kinds/admin-permissions.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Path } from '../../lib/position.ts'
import { isObject } from '../form.ts'
import type { Notes } from './form.ts'

/**
 * Returns the client with every scope and resource that it always has, which its own declaration of them does not change. Any other
 * client, and one of that name that decides nothing, is returned as it is. Keycloak: imports keep them too.
 */
export function withAdminPermissions(
  client: Representation,
  path: Path,
  realm: Representation,
  notes: Notes,
): Representation {
  const { clientId, authorizationSettings = null, authorizationServicesEnabled = true } = client
  const isDeclared = String(realm.adminPermissionsEnabled) === 'true' || authorizationSettings !== null
  if (clientId !== ADMIN_PERMISSIONS || !isDeclared || String(authorizationServicesEnabled) !== 'true') return client
  const scopes = listOf(client.authorizationScopes)
  const resources = listOf(client.authorizationResources)
  if (!scopes || !resources) return client
  const added = (field: string, at: number) => notes.moved([...path, field, at], [...path, 'clientId'])
  for (const name of permissionScopes) {
    if (scopes.some((scope) => isObject(scope) && scope.name === name)) continue
    added('authorizationScopes', scopes.length)
    scopes.push({ name })
  }
  for (const [name, { scopes: own }] of Object.entries(permissionTypes)) {
    const declared = resources.findIndex((resource) => isObject(resource) && resource.name === name)
    const at = declared < 0 ? resources.length : declared
    const resource = (resources[at] ?? { name }) as Representation
    if (declared < 0) added('authorizationResources', at)
    else if (!isSame(resource.scopes, own))
      notes.note(
        [...path, 'authorizationSettings', 'resources'],
        `client ${ADMIN_PERMISSIONS}: the declared scopes of resource ${name} are ignored, since it always has ${own.join(', ')}`,
      )
    resources[at] = { ...resource, type: name, scopes: [...own] }
  }
  return {
    ...client,
    authorizationServicesEnabled: true,
    authorizationScopes: scopes,
    authorizationResources: resources,
  }
}

/** A copy of the list, empty where there is none; undefined where it is something else. */
function listOf(value: Json | undefined): Json[] | undefined {
  return value === undefined || value === null ? [] : Array.isArray(value) ? [...value] : undefined
}

function isSame(declared: Json | undefined, scopes: readonly string[]): boolean {
  return declared === undefined || (Array.isArray(declared) && declared.toSorted().join() === scopes.toSorted().join())
}
