// What a realm says of itself to everybody. Only what works is advertised.
import { SIGNING_ALGORITHMS } from '../../kinds/key-providers.ts'
import type { Service } from '../../service/context/service.ts'
import type { Transport } from '../../service/context/transport.ts'
import type { Endpoint } from '../call.ts'
import { AUTHENTICATION_METHODS } from '../client-authentication.ts'
import { keysOf, signingKey } from '../keys.ts'
import { responseModes } from '../login/response.ts'
import { demandHttps, findTokenRealm as find, issuerOf } from '../realm.ts'
import { publicJwks } from './jwks.ts'
import { grantTypes } from './token-endpoint.ts'

/** The document of OpenID Connect Discovery. Throws OAuthError. */
export async function discoveryDocument(
  { service, base, name }: Endpoint,
  transport: Transport,
): Promise<Record<string, unknown>> {
  const realm = await find(service, name)
  demandHttps(realm, transport)
  const issuer = issuerOf(base, realm.name)
  return {
    issuer,
    authorization_endpoint: `${issuer}/protocol/openid-connect/auth`,
    token_endpoint: `${issuer}/protocol/openid-connect/token`,
    introspection_endpoint: `${issuer}/protocol/openid-connect/token/introspect`,
    userinfo_endpoint: `${issuer}/protocol/openid-connect/userinfo`,
    revocation_endpoint: `${issuer}/protocol/openid-connect/revoke`,
    end_session_endpoint: `${issuer}/protocol/openid-connect/logout`,
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: true,
    check_session_iframe: `${issuer}/protocol/openid-connect/login-status-iframe.html`,
    jwks_uri: `${issuer}/protocol/openid-connect/certs`,
    grant_types_supported: grantTypes,
    response_types_supported: ['code'],
    response_modes_supported: responseModes,
    code_challenge_methods_supported: ['plain', 'S256'],
    prompt_values_supported: ['none', 'login', 'consent', 'create'],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
    userinfo_signing_alg_values_supported: [...SIGNING_ALGORITHMS, 'none'],
    ...authenticationAt('token_endpoint'),
    ...authenticationAt('introspection_endpoint'),
    ...authenticationAt('revocation_endpoint'),
    claims_supported: [
      'iss',
      'sub',
      'aud',
      'exp',
      'iat',
      'name',
      'given_name',
      'family_name',
      'preferred_username',
      'email',
    ],
  }
}

/** How clients prove themselves at an endpoint. */
const authenticationAt = (endpoint: string) => ({
  [`${endpoint}_auth_methods_supported`]: AUTHENTICATION_METHODS,
  [`${endpoint}_auth_signing_alg_values_supported`]: SIGNING_ALGORITHMS,
})

/** The public keys of the realm, as a JWK set. Throws OAuthError. */
export async function publicKeys(
  service: Service,
  name: string,
  transport: Transport,
): Promise<Record<string, unknown>> {
  const realm = await find(service, name)
  demandHttps(realm, transport)
  return { keys: publicJwks(await keysOf(service, realm)) }
}

/** Keycloak: PublicRealmResource. Throws OAuthError. */
export async function publicRealm(service: Service, base: string, name: string): Promise<Record<string, unknown>> {
  const realm = await find(service, name)
  const { verifies } = await signingKey(service, realm, 'RS256')
  return {
    realm: realm.name,
    public_key: verifies.export({ type: 'spki', format: 'der' }).toString('base64'),
    'token-service': `${issuerOf(base, realm.name)}/protocol/openid-connect`,
    'account-service': `${issuerOf(base, realm.name)}/account`,
    'tokens-not-before': realm.settings.notBefore ?? 0,
  }
}
