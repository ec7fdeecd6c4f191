// The attributes that protocol mappers of SAML clients write. Keycloak: org.keycloak.protocol.saml.mappers.
import type { MapperContainer, StoredMapper, TokenUserData } from '../../service/context/store-types.ts'
import type { Claims, MapperConfig } from '../mappers/claims.ts'
import type { MapperFacts, TokenRoles, TokenSubject } from '../mappers/mapper.ts'
import { addHardcodedRole, renameRole } from '../mappers/roles.ts'
import { mapAttribute, mapGroups, mapProperty } from '../mappers/user.ts'

/** An attribute of an assertion. */
export interface SamlAttribute {
  readonly name: string
  readonly friendlyName: string | undefined
  readonly format: string
  readonly values: readonly string[]
}

/** The content of an assertion that mappers decide on. */
export interface MappedAssertion {
  readonly attributes: readonly SamlAttribute[]
  /** Audiences besides the client. */
  readonly audiences: readonly string[]
  /** The name of the subject in a format; undefined if no mapper writes it. */
  readonly findNameId: (format: string) => string | undefined
}

/** The data from which mappers compute attributes. */
interface SamlFacts {
  readonly subject: TokenSubject
  readonly userData: TokenUserData
  /** The client last, so that its own mappers come after those of client scopes. */
  readonly containers: readonly MapperContainer[]
}

/** Returns what the mappers of a client write into an assertion. Session notes are empty in an example. */
export function mapAssertion({ subject, userData, containers }: SamlFacts): MappedAssertion {
  const mappers = containers.flatMap((container) => container.mappers)
  const ofType = (type: string) => mappers.filter((mapper) => mapper.type === type)
  const facts: MapperFacts = {
    ...subject,
    target: 'response',
    roles: mapRoles(mappers, userData),
    groups: userData.groups,
    organizations: undefined,
    mappers: [],
  }
  const roleList = ofType('saml-role-list-mapper').at(-1)
  return {
    attributes: [
      ...mappers.flatMap((mapper) => valueMappers[mapper.type]?.(mapper.config, facts) ?? []),
      ...(roleList ? toAttributes(roleList.config, 'Role', listRoles(facts.roles)) : []),
    ],
    audiences: ofType('saml-audience-mapper').flatMap(({ config }) => {
      const audience = config['included.client.audience'] || config['included.custom.audience']
      return audience ? [audience] : []
    }),
    findNameId(format) {
      const mapper = ofType('saml-user-attribute-nameid-mapper').find(
        ({ config }) => config['mapper.nameid.format'] === format,
      )
      return mapper && listAttributeValues(mapper.config, facts)[0]
    },
  }
}

/** The mappers that write attributes, by type. */
const valueMappers: Readonly<Record<string, (config: MapperConfig, facts: MapperFacts) => SamlAttribute[]>> = {
  'saml-group-membership-mapper': (config, facts) =>
    toAttributes(config, 'member', readValues(mapGroups, { 'full.path': 'true', ...config }, facts)),
  'saml-hardcode-attribute-mapper': (config) => [toAttribute(config, '', [config['attribute.value'] ?? ''])],
  'saml-user-attribute-mapper': (config, facts) => {
    const values = listAttributeValues(config, facts)
    return values.length ? [toAttribute(config, config['user.attribute'] ?? '', values)] : []
  },
  'saml-user-property-mapper': (config, facts) => {
    const values = readValues(mapProperty, config, facts)
    return values.length ? [toAttribute(config, config['user.attribute'] ?? '', values)] : []
  },
}

const listAttributeValues = (config: MapperConfig, facts: MapperFacts): readonly string[] =>
  readValues(mapAttribute, { ...config, multivalued: 'true' }, facts)

/** Returns the values that a mapper of tokens would write for this configuration. */
function readValues(
  map: (claims: Claims, config: MapperConfig, facts: MapperFacts) => void,
  config: MapperConfig,
  facts: MapperFacts,
): readonly string[] {
  const claims: Claims = {}
  map(claims, { ...config, 'claim.name': 'values' }, facts)
  return [claims.values ?? []].flat().map(String)
}

function mapRoles(mappers: readonly StoredMapper[], { roles }: TokenUserData): TokenRoles {
  const byClient: TokenRoles = new Map()
  for (const { client, name } of roles)
    byClient.set(client ?? undefined, (byClient.get(client ?? undefined) ?? new Set()).add(name))
  for (const { type, config } of mappers) {
    if (type === 'saml-hardcode-role-mapper') addHardcodedRole(byClient, config)
    if (type === 'saml-role-name-mapper') renameRole(byClient, config)
  }
  return byClient
}

const listRoles = (roles: TokenRoles): readonly string[] => [...roles.values()].flatMap((names) => [...names])

/** Returns one attribute with all values, or one for each, as the mapper is configured. */
function toAttributes(config: MapperConfig, defaultName: string, values: readonly string[]): SamlAttribute[] {
  if (!values.length) return []
  if (config.single === 'true') return [toAttribute(config, defaultName, values)]
  return values.map((value) => toAttribute(config, defaultName, [value]))
}

const FORMATS: Readonly<Record<string, string>> = {
  Basic: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
  'URI Reference': 'urn:oasis:names:tc:SAML:2.0:attrname-format:uri',
  Unspecified: 'urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified',
}

const toAttribute = (config: MapperConfig, defaultName: string, values: readonly string[]): SamlAttribute => ({
  name: config['attribute.name'] || defaultName,
  friendlyName: config['friendly.name'] || undefined,
  format: FORMATS[config['attribute.nameformat'] ?? ''] ?? FORMATS.Basic!,
  values,
})
