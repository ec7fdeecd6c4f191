// Reads the settings of an identity provider from its own description: OpenID Connect Discovery or SAML metadata.
import { type IdentityProviderType, identityProviderTypes } from '../../../kinds/identity-provider-types.ts'
import { isObject, type Json, type Representation, readTextMap } from '../../../kinds/json.ts'
import { getErrorMessage } from '../../../lib/error-message.ts'
import { fetchText } from '../../../lib/http/fetch-text.ts'
import type { Outbound } from '../../../lib/http/outbound.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { parseIdentityProviderMetadata } from '../../realms/saml-identity-provider-metadata.ts'
import { getProvider } from './identity-providers.ts'

/** A description of a provider: its URL, or its text. */
export type ProviderDescription = { readonly address: string } | { readonly text: string }

/** Returns the settings that a description gives a provider of that type. Takes no transaction: it may call another server. */
export async function importConfig(
  outbound: Outbound,
  providerId: string,
  description: ProviderDescription,
): Promise<Representation> {
  const type = identityProviderTypes[providerId]
  if (!type) throw failure('invalid', `Invalid identity provider id [${providerId}]`)
  const origin = 'address' in description ? { metadataDescriptorUrl: description.address } : {}
  // Keycloak: the endpoints of social networks are built in.
  if (type.social) return origin
  const settings = settingsByType[type.settings]
  if (!settings && type.settings !== 'saml')
    throw failure('invalid', `Identity providers of type ${providerId} have no OpenID Connect Discovery document`)
  const text = 'text' in description ? description.text : await fetchDescription(outbound, description.address)
  if (!settings) return { ...origin, ...(await parseIdentityProviderMetadata(text)) }
  return { ...origin, ...toConfig(parseObject(text), settings) }
}

/** Returns the URL of the provider's keys, or undefined if it has none or does not use it. */
export async function findJwksUrl(context: Context, aliasOrId: string): Promise<string | undefined> {
  requirePermissions(context, 'manage-identity-providers')
  const { representation } = await getProvider(context, aliasOrId)
  const { useJwksUrl, jwksUrl } = readTextMap(representation.config)
  return useJwksUrl === 'true' ? jwksUrl : undefined
}

/** The types of mappers that request an attribute from the provider. */
const ATTRIBUTE_MAPPERS = ['saml-user-attribute-idp-mapper', 'saml-role-idp-mapper']

/** Returns the settings from which the realm's SAML metadata for a provider are rendered; none for other protocols. */
export async function getMetadataSettings(context: Context, aliasOrId: string) {
  requirePermissions(context, 'view-identity-providers')
  const { id, key, representation } = await getProvider(context, aliasOrId)
  const { realm } = context
  if (representation.providerId !== 'saml') return { realm }
  const parents = { kind: 'identityProvider', ids: [id] } as const
  const attributes = (await writers.identityProviderMapper.list(context, { parents }))
    .filter((mapper) => ATTRIBUTE_MAPPERS.includes(String(mapper.representation.identityProviderMapper)))
    .map((mapper) => readTextMap(mapper.representation.config))
    .filter((config) => config['attribute.name'] || config['attribute.friendly.name'])
  return { realm, metadata: { alias: key[0]!, settings: readTextMap(representation.config), attributes } }
}

/** Whether there is a key set with keys at a URL. Throws invalid if it cannot be read. */
export async function hasKeys(outbound: Outbound, address: string): Promise<boolean> {
  const { keys } = parseObject(await fetchDescription(outbound, address))
  return Array.isArray(keys) && keys.length > 0
}

/** The settings of an OAuth 2.0 provider, by member of its metadata (RFC 8414). */
const OAUTH2_SETTINGS: Readonly<Record<string, string>> = {
  issuer: 'issuer',
  authorization_endpoint: 'authorizationUrl',
  token_endpoint: 'tokenUrl',
  userinfo_endpoint: 'userInfoUrl',
  introspection_endpoint: 'tokenIntrospectionUrl',
}
const settingsByType: Readonly<Partial<Record<IdentityProviderType['settings'], Readonly<Record<string, string>>>>> = {
  oauth2: OAUTH2_SETTINGS,
  oidc: { ...OAUTH2_SETTINGS, end_session_endpoint: 'logoutUrl', jwks_uri: 'jwksUrl' },
}

function toConfig(metadata: Representation, settings: Readonly<Record<string, string>>): Representation {
  const config = Object.fromEntries(
    Object.entries(settings).flatMap(([name, setting]) =>
      metadata[name] === undefined || metadata[name] === null ? [] : [[setting, String(metadata[name])]],
    ),
  )
  // Keycloak: signatures are validated if the provider publishes its keys.
  return { ...config, ...(config.jwksUrl !== undefined && { validateSignature: 'true', useJwksUrl: 'true' }) }
}

async function fetchDescription(outbound: Outbound, address: string): Promise<string> {
  try {
    return await fetchText(outbound, address)
  } catch (error) {
    throw failure('invalid', `${address} cannot be read: ${getErrorMessage(error)}`, { cause: error })
  }
}

function parseObject(text: string): Representation {
  try {
    const value: Json = JSON.parse(text)
    if (isObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw failure('invalid', 'Cannot parse the JSON', { form: { error: 'invalid_request' } })
}
