// Clients in the format of Keycloak's first versions: applications and third-party clients, with their scope mappings.
import { isList, isObject, type Representation } from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Reads applications and third-party clients as clients. Keycloak: RepresentationToModel.convertDeprecatedApplications. */
export const applications: FormatConverter = {
  read: (realm, context) =>
    readScopeMappings(
      lists.reduce((converted, list) => readClients(converted, list, context), realm),
      context,
    ),
  write: (realm) => realm,
}

/** A field of a realm that lists clients in the format of the first versions. */
interface LegacyList {
  readonly field: string
  /** The settings of each client, which it cannot declare. */
  readonly settings: Representation
}

const lists: readonly LegacyList[] = [
  { field: 'applications', settings: {} },
  { field: 'oauthClients', settings: { consentRequired: true, fullScopeAllowed: false } },
]

/** Keycloak: the name of an application is the client id, and a declared client id is ignored. */
function readClients(realm: Representation, list: LegacyList, { recordMove }: ConversionContext): Representation {
  const { [list.field]: legacy = null, ...rest } = realm
  const clients = rest.clients ?? []
  if (!isList(legacy) || !isList(clients)) return realm
  const converted = legacy.map((client, at) => {
    const path = ['clients', clients.length + at]
    recordMove(path, [list.field, at])
    if (!isObject(client)) return client
    const { name, clientId, ...fields } = client
    const key = name ?? clientId
    if (name !== undefined) recordMove([...path, 'clientId'], [list.field, at, 'name'])
    return { ...(key !== undefined && { clientId: key }), ...fields, ...list.settings }
  })
  return { ...rest, clients: [...clients, ...converted] }
}

/** Keycloak: uses these scope mappings if the realm declares none in the format of today. */
function readScopeMappings(realm: Representation, { recordMove, warn }: ConversionContext): Representation {
  const { applicationScopeMappings: mappings = null, ...rest } = realm
  if (mappings === null) return rest
  if ((rest.clientScopeMappings ?? null) !== null) {
    warn(['applicationScopeMappings'], 'applicationScopeMappings is ignored, since clientScopeMappings is declared')
    return rest
  }
  recordMove(['clientScopeMappings'], ['applicationScopeMappings'])
  return { ...rest, clientScopeMappings: mappings }
}
