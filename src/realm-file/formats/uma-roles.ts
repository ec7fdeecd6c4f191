// The role `uma_protection`, which every client with authorization services has.
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import { isList, isObject, type Json, type Representation, readObject } from '../../kinds/json.ts'
import { UMA_PROTECTION } from '../../kinds/role.ts'
import type { ConversionContext } from './format-converter.ts'

/** Adds the role to each client with authorization services, since documents refer to it without declaring it. */
export function addUmaRoles(realm: Representation, { recordMove }: ConversionContext): Representation {
  if (!isList(realm.clients) || !isObject(realm.roles ?? {})) return realm
  const roles = { ...readObject(realm.roles) }
  if (!isObject(roles.client ?? {})) return realm
  const clientRoles = { ...readObject(roles.client) }
  for (const [at, client] of realm.clients.entries()) {
    if (!isObject(client) || client.authorizationServicesEnabled !== true || isAdminPermissions(client)) continue
    const name = String(client.clientId)
    const declared = clientRoles[name] ?? []
    if (!isList(declared) || declared.some(isUmaRole)) continue
    recordMove(['roles', 'client', name, declared.length], ['clients', at, 'authorizationServicesEnabled'])
    clientRoles[name] = [...declared, { name: UMA_PROTECTION }]
    roles.client = clientRoles
  }
  return { ...realm, ...(Object.keys(roles).length && { roles }) }
}

const isUmaRole = (role: Json): boolean => isObject(role) && role.name === UMA_PROTECTION
