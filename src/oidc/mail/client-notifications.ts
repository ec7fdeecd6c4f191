// What applications are told at their administration address, and how that went. Keycloak: ResourceAdminManager.
import { randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { sendRequest } from '../../lib/http/http-request.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { getSignatureAlgorithm } from '../signature-algorithms.ts'
import { readOidcRealm } from '../oidc-realm.ts'
import { signToken } from '../tokens/tokens.ts'

/** Which applications took it. Absent where there was none. */
export interface GlobalRequestResult {
  readonly successRequests?: readonly string[]
  readonly failedRequests?: readonly string[]
}

/** What applications are told: to forget tokens from before a time, or sessions; or nothing, to see whether they answer. */
export type ClientAdminAction = 'PUSH_NOT_BEFORE' | 'LOGOUT' | 'TEST_AVAILABILITY'

const PATHS: Readonly<Record<ClientAdminAction, string>> = {
  PUSH_NOT_BEFORE: 'k_push_not_before',
  LOGOUT: 'k_logout',
  TEST_AVAILABILITY: 'k_test_available',
}

/** How many applications are told at a time, how long one may take to answer in milliseconds, and for how many seconds it counts. */
const AT_ONCE = 8
const PATIENCE = 5_000
const LIFE = 60

/** Tells the clients that have an administration address, or the one of that id, and waits for their answers. */
export async function notifyClients(service: Service, name: string, action: ClientAdminAction, id?: string): Promise<GlobalRequestResult> {
  const { realm, clients } = await service.read(SYSTEM, name, async (context) => ({
    realm: await readOidcRealm(context),
    clients: await writers.client.list(context, id === undefined ? {} : { ids: [id] }),
  }))
  const inTurn = limitConcurrency(AT_ONCE)
  const asked = clients.flatMap((client) => {
    const notBefore = Math.max(Number(realm.settings.notBefore ?? 0), Number(client.representation.notBefore ?? 0))
    const claims: JWTPayload = {
      id: randomUUID(),
      expiration: toEpochSeconds(realm.now) + LIFE,
      resource: client.key[0],
      action,
      ...(action !== 'TEST_AVAILABILITY' && { notBefore }),
    }
    return addressesOf(client).map((address) =>
      inTurn(async () => {
        const token = await signToken(service, realm, { claims, algorithm: getSignatureAlgorithm(realm.settings, {}, 'access') })
        return { address, taken: await takes(service, `${address.replace(/\/$/, '')}/${PATHS[action]}`, token) }
      }),
    )
  })
  const told = await Promise.all(asked)
  const those = (taken: boolean) => told.filter((one) => one.taken === taken).map(({ address }) => address)
  return {
    ...(those(true).length && { successRequests: those(true) }),
    ...(those(false).length && { failedRequests: those(false) }),
  }
}

/** The administration address of a client, on each of its nodes; a relative one is below its root. */
function addressesOf({ representation: { adminUrl, rootUrl, registeredNodes } }: LiveObject): string[] {
  if (typeof adminUrl !== 'string' || adminUrl === '') return []
  const whole = URL.canParse(adminUrl) ? adminUrl : URL.parse(adminUrl, String(rootUrl ?? ''))?.href
  if (whole === undefined || !/^https?:/i.test(whole)) return []
  const nodes = Object.keys((registeredNodes ?? {}) as object)
  return nodes.length ? nodes.map((node) => whole.replace(/^(\w+:\/\/)[^/:?#]+/, `$1${node}`)) : [whole]
}

async function takes({ outbound }: Service, url: string, token: string): Promise<boolean> {
  try {
    const headers = { 'content-type': 'text/plain' }
    const request = { method: 'POST', headers, body: token, timeout: PATIENCE, limit: 0 } as const
    return (await sendRequest(outbound, url, request)).ok
  } catch {
    // No answer: the address is among those that failed.
    return false
  }
}
