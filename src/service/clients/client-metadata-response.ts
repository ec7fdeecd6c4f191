// Clients, converted to OpenID Connect client metadata (RFC 7591, section 3.2.1). Pure. Keycloak: DescriptionConverter.
import {
  type Json,
  type Representation,
  readFlag,
  readObjects,
  readText,
  readTextMap,
  readTexts,
} from '../../kinds/json.ts'
import { authenticators, grantAttributes, metadataAttributes } from './openid-client-metadata.ts'

/** Metadata whose attributes hold several values. */
const LISTS = ['default_acr_values', 'post_logout_redirect_uris', 'request_uris']

/** Metadata whose attributes hold flags, with the values of absent attributes. Keycloak: these are its own. */
const FLAGS: Readonly<Record<string, boolean>> = {
  tls_client_certificate_bound_access_tokens: false,
  dpop_bound_access_tokens: false,
  require_pushed_authorization_requests: false,
  backchannel_logout_session_required: false,
  frontchannel_logout_session_required: true,
}

/** Metadata that Keycloak does not return. */
const WRITE_ONLY = ['backchannel_logout_revoke_offline_tokens', 'sector_identifier_uri']

/** The protocol mapper of clients with pairwise subject identifiers. */
export const PAIRWISE_MAPPER = 'oidc-sha256-pairwise-sub-mapper'

/** The client authenticators that verify the secret of a client. */
const WITH_SECRET = ['client-secret', 'client-secret-jwt']

/** Converts a client, with its protocol mappers, to metadata. Tokens and addresses are not included. */
export function toClientMetadata(client: Representation): Representation {
  const { clientId, name, baseUrl, secret, clientAuthenticatorType, publicClient } = client
  const attributes = readTextMap(client.attributes)
  const jwks = parseKeys(attributes['jwks.string'])
  const hasSecret = publicClient !== true && WITH_SECRET.includes(String(clientAuthenticatorType))
  return {
    redirect_uris: client.redirectUris ?? [],
    token_endpoint_auth_method: getAuthenticationMethod(client, attributes),
    grant_types: listGrantTypes(client, attributes),
    response_types: listResponseTypes(client),
    client_id: clientId!,
    ...(hasSecret && secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
    ...(name !== undefined && { client_name: name }),
    ...(baseUrl !== undefined && { client_uri: baseUrl }),
    scope: readTexts(client.optionalClientScopes).join(' '),
    ...(jwks !== undefined && attributes['use.jwks.string'] === 'true' && { jwks }),
    ...(attributes['use.jwks.url'] === 'true' && { jwks_uri: attributes['jwks.url'] ?? '' }),
    subject_type: isPairwise(client) ? 'pairwise' : 'public',
    ...(attributes['x509.subjectdn'] && { tls_client_auth_subject_dn: attributes['x509.subjectdn'] }),
    ...toMetadata(attributes),
    request_uris: split(attributes['request.uris']),
    post_logout_redirect_uris: listLogoutUris(client, attributes['post.logout.redirect.uris']),
  }
}

function toMetadata(attributes: Readonly<Record<string, string>>): Representation {
  const hasLogoutUrl = Boolean(attributes['backchannel.logout.url'])
  const entries = Object.entries(metadataAttributes).flatMap(([name, attribute]): [string, Json][] => {
    const value = attributes[attribute]
    if (WRITE_ONLY.includes(name)) return []
    if (name === 'backchannel_logout_session_required' && !hasLogoutUrl) return [[name, false]]
    const absentFlag = FLAGS[name]
    if (absentFlag !== undefined) return [[name, value === undefined ? absentFlag : value === 'true']]
    if (!value) return []
    return [[name, LISTS.includes(name) ? split(value) : value]]
  })
  return Object.fromEntries(entries)
}

const split = (value = ''): string[] => value.split('##').filter(Boolean)

/** Keycloak: without a setting of its own, or with `+`, a client may return from a logout to its redirect URIs. */
function listLogoutUris({ redirectUris }: Representation, setting = '+'): string[] {
  return split(setting).flatMap((uri) => (uri === '+' ? readTexts(redirectUris) : uri === '-' ? [] : [uri]))
}

function getAuthenticationMethod(
  { publicClient, clientAuthenticatorType }: Representation,
  attributes: Readonly<Record<string, string>>,
): string {
  if (publicClient === true) return 'none'
  const allowed = attributes['client.secret.authentication.allowed.method']
  if (clientAuthenticatorType === 'client-secret' && allowed) return allowed
  const method = Object.keys(authenticators).find((name) => authenticators[name] === clientAuthenticatorType)
  return method ?? String(clientAuthenticatorType)
}

/** Keycloak: the order is its own. */
function listGrantTypes(client: Representation, attributes: Readonly<Record<string, string>>): string[] {
  const isEnabled = (grant: string) => attributes[grantAttributes[grant]!] === 'true'
  const grants: readonly (readonly [string, boolean])[] = [
    ['authorization_code', client.standardFlowEnabled === true],
    ['implicit', client.implicitFlowEnabled === true],
    ['password', client.directAccessGrantsEnabled === true],
    ['client_credentials', client.serviceAccountsEnabled === true],
    ...(['urn:ietf:params:oauth:grant-type:device_code', 'urn:openid:params:grant-type:ciba'] as const).map(
      (grant) => [grant, isEnabled(grant)] as const,
    ),
    ['urn:ietf:params:oauth:grant-type:uma-ticket', client.authorizationServicesEnabled === true],
    ['refresh_token', readFlag(attributes[grantAttributes.refresh_token!], true)],
    ...(
      ['urn:ietf:params:oauth:grant-type:token-exchange', 'urn:ietf:params:oauth:grant-type:jwt-bearer'] as const
    ).map((grant) => [grant, isEnabled(grant)] as const),
  ]
  return grants.flatMap(([grant, isOn]) => (isOn ? [grant] : []))
}

function listResponseTypes({ standardFlowEnabled, implicitFlowEnabled }: Representation): string[] {
  const [code, implicit] = [standardFlowEnabled === true, implicitFlowEnabled === true]
  return [
    ...(code ? ['code', 'none'] : []),
    ...(implicit ? ['id_token', 'id_token token'] : []),
    ...(code && implicit ? ['code id_token', 'code token', 'code id_token token'] : []),
  ]
}

const isPairwise = ({ protocolMappers }: Representation): boolean =>
  readObjects(protocolMappers).some(({ protocolMapper }) => readText(protocolMapper) === PAIRWISE_MAPPER)

function parseKeys(text: string | undefined): Json | undefined {
  try {
    return text ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
