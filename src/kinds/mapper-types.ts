// Types of protocol mappers, recorded from Keycloak, and the effective settings of mappers.
import recorded from './built-in/mapper-types.json' with { type: 'json' }

/** A type of protocol mapper. */
export interface MapperType {
  readonly protocol: string
  /** The display name. */
  readonly name: string
  readonly category: string
  /** Types with a higher number run later. Default: 0. */
  readonly priority?: number
  /** The default settings. */
  readonly defaults: MapperSettings
  /** By default, user info has the claims of the ID token, and introspection those of the access token. */
  readonly copiesClaimFlags?: boolean
  /** Settings with fixed values unless the claim is multivalued. */
  readonly enforcedUnlessMultivalued?: MapperSettings
}

/** Claims that mappers cannot write. Keycloak: `nbf` and `cnf` are written, and the others a second time by mappers of roles; the token is then invalid. */
export const reservedClaims = [
  'exp',
  'nbf',
  'iat',
  'iss',
  'jti',
  'typ',
  'scope',
  'nonce',
  'session_state',
  'cnf',
] as const

type MapperSettings = Readonly<Record<string, string>>

/** The types of protocol mappers by id. */
export const mapperTypes: Readonly<Record<string, MapperType>> = Object.assign(Object.create(null), recorded)

const copiedFlags: MapperSettings = {
  'userinfo.token.claim': 'id.token.claim',
  'introspection.token.claim': 'access.token.claim',
}

/**
 * Returns the effective settings of a mapper, which the operations on protocol mappers return. Keycloak: the representations of clients
 * and client scopes contain the stored settings instead.
 */
export function toEffectiveMapperConfig(protocolMapper: string, config: MapperSettings): Record<string, string> {
  const { defaults, copiesClaimFlags, enforcedUnlessMultivalued }: Partial<MapperType> =
    mapperTypes[protocolMapper] ?? {}
  const copied = Object.entries(copiedFlags).filter(([, from]) => copiesClaimFlags && config[from] !== undefined)
  return {
    ...defaults,
    ...Object.fromEntries(copied.map(([to, from]) => [to, String(config[from] === 'true')])),
    ...config,
    ...(config.multivalued !== 'true' && enforcedUnlessMultivalued),
  }
}

/**
 * Returns the settings that are stored for a mapper in a client or client scope. Keycloak: for every type, user info has the claims of the
 * ID token by default.
 */
export function toStoredMapperConfig(config: MapperSettings): Record<string, string> {
  const claim = config['id.token.claim']
  return { ...(claim !== undefined && { 'userinfo.token.claim': claim }), ...config }
}
