// Public metadata of a realm. Only supported features are listed.
import { createHash } from 'node:crypto'
import type { JWK } from 'jose'
import { CONTENT_ENCRYPTION_ALGORITHMS, KEY_ENCRYPTION_ALGORITHMS } from '../../kinds/encryption-algorithms.ts'
import { readFlag, readTextMap } from '../../kinds/json.ts'
import { SIGNING_ALGORITHMS } from '../../kinds/key-providers.ts'
import { cachePerRevision, requireSameRealm } from '../../service/context/realm-values.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { Transport } from '../../service/context/transport.ts'
import { type LiveObject, listObjects } from '../../service/objects/live-objects.ts'
import type { RealmKey } from '../../service/realms/realm-keys.ts'
import { AUTHENTICATION_METHODS } from '../client-authentication/authenticate-client.ts'
import type { RealmEndpoint } from '../client-call.ts'
import { listLevels } from '../login/authenticators/authentication-level.ts'
import { responseModes } from '../login/authorization-response.ts'
import { readFlow } from '../login/load-flow.ts'
import { parseLevels } from '../mappers/session.ts'
import { getIssuer, getOidcRealm, readOidcRealm, requireHttps } from '../oidc-realm.ts'
import { getSigningKey, listRealmKeys } from '../realm-keys.ts'
import { PROOF_ALGORITHMS } from '../sender-constraints/dpop-proof.ts'
import { grantTypes } from './token-endpoint.ts'

/** A realm of a server, which may accept the TLS certificates of clients. */
interface MetadataEndpoint extends RealmEndpoint {
  readonly acceptsCertificates?: boolean
}

/** The parts of the metadata that the objects of a realm determine. */
interface RealmMetadata {
  readonly scopes: readonly string[]
  /** The levels of authentication in the flow for browsers. */
  readonly levels: readonly number[]
}

/** Reads the metadata of a realm. Four statements, or none while the configuration does not change. */
const getRealmMetadata = cachePerRevision<RealmMetadata>((service, { name, number }) =>
  service.read(SYSTEM, name, async (context) => {
    const { settings, revision } = await readOidcRealm(requireSameRealm(context, { number }))
    const scopes = await listObjects(context, 'clientScope', {})
    const levels = listLevels(await readFlow(context, settings.browserFlow))
    return { revision, value: { scopes: scopes.filter(isAnnounced).map(({ key }) => key[0]!), levels } }
  }),
)

/** Whether the metadata contains a client scope. Keycloak: an attribute of the scope can exclude it. */
function isAnnounced({ representation: { protocol, attributes } }: LiveObject): boolean {
  return protocol === 'openid-connect' && readFlag(readTextMap(attributes)['include.in.openid.provider.metadata'], true)
}

/** Returns the levels that clients can request: names that the realm maps to levels, and the levels of its flow. */
function listLevelNames(attributes: Readonly<Record<string, string>> | undefined, levels: readonly number[]): string[] {
  const ofFlow = levels.length ? [0, ...levels] : [0, 1]
  return [...new Set([...Object.keys(parseLevels(attributes) ?? {}), ...ofFlow.map(String)])]
}

/** Returns the document of OpenID Connect Discovery. It is also the authorization server metadata of RFC 8414. Throws OAuthError. */
export async function getDiscoveryDocument(
  { service, base, realmName, acceptsCertificates = false }: MetadataEndpoint,
  transport: Transport,
): Promise<Record<string, unknown>> {
  const realm = await getOidcRealm(service, realmName)
  requireHttps(realm, transport)
  const { scopes, levels } = await getRealmMetadata(service, realm)
  const { attributes, registrationAllowed } = realm.settings
  const issuer = getIssuer(base, realm)
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
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    check_session_iframe: `${issuer}/protocol/openid-connect/login-status-iframe.html`,
    jwks_uri: `${issuer}/protocol/openid-connect/certs`,
    registration_endpoint: `${issuer}/clients-registrations/openid-connect`,
    grant_types_supported: grantTypes,
    response_types_supported: ['code'],
    response_modes_supported: responseModes,
    code_challenge_methods_supported: ['plain', 'S256'],
    prompt_values_supported: ['none', 'login', 'consent', ...(registrationAllowed === true ? ['create'] : [])],
    scopes_supported: ['openid', ...scopes],
    acr_values_supported: listLevelNames(attributes, levels),
    subject_types_supported: ['public', 'pairwise'],
    id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
    userinfo_signing_alg_values_supported: [...SIGNING_ALGORITHMS, 'none'],
    ...getProtectionMetadata(issuer),
    ...getAuthenticationMetadata(acceptsCertificates),
    ...(acceptsCertificates && getCertificateMetadata(issuer)),
    claim_types_supported: ['normal'],
    claims_parameter_supported: true,
    claims_supported: [
      'iss',
      'sub',
      'aud',
      'exp',
      'iat',
      'auth_time',
      'name',
      'given_name',
      'family_name',
      'preferred_username',
      'email',
      'acr',
      'azp',
      'nonce',
    ],
  }
}

/** Returns the members for protected requests and responses of a realm with an issuer. */
function getProtectionMetadata(issuer: string): Record<string, unknown> {
  const prefix = `${issuer}/protocol/openid-connect`
  return {
    authorization_response_iss_parameter_supported: true,
    pushed_authorization_request_endpoint: `${prefix}/ext/par/request`,
    require_pushed_authorization_requests: false,
    request_parameter_supported: true,
    request_uri_parameter_supported: true,
    require_request_uri_registration: true,
    request_object_signing_alg_values_supported: [...SIGNING_ALGORITHMS, 'none'],
    authorization_signing_alg_values_supported: SIGNING_ALGORITHMS,
    ...getEncryptionMetadata('id_token'),
    ...getEncryptionMetadata('userinfo'),
    ...getEncryptionMetadata('authorization'),
    ...getEncryptionMetadata('request_object'),
    dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
  }
}

/** Returns the encryption algorithms of a type of token. */
const getEncryptionMetadata = (token: string) => ({
  [`${token}_encryption_alg_values_supported`]: KEY_ENCRYPTION_ALGORITHMS,
  [`${token}_encryption_enc_values_supported`]: CONTENT_ENCRYPTION_ALGORITHMS,
})

/** Returns the document of User-Managed Access 2.0. Keycloak: its members are some of those of OpenID Connect Discovery. Throws OAuthError. */
export async function getUmaDocument(endpoint: RealmEndpoint, transport: Transport): Promise<Record<string, unknown>> {
  const metadata = await getDiscoveryDocument(endpoint, transport)
  const protection = `${metadata.issuer}/authz/protection`
  return {
    ...Object.fromEntries(UMA_MEMBERS.map((name) => [name, metadata[name]])),
    resource_registration_endpoint: `${protection}/resource_set`,
    permission_endpoint: `${protection}/permission`,
    policy_endpoint: `${protection}/uma-policy`,
  }
}

const UMA_MEMBERS = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'introspection_endpoint',
  'end_session_endpoint',
  'frontchannel_logout_session_supported',
  'frontchannel_logout_supported',
  'jwks_uri',
  'registration_endpoint',
  'grant_types_supported',
  'response_types_supported',
  'response_modes_supported',
  'token_endpoint_auth_methods_supported',
  'token_endpoint_auth_signing_alg_values_supported',
  'scopes_supported',
]

/** Returns the client authentication methods of the endpoints. */
function getAuthenticationMetadata(acceptsCertificates: boolean): Record<string, readonly string[]> {
  const methods = [...AUTHENTICATION_METHODS, ...(acceptsCertificates ? ['tls_client_auth'] : [])]
  const entries = ['token', 'introspection', 'revocation'].flatMap((endpoint) => [
    [`${endpoint}_endpoint_auth_methods_supported`, methods],
    [`${endpoint}_endpoint_auth_signing_alg_values_supported`, SIGNING_ALGORITHMS],
  ])
  return Object.fromEntries(entries)
}

/** Returns the members for clients with TLS certificates. The endpoints are the same. RFC 8705, section 5. */
function getCertificateMetadata(issuer: string): Record<string, unknown> {
  const prefix = `${issuer}/protocol/openid-connect`
  return {
    tls_client_certificate_bound_access_tokens: true,
    mtls_endpoint_aliases: {
      token_endpoint: `${prefix}/token`,
      revocation_endpoint: `${prefix}/revoke`,
      introspection_endpoint: `${prefix}/token/introspect`,
      userinfo_endpoint: `${prefix}/userinfo`,
      pushed_authorization_request_endpoint: `${prefix}/ext/par/request`,
    },
  }
}

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
    'token-service': `${getIssuer(base, realm)}/protocol/openid-connect`,
    'account-service': `${getIssuer(base, realm)}/account`,
    'tokens-not-before': realm.settings.notBefore,
  }
}
