// Public metadata of a realm. Only supported features are listed.
import { createHash } from 'node:crypto'
import type { JWK } from 'jose'
import { SIGNING_ALGORITHMS } from '../../kinds/key-providers.ts'
import type { Service } from '../../service/context/service.ts'
import type { Transport } from '../../service/context/transport.ts'
import type { RealmKey } from '../../service/realms/realm-keys.ts'
import { AUTHENTICATION_METHODS } from '../client-authentication/authenticate-client.ts'
import type { RealmEndpoint } from '../client-call.ts'
import { responseModes } from '../login/authorization-response.ts'
import { getIssuer, getOidcRealm, requireHttps } from '../oidc-realm.ts'
import { getSigningKey, listRealmKeys } from '../realm-keys.ts'
import { grantTypes } from './token-endpoint.ts'

/** Returns the document of OpenID Connect Discovery. Throws OAuthError. */
export async function getDiscoveryDocument(
  { service, base, realmName }: RealmEndpoint,
  transport: Transport,
): Promise<Record<string, unknown>> {
  const realm = await getOidcRealm(service, realmName)
  requireHttps(realm, transport)
  const issuer = getIssuer(base, realm.name)
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
    ...getAuthenticationMetadata('token_endpoint'),
    ...getAuthenticationMetadata('introspection_endpoint'),
    ...getAuthenticationMetadata('revocation_endpoint'),
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

/** Returns the client authentication methods of an endpoint. */
const getAuthenticationMetadata = (endpoint: string) => ({
  [`${endpoint}_auth_methods_supported`]: AUTHENTICATION_METHODS,
  [`${endpoint}_auth_signing_alg_values_supported`]: SIGNING_ALGORITHMS,
})

/** Returns the public keys of the realm as a JWK set. Throws OAuthError. */
export async function getPublicKeys(
  service: Service,
  realmName: string,
  transport: Transport,
): Promise<Record<string, unknown>> {
  const realm = await getOidcRealm(service, realmName)
  requireHttps(realm, transport)
  const keys = await listRealmKeys(service, realm)
  return { keys: keys.filter(({ type, status }) => type !== 'OCT' && status !== 'DISABLED').map(toPublicJwk) }
}

function toPublicJwk({ kid, algorithm, use, verificationKey, certificate }: RealmKey): JWK {
  const digest = (hash: string, bytes: Buffer) => createHash(hash).update(bytes).digest('base64url')
  const { kty, ...parameters } = verificationKey.export({ format: 'jwk' })
  return {
    kid,
    kty: kty!,
    alg: algorithm,
    use,
    ...(certificate && {
      x5c: [certificate.raw.toString('base64')],
      x5t: digest('sha1', certificate.raw),
      'x5t#S256': digest('sha256', certificate.raw),
    }),
    ...parameters,
  }
}

/** Returns the description of a realm at its own address. Keycloak: PublicRealmResource. Throws OAuthError. */
export async function getPublicRealm(
  service: Service,
  base: string,
  realmName: string,
): Promise<Record<string, unknown>> {
  const realm = await getOidcRealm(service, realmName)
  const { verificationKey } = await getSigningKey(service, realm, 'RS256')
  return {
    realm: realm.name,
    public_key: verificationKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    'token-service': `${getIssuer(base, realm.name)}/protocol/openid-connect`,
    'account-service': `${getIssuer(base, realm.name)}/account`,
    'tokens-not-before': realm.settings.notBefore,
  }
}
