// Clients as other servers describe them: the metadata of OpenID Connect become a representation. Nothing is kept.
import * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import { failure } from '../context/errors.ts'

const text = (description: string) => z.string().nullish().describe(description)
const texts = (description: string) => z.array(z.string()).nullish().describe(description)
const flag = (description: string) => z.boolean().nullish().describe(description)
const algorithm = (of: string) => text(`Algorithm: ${of}.`)

/** Fields that are attributes of a client, and what these are called. */
const attributes: Readonly<Record<string, string>> = {
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

/** Keycloak: what a client is that does not say. */
const usual = {
  backchannel_logout_session_required: true,
  backchannel_logout_revoke_offline_tokens: false,
  frontchannel_logout_session_required: false,
}

/** Grants that are switches in attributes, and what these are called. */
const grants: Readonly<Record<string, string>> = {
  refresh_token: 'use.refresh.tokens',
  'urn:ietf:params:oauth:grant-type:device_code': 'oauth2.device.authorization.grant.enabled',
  'urn:ietf:params:oauth:grant-type:jwt-bearer': 'oauth2.jwt.authorization.grant.enabled',
  'urn:ietf:params:oauth:grant-type:token-exchange': 'standard.token.exchange.enabled',
  'urn:openid:params:grant-type:ciba': 'oidc.ciba.grant.enabled',
}

/** How a client proves who it is, and which steps of flows do that. */
const authenticators: Readonly<Record<string, string>> = {
  none: 'none',
  client_secret_basic: 'client-secret',
  client_secret_post: 'client-secret',
  client_secret_jwt: 'client-secret-jwt',
  private_key_jwt: 'client-jwt',
  tls_client_auth: 'client-x509',
}

/** The metadata of a client, as OpenID Connect and what builds on it name them. */
export const openIdMetadata = z.strictObject({
  client_id: text('Name of the client.'),
  client_id_issued_at: z.number().nullish().describe('When it was given; not used.'),
  client_name: text('Name as people see it.'),
  client_uri: text('Page of the client.'),
  redirect_uris: z.array(z.string()).describe('Where people may be sent back to.'),
  scope: text('Names of optional client scopes, apart by spaces.'),
  response_types: texts('What the client asks for at log-in.'),
  grant_types: texts('How the client gets tokens.'),
  token_endpoint_auth_method: z.enum(Object.keys(authenticators)).nullish().describe('How it proves who it is.'),
  jwks: z
    .object({ keys: z.array(z.looseObject({})) })
    .nullish()
    .describe('Its public keys.'),
  jwks_uri: text('Where its public keys are.'),
  tls_client_auth_subject_dn: text('Subject of its certificate.'),
  application_type: text('Not used.'),
  subject_type: text('Not used.'),
  contacts: texts('Not used.'),
  default_max_age: z.number().nullish().describe('Not used.'),
  require_auth_time: flag('Not used.'),
  initiate_login_uri: text('Not used.'),
  software_id: text('Not used.'),
  software_version: text('Not used.'),
  logo_uri: text('Its picture.'),
  policy_uri: text('What it does with data.'),
  tos_uri: text('Its terms.'),
  sector_identifier_uri: text('Where addresses stand for which people have one id.'),
  token_endpoint_auth_signing_alg: algorithm('how it signs assertions'),
  id_token_signed_response_alg: algorithm('how its ID tokens are signed'),
  id_token_encrypted_response_alg: algorithm('how keys of its ID tokens are encrypted'),
  id_token_encrypted_response_enc: algorithm('how its ID tokens are encrypted'),
  userinfo_signed_response_alg: algorithm('how user info is signed'),
  userinfo_encrypted_response_alg: algorithm('how keys of user info are encrypted'),
  userinfo_encrypted_response_enc: algorithm('how user info is encrypted'),
  request_object_signing_alg: algorithm('how it signs requests'),
  authorization_signed_response_alg: algorithm('how answers of log-in are signed'),
  authorization_encrypted_response_alg: algorithm('how keys of these answers are encrypted'),
  authorization_encrypted_response_enc: algorithm('how these answers are encrypted'),
  request_uris: texts('Where its requests may stand.'),
  default_acr_values: texts('Levels of authentication that it asks for.'),
  tls_client_certificate_bound_access_tokens: flag('Whether its tokens are bound to its certificate.'),
  dpop_bound_access_tokens: flag('Whether its tokens are bound to its key.'),
  require_pushed_authorization_requests: flag('Whether it announces log-ins.'),
  post_logout_redirect_uris: texts('Where people may be sent back to after log-out.'),
  backchannel_logout_uri: text('Where it is told of log-outs.'),
  backchannel_logout_session_required: flag('Whether it is told which session ends.'),
  backchannel_logout_revoke_offline_tokens: flag('Whether log-out ends offline tokens too.'),
  frontchannel_logout_uri: text('The page by which browsers log out.'),
  frontchannel_logout_session_required: flag('Whether that page is told which session ends.'),
  backchannel_token_delivery_mode: text('How it hears that somebody agreed elsewhere.'),
  backchannel_client_notification_endpoint: text('Where it hears that.'),
  backchannel_authentication_request_signing_alg: algorithm('how it signs such requests'),
})

/** The metadata of a client. */
export type OpenIdMetadata = z.infer<typeof openIdMetadata>

/** The representation that metadata describe. Throws invalid where keys are stated twice. */
export function clientDescribed(metadata: OpenIdMetadata): Representation {
  const {
    grant_types,
    jwks,
    jwks_uri,
    token_endpoint_auth_method: method,
    tls_client_auth_subject_dn: subject,
  } = metadata
  if (jwks && jwks_uri) throw failure('invalid', 'Keys stand in jwks or at jwks_uri, not in both')
  const flows = flowsOf(metadata)
  const attributes = {
    ...attributesOf(metadata),
    ...(method?.startsWith('client_secret_') &&
      method !== 'client_secret_jwt' && { 'client.secret.authentication.allowed.method': method }),
    ...(grant_types && granted(grant_types)),
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

/** Keycloak: response types say which flows there are, grants where there are none, and otherwise it is that with a code. */
function flowsOf({ response_types, grant_types }: OpenIdMetadata): { code: boolean; implicit: boolean } {
  if (!response_types?.length && grant_types?.length)
    return { code: grant_types.includes('authorization_code'), implicit: grant_types.includes('implicit') }
  const parts = (response_types?.length ? response_types : ['code']).flatMap((one) => one.split(' '))
  return {
    code: parts.some((part) => part === 'code' || part === 'none'),
    implicit: parts.some((part) => part === 'token' || part === 'id_token'),
  }
}

function attributesOf(metadata: OpenIdMetadata): Record<string, string> {
  const stated = Object.entries(metadata).filter(([, value]) => value != null)
  const all = Object.entries({ ...usual, ...Object.fromEntries(stated) })
  return Object.fromEntries(
    all.flatMap(([name, value]) => {
      const called = attributes[name]
      return called === undefined ? [] : [[called, Array.isArray(value) ? value.join('##') : String(value)]]
    }),
  )
}

function granted(stated: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(grants).map(([grant, name]) => [name, String(stated.includes(grant))]))
}
