// Client registration policies: what clients may register themselves, and how. Pure. Keycloak: ClientRegistrationPolicyManager.
import { parseComponentPath } from '../../kinds/component.ts'
import { CLIENT_REGISTRATION_POLICY } from '../../kinds/component-types.ts'
import { type Representation, readObject, readObjects, readTextListMap, readTexts } from '../../kinds/json.ts'
import { listClientHosts, matchesHost } from './trusted-hosts.ts'

/** The authorization of a request: a token, or none. */
export type RegistrationType = 'anonymous' | 'authenticated'

/** A policy of a realm for requests of one type. */
export interface RegistrationPolicy {
  readonly name: string
  readonly providerId: string
  readonly config: Readonly<Record<string, readonly string[]>>
}

/** A request that policies decide about. */
export interface RegistrationRequest {
  readonly operation: 'register' | 'view' | 'update' | 'delete'
  /** The declared client. Absent: nothing is written. */
  readonly client?: Representation | undefined
  /** The client before the request. Absent: it is registered. */
  readonly live?: Representation | undefined
  /** The trusted hosts and domains that the sender of the request belongs to. */
  readonly senderHosts: readonly string[]
  /** The number of clients of the realm. */
  readonly clientCount: number
  /** The client scopes that the realm assigns to new clients. */
  readonly defaultScopes: readonly string[]
}

/** The refusal of a request by a policy. */
export interface PolicyRefusal {
  readonly policy: string
  readonly reason: string
}

interface Provider {
  /** Returns the reason to refuse a request; undefined for none. */
  readonly findRefusal?: (config: RegistrationPolicy['config'], request: RegistrationRequest) => string | undefined
  /** The fields that each registered client gets, whatever it declares. */
  readonly imposed?: Representation
}

/** Refuses updates that set a field to a value that the policy does not permit, and that the client does not have. */
const refuseChange =
  (field: string, permitted: boolean, reason: string): NonNullable<Provider['findRefusal']> =>
  (_config, { client, live }) =>
    client && live && client[field] === !permitted && live[field] === permitted ? reason : undefined

const providers: Readonly<Record<string, Provider>> = {
  'trusted-hosts': { findRefusal: findHostRefusal },
  'consent-required': {
    imposed: { consentRequired: true },
    findRefusal: refuseChange('consentRequired', true, 'Not permitted to update consentRequired to false'),
  },
  scope: {
    imposed: { fullScopeAllowed: false },
    findRefusal: refuseChange('fullScopeAllowed', false, 'Not permitted to enable fullScopeAllowed'),
  },
  'client-disabled': {
    imposed: { enabled: false },
    findRefusal: refuseChange('enabled', false, 'Not permitted to enable client'),
  },
  'max-clients': { findRefusal: findCountRefusal },
  'allowed-protocol-mappers': { findRefusal: findMapperRefusal },
  'allowed-client-templates': { findRefusal: findScopeRefusal },
  'registration-web-origins': {},
}

/** The provider of the policy whose settings are the origins of scripts that may register clients. */
const WEB_ORIGINS = 'registration-web-origins'

/** Returns the policies among components that apply to a type of requests. */
export function listPolicies(components: readonly Representation[], type: RegistrationType): RegistrationPolicy[] {
  return components.flatMap(({ path, providerId, config }) => {
    const { providerType, subType, name } = parseComponentPath(String(path))
    if (providerType !== CLIENT_REGISTRATION_POLICY || subType !== type) return []
    return [{ name: name ?? '', providerId: String(providerId), config: readTextListMap(config) }]
  })
}

/** Returns the first refusal of a request. A policy of an unknown provider refuses every request. */
export function findPolicyRefusal(
  policies: readonly RegistrationPolicy[],
  request: RegistrationRequest,
): PolicyRefusal | undefined {
  for (const { name, providerId, config } of policies) {
    const provider = findProvider(providerId)
    const reason = provider
      ? provider.findRefusal?.(config, request)
      : `Regent does not enforce policies of the provider ${providerId}.`
    if (reason !== undefined) return { policy: name, reason }
  }
  return undefined
}

/** Returns a declared client with the fields that policies impose on registered clients. */
export function imposeFields(policies: readonly RegistrationPolicy[], client: Representation): Representation {
  return Object.assign({}, client, ...policies.map(({ providerId }) => findProvider(providerId)?.imposed))
}

/** Returns the origins of scripts that may register clients. */
export const listRegistrationOrigins = (policies: readonly RegistrationPolicy[]): string[] =>
  policies.flatMap(({ providerId, config }) => (providerId === WEB_ORIGINS ? (config['web-origins'] ?? []) : []))

/** Returns the hosts and domains from which policies accept requests; none if they accept every sender. */
export const listTrustedSenders = (policies: readonly RegistrationPolicy[]): string[] =>
  policies.flatMap(({ providerId, config }) =>
    providerId === 'trusted-hosts' && isOn(config, 'host-sending-registration-request-must-match')
      ? (config['trusted-hosts'] ?? [])
      : [],
  )

const findProvider = (id: string): Provider | undefined => (Object.hasOwn(providers, id) ? providers[id] : undefined)

/** Whether a switch is on, which is its default. */
const isOn = (config: RegistrationPolicy['config'], name: string): boolean => (config[name]?.[0] ?? 'true') === 'true'

function findHostRefusal(
  config: RegistrationPolicy['config'],
  { client, senderHosts }: RegistrationRequest,
): string | undefined {
  const trusted = config['trusted-hosts'] ?? []
  if (
    isOn(config, 'host-sending-registration-request-must-match') &&
    !trusted.some((host) => senderHosts.includes(host))
  )
    return 'Host not trusted.'
  if (!client || !isOn(config, 'client-uris-must-match')) return undefined
  const isForeign = listClientHosts(client).some((host) => !trusted.some((entry) => matchesHost(entry, host)))
  return isForeign ? "URI doesn't match any trusted host or trusted domain" : undefined
}

function findCountRefusal(
  config: RegistrationPolicy['config'],
  { operation, clientCount }: RegistrationRequest,
): string | undefined {
  const max = Number(config['max-clients']?.[0] ?? 0)
  return operation === 'register' && !(clientCount < max)
    ? `It's allowed to have max ${max} clients per realm`
    : undefined
}

function findMapperRefusal(
  config: RegistrationPolicy['config'],
  { client, live }: RegistrationRequest,
): string | undefined {
  const allowed = config['allowed-protocol-mapper-types'] ?? []
  const former = readObjects(live?.protocolMappers)
  for (const { id, name, ...mapper } of readObjects(client?.protocolMappers)) {
    if (allowed.includes(String(mapper.protocolMapper))) continue
    if (live && typeof id !== 'string') return `Missing id for mapper named '${name}'`
    const liveMapper = former.find((candidate) => candidate.id === id)
    if (!liveMapper || !isSameMapper(liveMapper, mapper)) return 'ProtocolMapper type not allowed'
  }
  return undefined
}

/** Whether a mapper of another type stays as it is. */
function isSameMapper(live: Representation, { protocol, protocolMapper, config }: Representation): boolean {
  const sorted = (settings: Representation) => JSON.stringify(Object.entries(settings).sort())
  return (
    live.protocol === protocol &&
    live.protocolMapper === protocolMapper &&
    sorted(readObject(live.config)) === sorted(readObject(config))
  )
}

function findScopeRefusal(
  config: RegistrationPolicy['config'],
  { client, live, defaultScopes }: RegistrationRequest,
): string | undefined {
  const listScopes = (fields: Representation | undefined) => [
    ...readTexts(fields?.defaultClientScopes),
    ...readTexts(fields?.optionalClientScopes),
  ]
  const allowed = new Set([
    ...(config['allowed-client-scopes'] ?? []),
    ...(isOn(config, 'allow-default-scopes') ? defaultScopes : []),
    ...listScopes(live),
  ])
  return listScopes(client).some((scope) => !allowed.has(scope))
    ? 'Not permitted to use specified clientScope'
    : undefined
}
