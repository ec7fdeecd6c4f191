// Client assertions that an identity provider of the realm issues, such as the token of a pipeline or of a service account in Kubernetes.
// Keycloak: FederatedJWTClientAuthenticator.
import { compactVerify, errors, type JWTPayload, type JWTVerifyGetKey } from 'jose'
import { readFlag, readTextMap } from '../../kinds/json.ts'
import { KEY_ALGORITHMS } from '../../kinds/key-providers.ts'
import { fetchText } from '../../lib/http/fetch-text.ts'
import { parseJsonOrNull } from '../../lib/http/http-request.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import { cachePerRevision, requireSameRealm } from '../../service/context/realm-values.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { findClientIssuer } from '../../service/realms/identity-provider-checks.ts'
import type { OAuthError } from '../oauth-error.ts'
import { getIssuer } from '../oidc-realm.ts'
import { viewClient } from '../views.ts'
import {
  type Assertion,
  type AssertionRules,
  createAssertionError,
  findClaimError,
  JWT_BEARER,
  parseAssertion,
} from './client-assertion.ts'
import {
  type ClientAuthenticationAttempt,
  type ClientAuthenticator,
  createClientNotFoundError,
  createInvalidCredentialsError,
} from './client-authenticator.ts'
import { createRemoteKeys, noKeys, parsePublicKey } from './client-keys.ts'

const AUTHENTICATOR = 'federated-jwt'
/** The maximum lifespan of an assertion in seconds, unless the identity provider has its own. */
const MAX_LIFESPAN = { oidc: 300, kubernetes: 3600 }

/** An issuer of assertions. */
interface AssertionIssuer {
  readonly issuer: string
  readonly type: 'oidc' | 'kubernetes'
  readonly config: Readonly<Record<string, string>>
  /** The clients by the subject of their assertions. */
  readonly clients: ReadonlyMap<string, readonly LiveObject[]>
}

/** Authenticates a client by an assertion of an identity provider. Keycloak: federated-jwt. */
export const authenticateByFederatedJwt: ClientAuthenticator = async (attempt) => {
  const { client_assertion_type: type, client_assertion: text, client_id: clientId } = attempt.request.form
  const assertion = parseAssertion(text)
  const issuer = type === JWT_BEARER && assertion ? await findIssuer(attempt, assertion.claims) : undefined
  const [client, ...otherClients] = issuer?.clients.get(String(assertion?.claims.sub)) ?? []
  // A subject of several clients identifies none of them.
  if (!assertion || !issuer || !client || otherClients.length) return { error: createClientNotFoundError() }
  attempt.event.client = client.key[0]!
  if (clientId !== undefined && clientId !== client.key[0])
    return { client, error: createAssertionError('client_id parameter does not match authenticated client') }
  if (viewClient(client).enabled !== true) return { client, error: createClientNotFoundError(client) }
  return { client, error: await findAssertionError(attempt, { issuer, assertion, client }) }
}

async function findAssertionError(
  attempt: ClientAuthenticationAttempt,
  {
    issuer,
    assertion,
    client,
  }: { readonly issuer: AssertionIssuer; readonly assertion: Assertion; readonly client: LiveObject },
): Promise<OAuthError | undefined> {
  const { text, algorithm, claims } = assertion
  if (!KEY_ALGORITHMS.includes(algorithm)) return createAssertionError('Invalid signature algorithm')
  try {
    await compactVerify(text, getIssuerKeys(attempt.service.outbound, issuer), { algorithms: [algorithm] })
  } catch (error) {
    // Keycloak: the response does not say what is wrong with the signature, unlike that of a client's own assertion.
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      return createInvalidCredentialsError(error.message, 'invalid_client')
    throw error
  }
  return findClaimError(attempt, { client, claims }, toRules(attempt, issuer))
}

/** Keycloak: the audience is the realm, or the id of the realm as a client of the identity provider. */
function toRules({ base, realm }: ClientAuthenticationAttempt, { type, config }: AssertionIssuer): AssertionRules {
  const { allowClientIdAsAudience, allowedClockSkew, clientId, fedClientAssertionMaxExp } = config
  const isNamedByClientId = type === 'oidc' && readFlag(allowClientIdAsAudience) && clientId
  return {
    audiences: [isNamedByClientId ? clientId : getIssuer(base, realm)],
    maxLifespan: toSeconds(fedClientAssertionMaxExp) || MAX_LIFESPAN[type],
    clockSkew: toSeconds(allowedClockSkew),
    // Keycloak: a token of a service account is used until it expires.
    isReusable: type === 'kubernetes' || readFlag(config.supportsClientAssertionReuse),
  }
}

const toSeconds = (text = ''): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0)

async function findIssuer(
  { service, realm }: ClientAuthenticationAttempt,
  { iss, sub }: JWTPayload,
): Promise<AssertionIssuer | undefined> {
  // An assertion about its issuer is one that the client has signed itself.
  if (typeof iss !== 'string' || typeof sub !== 'string' || iss === sub) return undefined
  return (await getCachedIssuers(service, realm)).get(iss)
}

/** The issuers of assertions for clients, by their name in assertions. Two statements, or none where they are cached. */
const getCachedIssuers = cachePerRevision(async (service, realm) =>
  service.read(SYSTEM, realm.name, async (context) => {
    const providers = await writers.identityProvider.list(requireSameRealm(context, realm), {})
    const accepted = providers.filter(({ representation }) => findClientIssuer(representation))
    const containing = { clientAuthenticatorType: AUTHENTICATOR }
    const clients = accepted.length ? await writers.client.list(context, { containing }) : []
    const issuers = accepted.map((provider) => toIssuer(provider, clients))
    return { revision: context.realm.revision, value: new Map(issuers.map((issuer) => [issuer.issuer, issuer])) }
  }),
)

function toIssuer({ key, representation }: LiveObject, clients: readonly LiveObject[]): AssertionIssuer {
  const isOfIssuer = (client: LiveObject) =>
    viewClient(client).attributes?.['jwt.credential.issuer'] === key[0] && viewClient(client).publicClient !== true
  return {
    issuer: findClientIssuer(representation)!,
    type: representation.providerId === 'kubernetes' ? 'kubernetes' : 'oidc',
    config: readTextMap(representation.config),
    clients: Map.groupBy(
      clients.filter(isOfIssuer),
      (client) => viewClient(client).attributes?.['jwt.credential.sub'] ?? '',
    ),
  }
}

/** Returns a function that finds the key of an assertion. It may fetch, so do not call it inside a transaction. */
function getIssuerKeys(outbound: Outbound, { issuer, type, config }: AssertionIssuer): JWTVerifyGetKey {
  if (type === 'kubernetes')
    return createRemoteKeys(outbound, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, fetchNamedKeys)
  const { useJwksUrl, jwksUrl = '', publicKeySignatureVerifier, publicKeySignatureVerifierKeyId: keyId } = config
  if (readFlag(useJwksUrl)) return createRemoteKeys(outbound, jwksUrl)
  const key = parsePublicKey(publicKeySignatureVerifier)
  if (!key) return noKeys
  return async ({ kid }) => {
    if (keyId && kid !== keyId) throw new errors.JWKSNoMatchingKey()
    return key
  }
}

/** Fetches the key set that a discovery document names. OpenID Connect Discovery, section 4. */
async function fetchNamedKeys(outbound: Outbound, address: string): Promise<string> {
  const document = parseJsonOrNull(await fetchText(outbound, address))
  const isObject = typeof document === 'object' && document !== null
  const jwksUri = isObject && 'jwks_uri' in document ? document.jwks_uri : undefined
  if (typeof jwksUri !== 'string') throw new Error('the discovery document names no key set')
  return fetchText(outbound, jwksUri)
}
