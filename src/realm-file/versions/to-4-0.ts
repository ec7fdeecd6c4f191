import { isList, isObject, type Json, type Representation, readObject } from '../../kinds/json.ts'
import { lacksAssignedScope, usesProtocol } from './client-scopes.ts'
import type { VersionStep } from './version-step.ts'

const OFFLINE_ACCESS = 'offline_access'

/**
 * Offline access of clients is a client scope instead of a role in their scope, and clients without default client scopes appear themselves
 * on the consent page. Keycloak: MigrateTo4_0_0.
 */
export const toVersion4_0: VersionStep = {
  version: '4.0.0',
  migrate(realm, { warn }) {
    const { clients, scopeMappings: mappings } = realm
    if (!isList(clients)) return realm
    const mappedClients = new Set(isList(mappings) ? mappings.filter(mapsOfflineAccess).map(getClient) : [])
    const isOffline = (client: Representation) =>
      usesProtocol(client) && (hasFullScope(client) || mappedClients.has(client.clientId))
    const needsScope = (client: Representation) => isOffline(client) && lacksAssignedScope(client, OFFLINE_ACCESS)
    const changed = clients.map((client, at) => {
      if (!isObject(client)) return client
      const path = ['clients', at]
      const name = `client ${client.clientId}`
      const { optionalClientScopes: optional } = client
      if (needsScope(client)) warn(path, `${name} gets the optional client scope ${OFFLINE_ACCESS}`)
      if (needsConsent(client)) warn(path, `${name} is displayed on the consent page`)
      return {
        ...client,
        ...(needsScope(client) && { optionalClientScopes: [...(isList(optional) ? optional : []), OFFLINE_ACCESS] }),
        ...(needsConsent(client) && {
          attributes: { ...readObject(client.attributes), ...getConsentSettings(client) },
        }),
      }
    })
    const limited = new Set(
      clients.filter((client) => isObject(client) && isOffline(client) && !hasFullScope(client)).map(getClient),
    )
    return {
      ...realm,
      clients: changed,
      ...(isList(mappings) && {
        scopeMappings: mappings.map((mapping) =>
          isObject(mapping) && mapsOfflineAccess(mapping) && limited.has(getClient(mapping))
            ? {
                ...mapping,
                roles: isList(mapping.roles) ? mapping.roles.filter((role) => role !== OFFLINE_ACCESS) : [],
              }
            : mapping,
        ),
      }),
    }
  },
}

/** Returns the client of a scope mapping, or the client id of a client. */
const getClient = (value: Json): Json | undefined => (isObject(value) ? (value.clientId ?? value.client) : undefined)

const mapsOfflineAccess = (mapping: Json): boolean =>
  isObject(mapping) && isList(mapping.roles) && mapping.roles.includes(OFFLINE_ACCESS)

/** Keycloak: by default a client has the full scope unless it requires consent. */
const hasFullScope = ({ fullScopeAllowed, consentRequired }: Representation): boolean =>
  (fullScopeAllowed ?? consentRequired !== true) === true

function needsConsent({ consentRequired, defaultClientScopes: scopes = null, optionalClientScopes }: Representation) {
  const isEmpty = scopes === null ? isList(optionalClientScopes) : isList(scopes) && !scopes.length
  return consentRequired === true && isEmpty
}

const getConsentSettings = ({ clientId, name }: Representation): Representation => ({
  'display.on.consent.screen': 'true',
  'consent.screen.text': String(name ?? clientId),
})
