// The effects of clients and client scopes.
import { authorizationSettingsEffects } from './authorization.ts'
import { apiData, byProvider, combineEffects, enforced, type KindEffects, storedOnly } from './field-effect.ts'
import {
  NO_CIBA,
  NO_CONSOLES,
  NO_DEVICE_GRANT,
  NO_IMPLICIT_FLOW,
  NO_JWT_GRANT,
  NO_PARAMETERIZED_SCOPES,
  NO_SAML,
  NO_TOKEN_EXCHANGE,
} from './reasons.ts'

const attributes = (...names: readonly string[]): string[] => names.map((name) => `attributes.${name}`)

/** The tests of protections that refuse. */
const PROTECTIONS = 'test/oidc/unsupported-protections.test.ts'

/** The effects of the fields of clients. */
export const clientEffects: KindEffects = combineEffects(
  enforced('test/oidc/token-validity.test.ts', ['notBefore']),
  enforced('test/oidc/client-authentication.test.ts', ['attributes.token.endpoint.auth.signing.alg']),
  enforced('test/login/required-actions.test.ts', ['consentRequired']),
  enforced('test/login/logout-settings.test.ts', [
    'attributes.frontchannel.logout.session.required',
    'attributes.backchannel.logout.session.required',
    'attributes.backchannel.logout.revoke.offline.tokens',
    'registeredNodes',
  ]),
  apiData('test/admin/clients.test.ts', [
    'clientId',
    'attributes.*',
    'attributes.client.secret.creation.time',
    'attributes.realm_client',
  ]),
  apiData('test/conformance/fields.test.ts', ['description']),
  enforced('test/reconcile/client-types.test.ts', ['type']),
  apiData('test/oidc/client-authentication.test.ts', ['attributes.client.secret.rotated.creation.time']),
  enforced('test/login/required-actions.test.ts', ['name']),
  enforced('test/oidc/token-settings.test.ts', [
    'bearerOnly',
    'defaultClientScopes',
    'directAccessGrantsEnabled',
    'fullScopeAllowed',
    'optionalClientScopes',
    'scopeMappings',
    'serviceAccountsEnabled',
    'standardFlowEnabled',
    ...attributes(
      'access.token.lifespan',
      'allow.token.introspection.without.audience.check',
      'client_credentials.use_refresh_token',
      'client.use.lightweight.access.token.enabled',
      'exclude.issuer.from.auth.response',
      'exclude.session.state.from.auth.response',
      'token.endpoint.auth.signing.max.exp',
      'use.refresh.tokens',
    ),
  ]),
  enforced('test/login/hostile-input.test.ts', attributes('allow.oidc.params.in.redirect.uris')),
  enforced('test/oidc/session-settings.test.ts', [
    ...attributes(
      'client.offline.session.idle.timeout',
      'client.offline.session.max.lifespan',
      'client.session.idle.timeout',
      'client.session.max.lifespan',
    ),
  ]),
  enforced('test/login/login-settings.test.ts', [
    'authenticationFlowBindingOverrides',
    'baseUrl',
    'rootUrl',
    ...attributes('consent.screen.text', 'default.acr.values', 'display.on.consent.screen', 'gui.order'),
  ]),
  enforced('test/login/logout.test.ts', [
    'frontchannelLogout',
    'attributes.frontchannel.logout.url',
    'attributes.post.logout.redirect.uris',
  ]),
  enforced('test/login/hostile-input.test.ts', ['redirectUris']),
  enforced('test/login/best-practice.test.ts', ['attributes.pkce.code.challenge.method']),
  enforced('test/oidc/dpop.test.ts', ['attributes.dpop.bound.access.tokens']),
  enforced('test/login/signed-responses.test.ts', [
    ...attributes('authorization.encrypted.response.alg', 'authorization.encrypted.response.enc'),
    ...attributes('authorization.signed.response.alg'),
  ]),
  enforced('test/oidc/encrypted-tokens.test.ts', [
    ...attributes('id.token.encrypted.response.alg', 'id.token.encrypted.response.enc'),
    ...attributes('user.info.encrypted.response.alg', 'user.info.encrypted.response.enc'),
  ]),
  enforced('test/oidc/client-certificates.test.ts', [
    ...attributes('tls.client.certificate.bound.access.tokens'),
    ...attributes('x509.allow.regex.pattern.comparison', 'x509.subjectdn'),
  ]),
  enforced('test/login/request-objects.test.ts', [
    ...attributes('request.object.encryption.alg', 'request.object.encryption.enc', 'request.object.required'),
    ...attributes('request.object.signature.alg', 'request.uris'),
  ]),
  enforced('test/login/pushed-requests.test.ts', ['attributes.require.pushed.authorization.requests']),
  enforced('test/login/authentication-levels.test.ts', attributes('acr.loa.map', 'minimum.acr.value')),
  enforced('test/http/cors.test.ts', ['webOrigins']),
  enforced('test/oidc/sessions.test.ts', ['adminUrl', 'attributes.backchannel.logout.url']),
  enforced('test/oidc/tokens.test.ts', ['enabled', 'publicClient', 'secret']),
  enforced('test/oidc/client-authentication.test.ts', [
    ...attributes(
      'client.secret.authentication.allowed.method',
      'client.secret.expiration.time',
      'client.secret.rotated',
      'client.secret.rotated.expiration.time',
      'jwks.string',
      'jwks.url',
      'jwt.credential.certificate',
      'jwt.credential.public.key',
      'use.jwks.string',
      'use.jwks.url',
    ),
  ]),
  enforced('test/oidc/federated-clients.test.ts', attributes('jwt.credential.issuer', 'jwt.credential.sub')),
  enforced('test/oidc/keys.test.ts', [
    ...attributes(
      'access.token.signed.response.alg',
      'id.token.signed.response.alg',
      'user.info.response.signature.alg',
    ),
  ]),
  enforced('test/conformance/token-content.test.ts', ['attributes.sectorIdentifierUri']),
  enforced(PROTECTIONS, ['attributes.allow.userinfo.with.lightweight.access.token']),
  enforced('test/admin/authorization.test.ts', ['authorizationServicesEnabled']),
  authorizationSettingsEffects,
  {
    protocol: byProvider(
      { label: 'protocol', unlisted: 'users cannot log in to such clients' },
      enforced('test/oidc/tokens.test.ts', ['openid-connect']),
      storedOnly(NO_SAML, ['saml']),
    ),
    clientAuthenticatorType: byProvider(
      { label: 'client authenticator', unlisted: 'token requests are refused', effect: 'refused' },
      enforced('test/oidc/client-authentication.test.ts', ['client-secret', 'client-jwt', 'client-secret-jwt']),
      enforced('test/oidc/client-certificates.test.ts', ['client-x509']),
      enforced('test/oidc/federated-clients.test.ts', ['federated-jwt']),
    ),
  },
  storedOnly('it is a legacy field of Keycloak, which ignores it too', ['surrogateAuthRequired']),
  storedOnly(NO_IMPLICIT_FLOW, ['implicitFlowEnabled', 'attributes.id.token.as.detached.signature']),
  storedOnly(NO_CONSOLES, ['alwaysDisplayInConsole', 'attributes.security.admin.console']),
  storedOnly('cluster nodes never have to register again', ['nodeReRegistrationTimeout'], [-1, 0]),
  storedOnly(NO_DEVICE_GRANT, attributes('oauth2.device.authorization.grant.enabled')),
  storedOnly(NO_CIBA, [
    ...attributes(
      'ciba.backchannel.auth.request.signing.alg',
      'ciba.backchannel.client.notification.endpoint',
      'ciba.backchannel.token.delivery.mode',
      'oidc.ciba.grant.enabled',
    ),
  ]),
  storedOnly(NO_TOKEN_EXCHANGE, [
    ...attributes('standard.token.exchange.enabled', 'standard.token.exchange.enableRefreshRequestedTokenType'),
    ...attributes('external.token.enabled', 'external.token.idp'),
  ]),
  storedOnly(NO_JWT_GRANT, [
    ...attributes(
      'oauth2.jwt.authorization.grant.audience',
      'oauth2.jwt.authorization.grant.enabled',
      'oauth2.jwt.authorization.grant.idp',
    ),
  ]),
  storedOnly('pages do not show it', attributes('logoUri', 'policyUri', 'tosUri')),
  storedOnly('token types are written as Bearer', attributes('token.response.type.bearer.lower-case')),
  storedOnly('access tokens have the type JWT', attributes('access.token.header.type.rfc9068')),
  storedOnly(
    'introspection returns no signed tokens',
    attributes('client.introspection.response.allow.jwt.claim.enabled'),
  ),
  storedOnly('logouts without a hint are always confirmed', attributes('logout.confirmation.enabled')),
  storedOnly(NO_SAML, [
    ...attributes(
      'saml.allow.ecp.flow',
      'saml.artifact.binding',
      'saml.artifact.binding.identifier',
      'saml.assertion.lifespan',
      'saml.assertion.signature',
      'saml.authnstatement',
      'saml.client.signature',
      'saml.descriptor.cache.seconds',
      'saml.encrypt',
      'saml.encryption.algorithm',
      'saml.encryption.certificate',
      'saml.encryption.digestMethod',
      'saml.encryption.keyAlgorithm',
      'saml.encryption.maskGenerationFunction',
      'saml.encryption.private.key',
      'saml.force.post.binding',
      'saml.metadataDescriptorUrl',
      'saml.multivalued.roles',
      'saml.onetimeuse.condition',
      'saml.server.signature',
      'saml.server.signature.keyinfo.ext',
      'saml.server.signature.keyinfo.xmlSigKeyInfoKeyNameTransformer',
      'saml.signature.algorithm',
      'saml.signing.certificate',
      'saml.signing.private.key',
      'saml.useMetadataDescriptorUrl',
      'saml_artifact_binding_url',
      'saml_assertion_consumer_url_artifact',
      'saml_assertion_consumer_url_post',
      'saml_assertion_consumer_url_redirect',
      'saml_artifact_resolution_service_url',
      'saml_force_name_id_format',
      'saml_idp_initiated_sso_relay_state',
      'saml_idp_initiated_sso_url_name',
      'saml_name_id_format',
      'saml_signature_canonicalization_method',
      'saml_single_logout_service_url_artifact',
      'saml_single_logout_service_url_post',
      'saml_single_logout_service_url_redirect',
      'saml_single_logout_service_url_soap',
    ),
  ]),
)

/** The effects of the fields of client scopes. */
export const clientScopeEffects: KindEffects = combineEffects(
  apiData('test/admin/client-scopes.test.ts', ['attributes.*', 'description', 'name']),
  enforced('test/oidc/token-settings.test.ts', ['attributes.include.in.token.scope', 'scopeMappings']),
  enforced('test/login/login-settings.test.ts', [
    'attributes.consent.screen.text',
    'attributes.display.on.consent.screen',
    'attributes.gui.order',
  ]),
  enforced('test/oidc/discovery.test.ts', ['attributes.include.in.openid.provider.metadata']),
  storedOnly(NO_PARAMETERIZED_SCOPES, [
    'attributes.is.parameterized.scope',
    'attributes.parameterized.scope.allow.user.data',
    'attributes.parameterized.scope.regexp',
    'attributes.parameterized.scope.repeatable',
    'attributes.parameterized.scope.type',
  ]),
  storedOnly('users consent once', ['attributes.always.display.consent']),
  {
    protocol: byProvider(
      { label: 'protocol', unlisted: 'users cannot log in to such clients' },
      enforced('test/oidc/token-settings.test.ts', ['openid-connect']),
      storedOnly(NO_SAML, ['saml']),
    ),
  },
)
