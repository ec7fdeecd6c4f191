// The client `admin-permissions`, of which documents and exports may declare only a part.
import { ADMIN_PERMISSIONS, permissionScopes, permissionTypes } from '../../kinds/admin-permissions.ts'
import { isList, isObject, type Json, type Representation, readObject } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import type { ConversionContext } from './format-converter.ts'

/**
 * Adds the scopes and resources that the client always has. They cannot be changed by a declaration. Returns any other client, and one
 * without authorization services, as it is. Keycloak: imports keep them too.
 */
export function completeAdminPermissions(
  client: Representation,
  { path, realm }: { readonly path: DocumentPath; readonly realm: Representation },
  { recordMove, warn }: ConversionContext,
): Representation {
  const { clientId, authorizationSettings = null, authorizationServicesEnabled = true } = client
  const isDeclared = String(realm.adminPermissionsEnabled) === 'true' || authorizationSettings !== null
  if (clientId !== ADMIN_PERMISSIONS || !isDeclared || String(authorizationServicesEnabled) !== 'true') return client
  const scopes = copyList(client.authorizationScopes)
  const resources = copyList(client.authorizationResources)
  if (!scopes || !resources) return client
  const recordAddition = (field: string, at: number) => recordMove([...path, field, at], [...path, 'clientId'])
  for (const name of permissionScopes) {
    if (findByName(scopes, name) >= 0) continue
    recordAddition('authorizationScopes', scopes.length)
    scopes.push({ name })
  }
  for (const [name, { scopes: permittedScopes }] of Object.entries(permissionTypes)) {
    const declared = findByName(resources, name)
    const at = declared < 0 ? resources.length : declared
    const resource = declared < 0 ? { name } : readObject(resources[at])
    if (declared < 0) recordAddition('authorizationResources', at)
    else if (!hasScopes(resource, permittedScopes))
      warn(
        [...path, 'authorizationSettings', 'resources'],
        `client ${ADMIN_PERMISSIONS}: the declared scopes of resource ${name} are ignored, since it always has ${permittedScopes.join(', ')}`,
      )
    resources[at] = { ...resource, type: name, scopes: [...permittedScopes] }
  }
  return {
    ...client,
    authorizationServicesEnabled: true,
    authorizationScopes: scopes,
    authorizationResources: resources,
  }
}

/** Returns a copy of the list, an empty one if it is absent; undefined for any other value. */
function copyList(value: Json | undefined): Json[] | undefined {
  if (value === undefined || value === null) return []
  return isList(value) ? [...value] : undefined
}

const findByName = (list: readonly Json[], name: string): number =>
  list.findIndex((element) => isObject(element) && element.name === name)

/** Whether the resource declares exactly these scopes, or none. */
function hasScopes({ scopes }: Representation, expected: readonly string[]): boolean {
  if (scopes === undefined) return true
  return isList(scopes) && scopes.length === expected.length && expected.every((name) => scopes.includes(name))
}
