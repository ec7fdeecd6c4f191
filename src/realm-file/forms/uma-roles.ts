// The role that comes with authorization services, stated: documents name it without stating it.
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { UMA_PROTECTION } from '../../service/clients/resource-servers.ts'
import { isObject } from '../form.ts'
import type { Notes } from './form.ts'

/** The realm with the role of each client that decides permissions. */
export function withUmaRoles(realm: Representation, { moved }: Pick<Notes, 'moved'>): Representation {
  if (!Array.isArray(realm.clients) || !isObject(realm.roles ?? {})) return realm
  const roles = { ...(realm.roles as Representation | undefined) }
  if (!isObject(roles.client ?? {})) return realm
  const ofClients = { ...(roles.client as Representation | undefined) }
  for (const [at, client] of realm.clients.entries()) {
    if (!isObject(client) || client.authorizationServicesEnabled !== true || isAdminPermissions(client)) continue
    const name = String(client.clientId)
    const own = ofClients[name] ?? []
    if (!Array.isArray(own) || own.some((role) => isNamed(role))) continue
    moved(['roles', 'client', name, own.length], ['clients', at, 'authorizationServicesEnabled'])
    ofClients[name] = [...own, { name: UMA_PROTECTION }]
    roles.client = ofClients
  }
  return { ...realm, ...(Object.keys(roles).length && { roles }) }
}

function isNamed(role: Json): boolean {
  return isObject(role) && role.name === UMA_PROTECTION
}
