// Types of protocol mappers: recorded facts, and what the server makes of the settings of a mapper.
import recorded from './built-in/mapper-types.json' with { type: 'json' }

/** What is known of a type of protocol mapper. */
export interface MapperType {
  readonly protocol: string
  /** What people call it, and what it is listed among. */
  readonly name: string
  readonly category: string
  /** Mappers of a type with a higher number run later. */
  readonly priority?: number
  /** Settings that show where none are stated. */
  readonly defaults: Settings
  /** What is in the ID token is in user info too, and what is in the access token in introspection, unless stated. */
  readonly copiesClaims?: boolean
  /** Settings that show, whatever is stated for them, unless the claim is stated to have several values. */
  readonly forcedUnlessMultivalued?: Settings
}

type Settings = Readonly<Record<string, string>>

/** The types of protocol mappers by provider id. */
export const mapperTypes: Readonly<Record<string, MapperType>> = Object.assign(Object.create(null), recorded)

const copies: Settings = { 'userinfo.token.claim': 'id.token.claim', 'introspection.token.claim': 'access.token.claim' }

/**
 * The settings that the operations on protocol mappers show for stored ones. Keycloak: clients and client scopes show the
 * mappers in them as they are stored.
 */
export function toEffectiveMapperConfig(protocolMapper: string, config: Settings): Record<string, string> {
  const { defaults, copiesClaims, forcedUnlessMultivalued }: Partial<MapperType> = mapperTypes[protocolMapper] ?? {}
  const copied = Object.entries(copies).filter(([, from]) => copiesClaims && config[from] !== undefined)
  return {
    ...defaults,
    ...Object.fromEntries(copied.map(([to, from]) => [to, String(config[from] === 'true')])),
    ...config,
    ...(config.multivalued !== 'true' && forcedUnlessMultivalued),
  }
}

/**
 * The settings that are stored for a mapper which arrives inside of a client or client scope. Keycloak: what is in the ID
 * token is in user info too, with every type of mapper.
 */
export function toStoredMapperConfig(config: Settings): Record<string, string> {
  const claim = config['id.token.claim']
  return { ...(claim !== undefined && { 'userinfo.token.claim': claim }), ...config }
}
