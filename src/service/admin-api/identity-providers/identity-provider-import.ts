// Settings of an identity provider as the other server describes itself: by OpenID Connect Discovery or SAML metadata.
import { type IdentityProviderType, identityProviderTypes } from '../../../kinds/identity-provider-types.ts'
import type { Representation } from '../../../kinds/json.ts'
import { fetchText } from '../../../lib/http/fetch-text.ts'
import type { Outbound } from '../../../lib/http/outbound.ts'
import { settingsInMetadata } from '../../clients/saml-metadata.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { demand } from '../../permissions/administrators.ts'
import { findProvider } from './identity-providers.ts'

/** Where a description is: at an address, or in a text that was sent. */
export type Description = { readonly address: string } | { readonly text: string }

/** The settings that the description makes for a provider of that type. Takes no transaction: it may ask another server. */
export async function importConfig(
  outbound: Outbound,
  providerId: string,
  description: Description,
): Promise<Representation> {
  const type = identityProviderTypes[providerId]
  if (!type) throw failure('invalid', `Invalid identity provider id [${providerId}]`)
  const origin = 'address' in description ? { metadataDescriptorUrl: description.address } : {}
  // Keycloak: the addresses of a social network are known.
  if (type.social) return origin
  const settings = settingsOf[type.settings]
  if (!settings && type.settings !== 'saml')
    throw failure('invalid', `Providers of the type ${providerId} are not described by OpenID discovery`)
  const text = 'text' in description ? description.text : await read(outbound, description.address)
  if (!settings) return { ...origin, ...settingsInMetadata(text) }
  return { ...origin, ...configFrom(objectIn(text), settings) }
}

/** The address of the keys of a provider; undefined where it has none, or does not use it. */
export async function keysAddressOf(context: Context, aliasOrId: string): Promise<string | undefined> {
  demand(context, 'manage-identity-providers')
  const { representation } = await findProvider(context, aliasOrId)
  const { useJwksUrl, jwksUrl } = (representation.config ?? {}) as Record<string, string>
  return useJwksUrl === 'true' ? jwksUrl : undefined
}

/** The types of mappers whose attribute the other server is asked for. */
const ASKING = ['saml-user-attribute-idp-mapper', 'saml-role-idp-mapper']

/** What the metadata of the realm for a SAML provider say; absent for others, which need none. */
export async function ownMetadata(context: Context, aliasOrId: string) {
  demand(context, 'view-identity-providers')
  const { id, key, representation } = await findProvider(context, aliasOrId)
  const { realm } = context
  if (representation.providerId !== 'saml') return { realm }
  const parents = { kind: 'identityProvider', ids: [id] } as const
  const attributes = (await writers.identityProviderMapper.list(context, { parents }))
    .filter((mapper) => ASKING.includes(String(mapper.representation.identityProviderMapper)))
    .map((mapper) => mapper.representation.config as Settings)
    .filter((config) => config['attribute.name'] || config['attribute.friendly.name'])
  return { realm, metadata: { alias: key[0]!, settings: representation.config as Settings, attributes } }
}

type Settings = Readonly<Record<string, string | undefined>>

/** Whether there are keys at the address. Throws invalid when it cannot be read. */
export async function hasKeys(outbound: Outbound, address: string): Promise<boolean> {
  const { keys } = objectIn(await read(outbound, address))
  return Array.isArray(keys) && keys.length > 0
}

const endpoints: Readonly<Record<string, string>> = {
  issuer: 'issuer',
  authorization_endpoint: 'authorizationUrl',
  token_endpoint: 'tokenUrl',
  userinfo_endpoint: 'userInfoUrl',
  introspection_endpoint: 'tokenIntrospectionUrl',
}
const settingsOf: Readonly<Partial<Record<IdentityProviderType['settings'], Readonly<Record<string, string>>>>> = {
  oauth2: endpoints,
  oidc: { ...endpoints, end_session_endpoint: 'logoutUrl', jwks_uri: 'jwksUrl' },
}

function configFrom(described: Representation, settings: Readonly<Record<string, string>>): Representation {
  const config = Object.fromEntries(
    Object.entries(settings).flatMap(([name, setting]) =>
      described[name] === undefined || described[name] === null ? [] : [[setting, String(described[name])]],
    ),
  )
  // Keycloak: who says where their keys are is checked by them.
  return { ...config, ...(config.jwksUrl !== undefined && { validateSignature: 'true', useJwksUrl: 'true' }) }
}

async function read(outbound: Outbound, address: string): Promise<string> {
  try {
    return await fetchText(outbound, address)
  } catch (error) {
    throw failure('invalid', `${address} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

function objectIn(text: string): Representation {
  try {
    const value = JSON.parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw failure('bad_request', 'Cannot parse the JSON')
}
