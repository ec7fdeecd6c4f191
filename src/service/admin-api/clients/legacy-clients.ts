// Clients of the legacy API. Keycloak: ApplicationRepresentation.
import { builtInObjects } from '../../../kinds/built-in/index.ts'
import { type Representation, readObject, readObjects } from '../../../kinds/json.ts'
import type { AdminResource } from '../common/resource.ts'
import { clients } from './clients.ts'

const DEVICE_GRANT = 'oauth2.device.authorization.grant.enabled'

/** The names of the built-in protocol mappers that add a claim to tokens. Keycloak: its import reads name, username and email in this way. */
const mapperNames: Readonly<Record<string, readonly string[]>> = {
  name: ['full name', 'given name', 'family name'],
  username: ['username'],
  profile: ['profile'],
  picture: ['picture'],
  website: ['website'],
  email: ['email'],
  gender: ['gender'],
  locale: ['locale'],
  address: ['address'],
  phone: ['phone number'],
}

/** The client scopes that have these protocol mappers. */
const SCOPES: readonly string[] = ['profile', 'email', 'address', 'phone']

/** The REST operations on clients in the legacy API. */
export const legacyClients: AdminResource = {
  ...clients,
  async list(context, address, query) {
    return (await clients.list(context, address, query)).map(toApplication)
  },
  async get(context, address) {
    return toApplication(await clients.get(context, address))
  },
  async create(context, address, body) {
    return clients.create(context, address, readApplication(body, {}))
  },
  async replace(context, address, body) {
    const isLegacy = Object.keys(body).some(
      (field) => field === 'claims' || field === 'oauth2DeviceAuthorizationGrantEnabled',
    )
    const current = isLegacy ? await clients.get(context, address) : {}
    await clients.replace(context, address, readApplication(body, current))
  },
}

/** Returns a client with the fields of the legacy API. A client has no template: templates are client scopes. */
function toApplication(client: Representation): Representation {
  return {
    ...client,
    ...(client.directAccessGrantsEnabled === true &&
      client.standardFlowEnabled === false && { directGrantsOnly: true }),
    useTemplateConfig: false,
    useTemplateScope: false,
    useTemplateMappers: false,
    oauth2DeviceAuthorizationGrantEnabled: hasDeviceGrant(client),
    claims: listClaims(client),
  }
}

/** Returns the fields of a client in the legacy API as those of a client. Legacy fields count where they differ from the current client. */
function readApplication(
  { oauth2DeviceAuthorizationGrantEnabled: device = null, claims = null, ...client }: Representation,
  current: Representation,
): Representation {
  return {
    ...client,
    ...(device !== null &&
      device !== hasDeviceGrant(current) && {
        attributes: { ...readObject(client.attributes ?? current.attributes), [DEVICE_GRANT]: String(device) },
      }),
    ...changeMappers(client, current, readObject(claims)),
  }
}

const hasDeviceGrant = ({ attributes }: Representation): boolean => readObject(attributes)[DEVICE_GRANT] === 'true'

/** Returns whether tokens contain each claim by a protocol mapper of the client. */
function listClaims({ protocolMappers }: Representation): Record<string, boolean> {
  const mappers = readObjects(protocolMappers)
  return Object.fromEntries(
    Object.entries(mapperNames).map(([claim, names]) => [
      claim,
      names.every((name) => mappers.some((mapper) => isBuiltInMapper(mapper, name))),
    ]),
  )
}

/** Returns the protocol mappers of a client whose claims change; no field if none does. */
function changeMappers(client: Representation, current: Representation, claims: Representation): Representation {
  const currentClaims = listClaims(current)
  const changed = Object.keys(mapperNames).filter(
    (claim) => (claims[claim] ?? currentClaims[claim]) !== currentClaims[claim],
  )
  if (!changed.length) return {}
  const mappers = readObjects(client.protocolMappers ?? current.protocolMappers)
  const namesOf = (value: boolean) =>
    changed.filter((claim) => claims[claim] === value).flatMap((claim) => mapperNames[claim]!)
  const remaining = mappers.filter((mapper) => !namesOf(false).some((name) => isBuiltInMapper(mapper, name)))
  const missing = namesOf(true).filter((name) => !remaining.some((mapper) => mapper.name === name))
  return { protocolMappers: [...remaining, ...missing.map((name) => getBuiltInMappers().get(name)!)] }
}

const isBuiltInMapper = ({ name, protocolMapper }: Representation, builtInName: string): boolean =>
  name === builtInName && protocolMapper === getBuiltInMappers().get(builtInName)!.protocolMapper

let builtInMappers: ReadonlyMap<string, Representation> | undefined

/** Returns the protocol mappers of the built-in client scopes, by name. */
function getBuiltInMappers(): ReadonlyMap<string, Representation> {
  builtInMappers ??= new Map(
    builtInObjects('realm').flatMap(({ kind, key: [owner, scope, name], representation }) =>
      kind === 'protocolMapper' && owner === 'clientScope' && SCOPES.includes(scope!) ? [[name!, representation]] : [],
    ),
  )
  return builtInMappers
}
