import type { PolicyEventName } from '../service/client-policies/policy-event.ts'
import { authenticateClient, type TokenRequest } from './client-authentication/authenticate-client.ts'
import type { ClientCall, RealmEndpoint } from './client-call.ts'
import { applyRequestPolicies } from './client-policies/apply-request-policies.ts'
import { type EventDraft, withUserEvent } from './event-draft.ts'
import { getEnabledRealm, type OidcRealm, OutdatedRealm, requireHttps } from './oidc-realm.ts'
import { checkOrigin } from './web-origins.ts'

interface ClientRequest {
  readonly request: TokenRequest
  readonly event: Pick<EventDraft, 'type' | 'details'>
  /** The event of client policies. Absent: the endpoint applies them itself. */
  readonly policyEvent?: PolicyEventName
  readonly acceptsBearerOnly?: true
}

/** Authenticates the client of a request, runs work for it, and records the user event. Throws OAuthError. */
export async function handleClientRequest<T>(
  endpoint: RealmEndpoint,
  request: ClientRequest,
  work: (call: ClientCall) => Promise<T>,
): Promise<T> {
  const { service, realmName } = endpoint
  try {
    return await handleInRealm(endpoint, { ...request, realm: await getEnabledRealm(service, realmName) }, work)
  } catch (error) {
    if (!(error instanceof OutdatedRealm)) throw error
    const realm = await getEnabledRealm(service, realmName, { isCurrent: true })
    return handleInRealm(endpoint, { ...request, realm }, work)
  }
}

async function handleInRealm<T>(
  { service, base }: RealmEndpoint,
  { request, event, policyEvent: name, realm, acceptsBearerOnly }: ClientRequest & { readonly realm: OidcRealm },
  work: (call: ClientCall) => Promise<T>,
): Promise<T> {
  requireHttps(realm, request)
  const draft: EventDraft = { ...event, address: request.address, details: { ...event.details } }
  return withUserEvent({ service, realm, event: draft }, async () => {
    const client = await authenticateClient({ service, base, realm, acceptsBearerOnly }, request, draft)
    checkOrigin(client.representation, base, request.origin)
    if (name === undefined) return work({ realm, client, event: draft })
    const policed = { name, client, parameters: request.form }
    return work({ realm, client: await applyRequestPolicies({ service, base, realm }, policed), event: draft })
  })
}
