// Notifications to the admin URLs of clients. Keycloak: ResourceAdminManager.
import { randomUUID } from 'node:crypto'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { sendRequest } from '../../lib/http/http-request.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { writers } from '../../service/kinds/index.ts'
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

/** A notification: to revoke earlier tokens, to end sessions, or only to test whether the client responds. */
export type ClientAdminAction = 'PUSH_NOT_BEFORE' | 'LOGOUT' | 'TEST_AVAILABILITY'

const PATHS: Readonly<Record<ClientAdminAction, string>> = {
  PUSH_NOT_BEFORE: 'k_push_not_before',
  LOGOUT: 'k_logout',
  TEST_AVAILABILITY: 'k_test_available',
}

/** The number of clients that are notified at a time. */
const CONCURRENCY = 8
/** The time for a response, in milliseconds. */
const TIMEOUT = 5_000
/** The lifespan of a notification, in seconds. */
const LIFESPAN = 60

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
    listAdminUrls(client).map((address) =>
      limit(async () => {
        const token = await signNotification(service, realm, { client, action })
        const url = `${address.replace(/\/$/, '')}/${PATHS[action]}`
        return { address, isAccepted: await postNotification(service, url, token) }
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
  const claims = {
    id: randomUUID(),
    expiration: toEpochSeconds(realm.now) + LIFESPAN,
    resource: client.key[0],
    action,
    ...(action !== 'TEST_AVAILABILITY' && { notBefore }),
  }
  return signToken(service, realm, { claims, algorithm: getSignatureAlgorithm(realm.settings, {}, 'access') })
}

/** Returns the admin URL of a client on each of its nodes. It may be relative to the root URL. */
function listAdminUrls(client: LiveObject): string[] {
  const { adminUrl, rootUrl = '', registeredNodes = {} } = viewClient(client)
  if (!adminUrl) return []
  const url = URL.canParse(adminUrl) ? adminUrl : URL.parse(adminUrl, rootUrl)?.href
  if (url === undefined || !/^https?:/i.test(url)) return []
  const nodes = Object.keys(registeredNodes)
  return nodes.length ? nodes.map((node) => url.replace(/^(\w+:\/\/)[^/:?#]+/, `$1${node}`)) : [url]
}

/** Posts a notification; false where the client refuses it or does not respond. */
async function postNotification({ outbound }: Service, url: string, token: string): Promise<boolean> {
  try {
    const headers = { 'content-type': 'text/plain' }
    const request = { method: 'POST', headers, body: token, timeout: TIMEOUT, limit: 0 } as const
    return (await sendRequest(outbound, url, request)).ok
  } catch {
    // The result reports the URL as failed.
    return false
  }
}
