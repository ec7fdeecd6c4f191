// Client authentication. The realm's client authentication flow lists the allowed authenticators.
import { isStorable } from '../../kinds/fields.ts'
import { type Representation, readObjects } from '../../kinds/json.ts'
import { cachePerRevision, requireSameRealm } from '../../service/context/realm-values.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { EventDraft } from '../event-draft.ts'
import { OAuthError } from '../oauth-error.ts'
import type { OidcRealm } from '../oidc-realm.ts'
import { viewClient } from '../views.ts'
import { findAssertedClient, getAssertionDetails } from './client-assertion.ts'
import {
  type ClientAuthenticationAttempt,
  type ClientAuthenticator,
  createClientNotFoundError,
  type TokenRequest,
} from './client-authenticator.ts'
import { authenticateByCertificate } from './client-certificate.ts'
import { authenticateByPrivateKeyJwt } from './client-jwt.ts'
import { authenticateBySecret, readClientCredentials } from './client-secret.ts'
import { authenticateBySecretJwt } from './client-secret-jwt.ts'
import { authenticateByFederatedJwt } from './federated-jwt.ts'

export type { TokenRequest } from './client-authenticator.ts'

/** The authenticators, by the provider ids of flows and clients. */
const authenticators: Readonly<Record<string, ClientAuthenticator>> = {
  'client-secret': authenticateBySecret,
  'client-jwt': authenticateByPrivateKeyJwt,
  'client-secret-jwt': authenticateBySecretJwt,
  'client-x509': authenticateByCertificate,
  'federated-jwt': authenticateByFederatedJwt,
}

/** The authentication methods of the token endpoint, as in OpenID Connect Discovery. */
export const AUTHENTICATION_METHODS = [
  'private_key_jwt',
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
]

/** The realm of a request, and the clients that it accepts. */
interface ClientAuthenticationCall extends Pick<ClientAuthenticationAttempt, 'service' | 'base' | 'realm'> {
  /** Keycloak: bearer-only clients may introspect tokens, and do nothing else. */
  readonly acceptsBearerOnly?: boolean | undefined
}

/**
 * Returns the client of a request. Tries the authenticators of the realm's flow in their order, until one is that of the
 * client. Throws OAuthError. One statement, and one for an assertion.
 */
export async function authenticateClient(
  { service, base, realm, acceptsBearerOnly = false }: ClientAuthenticationCall,
  request: TokenRequest,
  event: EventDraft,
): Promise<LiveObject> {
  const clients = await loadNamedClients(service, realm, request)
  const attempt: ClientAuthenticationAttempt = { service, base, realm, request, clients, event }
  event.client = readClientCredentials(request).id
  Object.assign(event.details, getAssertionDetails(request))
  let client: LiveObject | undefined
  for (const id of await listAllowedAuthenticators(service, realm)) {
    const authenticate = Object.hasOwn(authenticators, id) ? authenticators[id] : undefined
    const result = await authenticate?.(attempt)
    client = result?.client ?? client
    if (!client || getAuthenticatorId(client) !== id) continue
    event.client = client.key[0]!
    if (!result) throw createUnsupportedAuthenticatorError(id)
    if (result.error) throw result.error
    if (viewClient(client).bearerOnly === true && !acceptsBearerOnly)
      throw new OAuthError(400, 'invalid_client', { description: 'Bearer-only not allowed' })
    event.details.client_auth_method = id
    return client
  }
  throw createClientNotFoundError()
}

function createUnsupportedAuthenticatorError(id: string): OAuthError {
  const reason = `The client authenticator ${id} is not supported`
  return new OAuthError(401, 'invalid_client', { description: reason, event: { error: 'invalid_client', reason } })
}

/** Keycloak: a public client is identified by its client id, whatever its authenticator is. */
function getAuthenticatorId(client: LiveObject): string {
  const { publicClient, clientAuthenticatorType } = viewClient(client)
  return publicClient === true ? 'client-secret' : (clientAuthenticatorType ?? 'client-secret')
}

/** The maximum number of cached clients per realm. */
const MAX_CACHED = 1_000

/** Clients by client id, as they were at this revision of their realm or at a later one. */
const getCachedClients = cachePerRevision(async (_service, { revision }) => ({
  revision,
  value: new Map<string, LiveObject>(),
}))

/** Returns the clients that a request names, by client id. One statement, none where they are cached. */
async function loadNamedClients(
  service: Service,
  realm: OidcRealm,
  request: TokenRequest,
): Promise<ClientAuthenticationAttempt['clients']> {
  const cache = await getCachedClients(service, realm)
  const ids = new Set([readClientCredentials(request).id, findAssertedClient(request)])
  const missing = [...ids].filter((id) => id !== undefined && isStorable(id) && !cache.has(id)).map((id) => [id!])
  if (missing.length) {
    const clients = await service.read(SYSTEM, realm, (context) => writers.client.list(context, { keys: missing }))
    if (cache.size + clients.length > MAX_CACHED) cache.clear()
    for (const client of clients) cache.set(client.key[0]!, client)
  }
  return new Map([...ids].flatMap((id) => (id !== undefined && cache.has(id) ? [[id, cache.get(id)!] as const] : [])))
}

/** The authenticators of each flow, by alias. */
const getCachedFlows = cachePerRevision(async (service, realm) =>
  service.read(SYSTEM, realm.name, async (context) => {
    const flows = await writers.authenticationFlow.list(requireSameRealm(context, realm), {})
    const entries = flows.map(({ key, representation }): [string, string[]] => [
      key[0]!,
      listAuthenticators(representation),
    ])
    return { revision: context.realm.revision, value: new Map(entries) }
  }),
)

/** Returns the authenticators of the realm's client authentication flow, in order. No statement where they are cached. */
async function listAllowedAuthenticators(service: Service, realm: OidcRealm): Promise<readonly string[]> {
  return (await getCachedFlows(service, realm)).get(String(realm.settings.clientAuthenticationFlow)) ?? []
}

/** Keycloak: of several required executions only the first one counts. */
function listAuthenticators({ authenticationExecutions }: Representation): string[] {
  const executions = readObjects(authenticationExecutions)
  const required = executions.filter(({ requirement }) => requirement === 'REQUIRED').slice(0, 1)
  const active = required.length ? required : executions.filter(({ requirement }) => requirement === 'ALTERNATIVE')
  return active.map(({ authenticator }) => String(authenticator))
}
