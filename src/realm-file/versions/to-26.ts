import { isList, isObject, type Json } from '../../kinds/json.ts'
import type { VersionStep } from './version-step.ts'

const ADMIN_TOOLS: readonly (Json | undefined)[] = ['admin-cli', 'security-admin-console']
const LIGHTWEIGHT = 'client.use.lightweight.access.token.enabled'

/** Gives the clients of admin tools all roles of their users, in lightweight access tokens. Keycloak: MigrateTo26_0_0. */
export const toVersion26: VersionStep = {
  version: '26.0.0',
  migrate(realm, { warn }) {
    const { clients } = realm
    if (!isList(clients)) return realm
    const migrated = clients.map((client, at) => {
      if (!isObject(client) || !ADMIN_TOOLS.includes(client.clientId)) return client
      const { fullScopeAllowed = true, attributes } = client
      const path = ['clients', at]
      const advice = 'remove keycloakVersion to declare another value'
      const replaced = { ...client }
      if (fullScopeAllowed !== true) {
        replaced.fullScopeAllowed = true
        warn([...path, 'fullScopeAllowed'], `client ${client.clientId}: fullScopeAllowed becomes true: ${advice}`)
      }
      if (isObject(attributes) && (attributes[LIGHTWEIGHT] ?? 'true') !== 'true') {
        replaced.attributes = { ...attributes, [LIGHTWEIGHT]: 'true' }
        warn([...path, 'attributes', LIGHTWEIGHT], `client ${client.clientId}: ${LIGHTWEIGHT} becomes true: ${advice}`)
      }
      return replaced
    })
    return { ...realm, clients: migrated }
  },
}
