// OpenID Connect client metadata (OpenID Connect Dynamic Client Registration 1.0, RFC 7591), converted to clients.
import * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import { failure } from '../context/errors.ts'

const text = (description: string) => z.string().nullish().describe(description)
const texts = (description: string) => z.array(z.string()).nullish().describe(description)
const flag = (description: string) => z.boolean().nullish().describe(description)
const algorithm = (purpose: string) => text(`Algorithm for ${purpose}.`)

/** Maps metadata to the client attributes that hold it. */
export const metadataAttributes: Readonly<Record<string, string>> = {
  logo_uri: 'logoUri',
  policy_uri: 'policyUri',
  tos_uri: 'tosUri',
  sector_identifier_uri: 'sectorIdentifierUri',
  token_endpoint_auth_signing_alg: 'token.endpoint.auth.signing.alg',
  id_token_signed_response_alg: 'id.token.signed.response.alg',
  id_token_encrypted_response_alg: 'id.token.encrypted.response.alg',
  id_token_encrypted_response_enc: 'id.token.encrypted.response.enc',
  userinfo_signed_response_alg: 'user.info.response.signature.alg',
  userinfo_encrypted_response_alg: 'user.info.encrypted.response.alg',
  userinfo_encrypted_response_enc: 'user.info.encrypted.response.enc',
  request_object_signing_alg: 'request.object.signature.alg',
  authorization_signed_response_alg: 'authorization.signed.response.alg',
  authorization_encrypted_response_alg: 'authorization.encrypted.response.alg',
  authorization_encrypted_response_enc: 'authorization.encrypted.response.enc',
  request_uris: 'request.uris',
  default_acr_values: 'default.acr.values',
  tls_client_certificate_bound_access_tokens: 'tls.client.certificate.bound.access.tokens',
  dpop_bound_access_tokens: 'dpop.bound.access.tokens',
  require_pushed_authorization_requests: 'require.pushed.authorization.requests',
  post_logout_redirect_uris: 'post.logout.redirect.uris',
  backchannel_logout_uri: 'backchannel.logout.url',
  backchannel_logout_session_required: 'backchannel.logout.session.required',
  backchannel_logout_revoke_offline_tokens: 'backchannel.logout.revoke.offline.tokens',
  frontchannel_logout_uri: 'frontchannel.logout.url',
  frontchannel_logout_session_required: 'frontchannel.logout.session.required',
  backchannel_token_delivery_mode: 'ciba.backchannel.token.delivery.mode',
  backchannel_client_notification_endpoint: 'ciba.backchannel.client.notification.endpoint',
  backchannel_authentication_request_signing_alg: 'ciba.backchannel.auth.request.signing.alg',
}

/** Keycloak: the values of metadata that is absent. */
const defaults = {
  backchannel_logout_session_required: true,
  backchannel_logout_revoke_offline_tokens: false,
  frontchannel_logout_session_required: false,
}

/** Maps grant types to the client attributes that enable them. */
export const grantAttributes: Readonly<Record<string, string>> = {
  refresh_token: 'use.refresh.tokens',
  'urn:ietf:params:oauth:grant-type:device_code': 'oauth2.device.authorization.grant.enabled',
  'urn:ietf:params:oauth:grant-type:jwt-bearer': 'oauth2.jwt.authorization.grant.enabled',
  'urn:ietf:params:oauth:grant-type:token-exchange': 'standard.token.exchange.enabled',
  'urn:openid:params:grant-type:ciba': 'oidc.ciba.grant.enabled',
}

/** Maps client authentication methods to client authenticators. */
export const authenticators: Readonly<Record<string, string>> = {
  none: 'none',
  client_secret_basic: 'client-secret',
  client_secret_post: 'client-secret',
  client_secret_jwt: 'client-secret-jwt',
  private_key_jwt: 'client-jwt',
  tls_client_auth: 'client-x509',
}

/** The schema of client metadata. */
export const openIdMetadata = z.strictObject({
  client_id: text('Client ID.'),
  client_id_issued_at: z.number().nullish().describe('Ignored.'),
  client_name: text('Name that users see.'),
  client_uri: text('Home page of the client.'),
  redirect_uris: z.array(z.string()).describe('Redirect URIs that a login may return to.'),
  scope: text('Optional client scopes, separated by spaces.'),
  response_types: texts('Response types that the client may request.'),
  grant_types: texts('Grant types that the client may use.'),
  token_endpoint_auth_method: z
    .enum(Object.keys(authenticators))
    .nullish()
    .describe('Client authentication method; default: client_secret_basic.'),
  jwks: z
    .object({ keys: z.array(z.looseObject({})) })
    .nullish()
    .describe('Public keys of the client; excludes jwks_uri.'),
  jwks_uri: text('URL of the public keys of the client; excludes jwks.'),
  tls_client_auth_subject_dn: text('Subject DN of the client certificate.'),
  application_type: text('Ignored.'),
  subject_type: text('Ignored.'),
  contacts: texts('Ignored.'),
  default_max_age: z.number().nullish().describe('Ignored.'),
  require_auth_time: flag('Ignored.'),
  initiate_login_uri: text('Ignored.'),
  software_id: text('Ignored.'),
  software_version: text('Ignored.'),
  logo_uri: text('URL of the logo.'),
  policy_uri: text('URL of the privacy policy.'),
  tos_uri: text('URL of the terms of service.'),
  sector_identifier_uri: text('URL of the redirect URIs that share pairwise subject identifiers.'),
  token_endpoint_auth_signing_alg: algorithm('signing client assertions'),
  id_token_signed_response_alg: algorithm('signing ID tokens'),
  id_token_encrypted_response_alg: algorithm('encrypting the keys of ID tokens'),
  id_token_encrypted_response_enc: algorithm('encrypting ID tokens'),
  userinfo_signed_response_alg: algorithm('signing user info'),
  userinfo_encrypted_response_alg: algorithm('encrypting the keys of user info'),
  userinfo_encrypted_response_enc: algorithm('encrypting user info'),
  request_object_signing_alg: algorithm('signing request objects'),
  authorization_signed_response_alg: algorithm('signing authorization responses'),
  authorization_encrypted_response_alg: algorithm('encrypting the keys of authorization responses'),
  authorization_encrypted_response_enc: algorithm('encrypting authorization responses'),
  request_uris: texts('URLs of request objects that the client may refer to.'),
  default_acr_values: texts('Default levels of authentication that the client requests.'),
  tls_client_certificate_bound_access_tokens: flag('Whether access tokens are bound to the client certificate.'),
  dpop_bound_access_tokens: flag('Whether access tokens are bound to a DPoP key.'),
  require_pushed_authorization_requests: flag('Whether authorization requests must be pushed.'),
  post_logout_redirect_uris: texts('Redirect URIs that a logout may return to.'),
  backchannel_logout_uri: text('URL that receives back-channel logout tokens.'),
  backchannel_logout_session_required: flag(
    'Whether back-channel logout tokens contain the session id; default: true.',
  ),
  backchannel_logout_revoke_offline_tokens: flag('Whether a logout revokes offline tokens; default: false.'),
  frontchannel_logout_uri: text('URL of the front-channel logout page.'),
  frontchannel_logout_session_required: flag(
    'Whether the front-channel logout page receives the session id; default: false.',
  ),
  backchannel_token_delivery_mode: text('CIBA token delivery mode.'),
  backchannel_client_notification_endpoint: text('CIBA notification endpoint.'),
  backchannel_authentication_request_signing_alg: algorithm('signing CIBA requests'),
})

/** The schema of client metadata in a registration. Members that the server sets are ignored. */
export const registrationMetadata = openIdMetadata.extend({
  redirect_uris: texts('Redirect URIs that a login may return to.'),
  token_endpoint_auth_method: text('Client authentication method; default: client_secret_basic.'),
  client_secret: text('Ignored.'),
  client_secret_expires_at: z.number().nullish().describe('Ignored.'),
  registration_access_token: text('Ignored.'),
  registration_client_uri: text('Ignored.'),
})

/** OpenID Connect client metadata. */
export type OpenIdMetadata = z.infer<typeof openIdMetadata>

/** Converts metadata to a client representation. Throws invalid where both `jwks` and `jwks_uri` are present. */
export function toClientRepresentation(metadata: OpenIdMetadata): Representation {
  const {
    grant_types,
    jwks,
    jwks_uri,
    token_endpoint_auth_method: method,
    tls_client_auth_subject_dn: subject,
  } = metadata
  if (jwks && jwks_uri)
    throw failure('invalid', 'The client metadata contains both jwks and jwks_uri. Remove one of them.')
  const flows = getFlows(metadata)
  const attributes = {
    ...toAttributes(metadata),
    ...(method?.startsWith('client_secret_') &&
      method !== 'client_secret_jwt' && { 'client.secret.authentication.allowed.method': method }),
    ...(grant_types && toGrantAttributes(grant_types)),
    ...((jwks || jwks_uri) && { 'use.jwks.url': String(!jwks), 'use.jwks.string': String(!!jwks) }),
    ...(jwks && { 'jwks.string': JSON.stringify(jwks) }),
    ...(jwks_uri && { 'jwks.url': jwks_uri }),
    ...(subject && { 'x509.subjectdn': subject, 'x509.allow.regex.pattern.comparison': 'false' }),
  }
  const { client_id, client_name, client_uri, redirect_uris, scope, frontchannel_logout_uri } = metadata
  return {
    ...(client_id && { clientId: client_id }),
    ...(client_name && { name: client_name }),
    ...(client_uri && { baseUrl: client_uri }),
    clientAuthenticatorType: authenticators[method ?? 'client_secret_basic']!,
    redirectUris: redirect_uris,
    standardFlowEnabled: flows.code,
    implicitFlowEnabled: flows.implicit,
    directAccessGrantsEnabled: grant_types?.includes('password') ?? false,
    ...(grant_types && {
      serviceAccountsEnabled: grant_types.includes('client_credentials'),
      authorizationServicesEnabled: grant_types.includes('urn:ietf:params:oauth:grant-type:uma-ticket'),
    }),
    publicClient: method === 'none',
    frontchannelLogout: !!frontchannel_logout_uri,
    protocol: 'openid-connect',
    attributes,
    ...(typeof scope === 'string' && { optionalClientScopes: scope.split(' ').filter(Boolean) }),
  }
}

/**
 * Returns the flows that are enabled. Keycloak: response types decide, or grant types if there are none; without both it
 * is the authorization code flow.
 */
function getFlows({ response_types, grant_types }: OpenIdMetadata): { code: boolean; implicit: boolean } {
  if (!response_types?.length && grant_types?.length)
    return { code: grant_types.includes('authorization_code'), implicit: grant_types.includes('implicit') }
  const parts = (response_types?.length ? response_types : ['code']).flatMap((type) => type.split(' '))
  return {
    code: parts.some((part) => part === 'code' || part === 'none'),
    implicit: parts.some((part) => part === 'token' || part === 'id_token'),
  }
}

function toAttributes(metadata: OpenIdMetadata): Record<string, string> {
  const present = Object.entries(metadata).filter(([, value]) => value != null)
  const values = Object.entries({ ...defaults, ...Object.fromEntries(present) })
  return Object.fromEntries(
    values.flatMap(([name, value]) => {
      const attribute = metadataAttributes[name]
      return attribute === undefined ? [] : [[attribute, Array.isArray(value) ? value.join('##') : String(value)]]
    }),
  )
}

function toGrantAttributes(grantTypes: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(grantAttributes).map(([type, attribute]) => [attribute, String(grantTypes.includes(type))]),
  )
}
