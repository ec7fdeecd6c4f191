// The executors of client policies that configure and check clients when they are created or updated. Keycloak: the errors are its own.
import { readProperty } from '../../kinds/client-types.ts'
import type { FlatFields } from '../../kinds/compare.ts'
import { type Json, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { OIDC } from '../../kinds/login-protocols.ts'
import { isSet } from './policy-conditions.ts'
import type { ClientViolation } from './policy-event.ts'
import { checkSamlBinding, checkSamlSignatures, checkSamlUris } from './saml-executors.ts'
import { checkRedirectUris, checkSecureUris, checkUriPatterns } from './uri-executors.ts'

/** A client that a request or a document proposes. */
export interface ProposedClient {
  /** The complete client. */
  readonly client: Representation
  readonly isDeclared: (path: string) => boolean
}

/** An executor. It configures the client first, and then checks it. */
export interface ClientExecutor {
  /** Returns the values that the client must have instead of the proposed ones. */
  readonly configure?: (configuration: Representation, proposed: ProposedClient) => FlatFields
  readonly check?: (configuration: Representation, client: Representation) => ClientViolation | undefined
}

/** The signature algorithms that profiles of FAPI allow. */
const SECURE_ALGORITHMS: ReadonlySet<string> = new Set(['PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'])

/** Whether profiles of FAPI allow a signature algorithm. */
export const isSecureAlgorithm = (algorithm: string): boolean => SECURE_ALGORITHMS.has(algorithm)

/** Keycloak: the attributes with signature algorithms of a client. */
const algorithmAttributes = [
  'access.token.signed.response.alg',
  'id.token.signed.response.alg',
  'request.object.signature.alg',
  'token.endpoint.auth.signing.alg',
  'user.info.response.signature.alg',
]

const metadataError = (problem: string) => ({
  error: 'invalid_client_metadata',
  message: `Invalid client metadata: ${problem}`,
})
const registrationError = (message: string) => ({ error: 'invalid_registration', message })

/** The executors by the id of their provider. Others do not concern changes of clients. */
export const clientExecutors: Readonly<Record<string, ClientExecutor>> = {
  'confidential-client': {
    check: (_, client) =>
      client.publicClient === true
        ? { error: 'invalid_client', message: 'invalid client access type: public', field: 'publicClient' }
        : undefined,
  },
  'consent-required': requireValue(
    'consentRequired',
    true,
    registrationError('Client is required to enable consentRequired'),
  ),
  'dpop-bind-enforcer': requireValue(
    'attributes.dpop.bound.access.tokens',
    'true',
    metadataError('DPoP token is disabled'),
  ),
  'full-scope-disabled': requireValue(
    'fullScopeAllowed',
    false,
    registrationError('Not permitted to enable fullScopeAllowed'),
  ),
  'holder-of-key-enforcer': requireValue(
    'attributes.tls.client.certificate.bound.access.tokens',
    'true',
    metadataError('MTLS token in disabled'),
  ),
  'pkce-enforcer': requireValue(
    'attributes.pkce.code.challenge.method',
    'S256',
    metadataError('code_challenge_method'),
  ),
  'reject-implicit-grant': requireValue('implicitFlowEnabled', false, metadataError('implicit flow enabled')),
  'reject-request': { check: () => ({ error: 'invalid_request', message: 'Request not allowed', field: 'clientId' }) },
  'reject-ropc-grant': requireValue(
    'directAccessGrantsEnabled',
    false,
    metadataError('resource owner password credentials grant enabled'),
  ),
  'saml-avoid-redirect': { check: (_, client) => checkSamlBinding(client) },
  'saml-secure-client-uris': { check: checkSamlUris },
  'saml-signature-enforcer': { check: (_, client) => checkSamlSignatures(client) },
  'secure-client-authenticator': { configure: configureAuthenticator, check: checkAuthenticator },
  'secure-client-uris': { check: (_, client) => checkSecureUris(client) },
  'secure-client-uris-pattern': { check: checkUriPatterns },
  'secure-logout': { check: checkLogout },
  'secure-redirect-uris-enforcer': { check: checkRedirectUris },
  'secure-response-type': requireValue(
    'attributes.id.token.as.detached.signature',
    'true',
    metadataError('ID Token as detached signature in disabled'),
  ),
  'secure-signature-algorithm': { configure: configureAlgorithms, check: checkAlgorithms },
}

/** Returns an executor that requires one value of a field, and sets it if `auto-configure` is on. */
function requireValue(field: string, value: Json, violation: Omit<ClientViolation, 'field'>): ClientExecutor {
  return {
    configure: (configuration) => (isSet(configuration['auto-configure']) ? { [field]: value } : {}),
    check: (_, client) => (readProperty(client, field) === value ? undefined : { ...violation, field }),
  }
}

/** Whether the executor allows the authenticator of a client. Public clients need none. */
export function isAllowedAuthenticator(configuration: Representation, client: Representation): boolean {
  const allowed = readTexts(configuration['allowed-client-authenticators'])
  return client.publicClient === true || allowed.includes(String(client.clientAuthenticatorType))
}

function configureAuthenticator(configuration: Representation, { client, isDeclared }: ProposedClient): FlatFields {
  const { 'default-client-authenticator': authenticator } = configuration
  const isAllowed = isAllowedAuthenticator(configuration, { ...client, publicClient: false })
  if (isDeclared('clientAuthenticatorType') || isAllowed || typeof authenticator !== 'string') return {}
  return { clientAuthenticatorType: authenticator }
}

function checkAuthenticator(configuration: Representation, client: Representation): ClientViolation | undefined {
  return isAllowedAuthenticator(configuration, client)
    ? undefined
    : { ...metadataError('token_endpoint_auth_method'), field: 'clientAuthenticatorType' }
}

function configureAlgorithms(configuration: Representation, { client }: ProposedClient): FlatFields {
  const algorithm = String(configuration['default-algorithm'] ?? 'PS256')
  if (!isSecureAlgorithm(algorithm)) return {}
  const missing = algorithmAttributes.filter((name) => !readObject(client.attributes)[name])
  return Object.fromEntries(missing.map((name) => [`attributes.${name}`, algorithm]))
}

function checkAlgorithms(_: Representation, client: Representation): ClientViolation | undefined {
  const attributes = readObject(client.attributes)
  const insecure = algorithmAttributes.find((name) => !isSecureAlgorithm(String(attributes[name] ?? '')))
  return insecure === undefined
    ? undefined
    : { error: 'invalid_request', message: 'not allowed signature algorithm.', field: `attributes.${insecure}` }
}

function checkLogout(configuration: Representation, client: Representation): ClientViolation | undefined {
  if (isSet(configuration['allow-front-channel-logout']) || client.protocol !== OIDC) return undefined
  const violation = registrationError('Front-channel logout is not allowed for this client')
  if (client.frontchannelLogout === true) return { ...violation, field: 'frontchannelLogout' }
  const url = readObject(client.attributes)['frontchannel.logout.url']
  return url ? { ...violation, field: 'attributes.frontchannel.logout.url' } : undefined
}
