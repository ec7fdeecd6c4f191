// Clients that decide permissions: what such a client has without a document saying so.
import type { Json } from '../../kinds/fields.ts'
import type { Representation } from '../../kinds/kind.ts'
import { isObject } from '../form.ts'
import type { Form } from '../reshape.ts'

/** Keycloak: the role with which a client may manage its resources; its own account has it. */
const UMA_PROTECTION = 'uma_protection'

/** The role that comes with authorization services, stated: documents name it without stating it. */
export const authorization: Form = {
  read(realm, { moved }) {
    if (!Array.isArray(realm.clients) || !isObject(realm.roles ?? {})) return realm
    const roles = { ...(realm.roles as Representation | undefined) }
    if (!isObject(roles.client ?? {})) return realm
    const ofClients = { ...(roles.client as Representation | undefined) }
    for (const [at, client] of realm.clients.entries()) {
      if (!isObject(client) || client.authorizationServicesEnabled !== true) continue
      const name = String(client.clientId)
      const own = ofClients[name] ?? []
      if (!Array.isArray(own) || own.some((role) => isNamed(role))) continue
      moved(['roles', 'client', name, own.length], ['clients', at, 'authorizationServicesEnabled'])
      ofClients[name] = [...own, { name: UMA_PROTECTION }]
      roles.client = ofClients
    }
    return { ...realm, ...(Object.keys(roles).length && { roles }) }
  },
  write: (realm) => realm,
}

function isNamed(role: Json): boolean {
  return isObject(role) && role.name === UMA_PROTECTION
}
