// Client types: a type rules properties of the clients that have it. Keycloak: its preview feature client-types.
import * as z from 'zod'
import recorded from './built-in/client-types.json' with { type: 'json' }
import { type FlatFields, isDeepEqual } from './compare.ts'
import { isList, type Json, type Representation, readObject, readTexts } from './json.ts'
import { nameSchema } from './json-schema.ts'

/** The attribute of realms with their client types, as a JSON text. */
export const CLIENT_TYPES = 'client-types'

const propertyConfig = nameSchema(
  'PropertyConfig',
  z.strictObject({
    applicable: z.boolean().nullish().describe('Whether clients of the type can have the property.'),
    value: z
      .json()
      .nullish()
      .describe('The value that all clients of the type have. Default: each client has its own.'),
  }),
)

const clientType = nameSchema(
  'ClientTypeRepresentation',
  z.strictObject({
    name: z.string().min(1).describe('Name of the type, which is unique, also among global types.'),
    provider: z.string().nullish().describe('Provider of the type: default.'),
    parent: z.string().nullish().describe('Name of the type whose properties it inherits. Default: none.'),
    config: z
      .record(z.string(), propertyConfig)
      .describe('Properties that the type rules: names of fields or attributes.'),
  }),
)

/** A client type. */
export type ClientType = z.infer<typeof clientType>

/** The schema of the client types of a realm in REST. */
export const clientTypesDocument = nameSchema(
  'ClientTypesRepresentation',
  z.strictObject({
    [CLIENT_TYPES]: z.array(clientType).describe('Client types of the realm.'),
    'global-client-types': z
      .array(clientType)
      .nullish()
      .describe('Client types of every realm, which cannot be changed.'),
  }),
)

/** The client types of every realm, as in Keycloak. */
export const globalClientTypes: readonly ClientType[] = recorded.map((type) => clientType.parse(type))

/** Parses the attribute of a realm with its client types. Returns undefined if it is malformed. */
export function parseClientTypes(text: Json | undefined): readonly ClientType[] | undefined {
  if (text === undefined || text === null || text === '') return []
  try {
    return clientTypesDocument.parse(JSON.parse(String(text)))[CLIENT_TYPES]
  } catch {
    return undefined
  }
}

/** Renders the client types of a realm as its attribute; null for none. */
export function renderClientTypes(types: readonly ClientType[]): string | null {
  const withoutNulls = (_: string, value: unknown) => (value === null ? undefined : value)
  return types.length ? JSON.stringify({ [CLIENT_TYPES]: types }, withoutNulls) : null
}

/** A property of clients that types can rule: the path of its value in clients, and the value where it is not applicable. */
interface Property {
  readonly path: string
  /** Undefined: the property is always applicable. */
  readonly inapplicable: Json | undefined
  readonly schema: z.ZodType
}

/** The properties that types can rule. Keycloak: types may contain others, such as tosUri, which have no effect. */
const properties: ReadonlyMap<string, Property> = new Map<string, Property>([
  ...[
    'alwaysDisplayInConsole',
    'bearerOnly',
    'consentRequired',
    'directAccessGrantsEnabled',
    'frontchannelLogout',
    'implicitFlowEnabled',
    'publicClient',
    'serviceAccountsEnabled',
    'standardFlowEnabled',
  ].map((path) => [path, { path, inapplicable: false, schema: z.boolean() }] as const),
  ['authorizationServicesEnabled', { path: 'authorizationServicesEnabled', inapplicable: null, schema: z.boolean() }],
  ['protocol', { path: 'protocol', inapplicable: undefined, schema: z.string() }],
  ...['redirectUris', 'webOrigins'].map(
    (path) => [path, { path, inapplicable: [], schema: z.array(z.string()) }] as const,
  ),
  ...[
    'oauth2.device.authorization.grant.enabled',
    'oidc.ciba.grant.enabled',
    'saml.allow.ecp.flow',
    'saml.artifact.binding',
    'saml.assertion.signature',
    'saml.authnstatement',
    'saml.client.signature',
    'saml.encrypt',
    'saml.force.post.binding',
    'saml.onetimeuse.condition',
    'saml.server.signature',
    'saml.server.signature.keyinfo.ext',
    'saml_force_name_id_format',
  ].map((name) => [name, { path: `attributes.${name}`, inapplicable: 'false', schema: z.string() }] as const),
  ...[
    'login_theme',
    'logoUri',
    'policyUri',
    'saml.artifact.binding.identifier',
    'saml.assertion.lifespan',
    'saml.encryption.certificate',
    'saml.server.signature.keyinfo.xmlSigKeyInfoKeyNameTransformer',
    'saml.signature.algorithm',
    'saml.signing.certificate',
    'saml_artifact_binding_url',
    'saml_artifact_resolution_service_url',
    'saml_assertion_consumer_url_post',
    'saml_assertion_consumer_url_redirect',
    'saml_idp_initiated_sso_relay_state',
    'saml_idp_initiated_sso_url_name',
    'saml_signature_canonicalization_method',
    'saml_single_logout_service_url_artifact',
    'saml_single_logout_service_url_post',
    'saml_single_logout_service_url_redirect',
    'saml_single_logout_service_url_soap',
  ].map((name) => [name, { path: `attributes.${name}`, inapplicable: null, schema: z.string() }] as const),
  // A realm's attributes are no place for private keys.
  ...['saml.encryption.private.key', 'saml.signing.private.key'].map(
    (name) => [name, { path: `attributes.${name}`, inapplicable: null, schema: z.never() }] as const,
  ),
])

/** Whether the config of a property can be that of a type: clients could have the value. */
export function isPropertyConfig(name: string, { applicable, value }: ClientType['config'][string]): boolean {
  const property = properties.get(name)
  if (!property) return true
  if (applicable !== true) return property.inapplicable !== undefined
  return (value ?? null) === null || property.schema.safeParse(value).success
}

/** A property that a type rules. */
export interface RuledProperty {
  readonly name: string
  readonly path: string
  readonly applicable: boolean
  /** The value that all clients of the type have; null for none. */
  readonly value: Json
}

/**
 * Returns the properties that a type rules, sorted by name, with those of its parents; undefined if the type or one of its parents does not
 * exist.
 */
export function findRuledProperties(name: string, types: readonly ClientType[]): RuledProperty[] | undefined {
  const config = findConfig(name, types)
  if (!config) return undefined
  return Object.entries(config)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([property, { applicable, value = null }]): RuledProperty[] => {
      const { path, inapplicable } = properties.get(property) ?? {}
      if (path === undefined || (applicable === true && value === null)) return []
      return [
        { name: property, path, applicable: applicable === true, value: (applicable ? value : inapplicable) ?? null },
      ]
    })
}

/** Returns the config of a type. A property replaces the one of its parent. */
function findConfig(
  name: string,
  types: readonly ClientType[],
  children: readonly string[] = [],
): ClientType['config'] | undefined {
  const type = [...types, ...globalClientTypes].find((candidate) => candidate.name === name)
  if (!type || children.includes(name)) return undefined
  if ((type.parent ?? null) === null) return type.config
  const inherited = findConfig(type.parent!, types, [...children, name])
  return inherited && { ...inherited, ...type.config }
}

/** Returns the value of a client at the path of a field or an attribute; null for none. */
export function readProperty(client: Representation, path: string): Json {
  const [, attribute] = /^attributes\.(.*)$/s.exec(path) ?? []
  const value = attribute === undefined ? client[path] : readObject(client.attributes)[attribute]
  return value === undefined || value === '' ? null : value
}

/** Whether a client has the value that its type gives. The order of lists is ignored. */
export function hasTypeValue(client: Representation, { path, value }: RuledProperty): boolean {
  const sort = (list: Json) => (isList(list) ? readTexts(list).toSorted() : list)
  return isDeepEqual(sort(readProperty(client, path)), sort(value))
}

/** Returns the values of the ruled properties in a new client: the declared ones, and those of its type for others. */
export function getTypeValues(declared: Representation, ruled: readonly RuledProperty[]): FlatFields {
  return Object.fromEntries(
    ruled.filter(({ value }) => value !== null).map(({ path, value }) => [path, readProperty(declared, path) ?? value]),
  )
}
