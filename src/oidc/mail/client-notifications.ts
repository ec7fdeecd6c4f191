// Notifications to the admin URLs of clients. Keycloak: ResourceAdminManager.
import { sendRequest } from '../../lib/http/http-request.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import {
  type ClientAdminAction,
  createActionClaims,
  getActionUrl,
  listAdminUrls,
} from '../../service/clients/admin-urls.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { writers } from '../../service/kinds/index.ts'
import type { AdminNotification } from '../../service/messages/outbox.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { type OidcRealm, readOidcRealm } from '../oidc-realm.ts'
import { getSignatureAlgorithm } from '../signature-algorithms.ts'
import { signToken } from '../tokens/tokens.ts'
import { viewClient } from '../views.ts'

/** The admin URLs that accepted a notification, and those that did not; an empty list is absent. */
export interface GlobalRequestResult {
  readonly successRequests?: readonly string[]
  readonly failedRequests?: readonly string[]
}

/** The number of clients that are notified at a time. */
const CONCURRENCY = 8
/** The time for a response, in milliseconds. */
const TIMEOUT = 5_000
/** Notifies the clients with an admin URL, or only the client with an id, and waits for their responses. */
export async function notifyClients(
  service: Service,
  realmName: string,
  { action, id }: { readonly action: ClientAdminAction; readonly id?: string | undefined },
): Promise<GlobalRequestResult> {
  const { realm, clients } = await service.read(SYSTEM, realmName, async (context) => ({
    realm: await readOidcRealm(context),
    clients: await writers.client.list(context, id === undefined ? {} : { ids: [id] }),
  }))
  const limit = limitConcurrency(CONCURRENCY)
  const notifications = clients.flatMap((client) =>
    listAdminUrls(viewClient(client)).map((address) =>
      limit(async () => {
        const token = await signNotification(service, realm, { client, action })
        return { address, isAccepted: await isAccepted(service, getActionUrl(address, action), token) }
      }),
    ),
  )
  const results = await Promise.all(notifications)
  const successRequests = results.filter(({ isAccepted }) => isAccepted).map(({ address }) => address)
  const failedRequests = results.filter(({ isAccepted }) => !isAccepted).map(({ address }) => address)
  return { ...(successRequests.length && { successRequests }), ...(failedRequests.length && { failedRequests }) }
}

function signNotification(
  service: Service,
  realm: OidcRealm,
  { client, action }: { readonly client: LiveObject; readonly action: ClientAdminAction },
): Promise<string> {
  const notBefore = Math.max(realm.settings.notBefore, viewClient(client).notBefore ?? 0)
  return signClaims(service, realm, createActionClaims(action, client.key[0]!, { now: realm.now, notBefore }))
}

/** Returns the signed token of a notification. */
export const signClaims = (service: Service, realm: OidcRealm, claims: AdminNotification['claims']): Promise<string> =>
  signToken(service, realm, { claims, algorithm: getSignatureAlgorithm(realm.settings, {}, 'access') })

async function isAccepted(service: Service, url: string, token: string): Promise<boolean> {
  try {
    return (await sendRequest(service.outbound, url, createAdminRequest(token))).ok
  } catch {
    // The result reports the URL as failed.
    return false
  }
}

/** Returns the request that posts the token of a notification. */
export const createAdminRequest = (token: string) =>
  ({ method: 'POST', headers: { 'content-type': 'text/plain' }, body: token, timeout: TIMEOUT, limit: 0 }) as const
