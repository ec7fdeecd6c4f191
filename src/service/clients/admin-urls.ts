// Notifications to the admin URLs of clients. Keycloak: its adapters receive them.
import { randomUUID } from 'node:crypto'
import type { Json } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'

/** A notification: to revoke earlier tokens, to end sessions, or only to test whether the client responds. */
export type ClientAdminAction = 'PUSH_NOT_BEFORE' | 'LOGOUT' | 'TEST_AVAILABILITY'

const PATHS: Readonly<Record<ClientAdminAction, string>> = {
  PUSH_NOT_BEFORE: 'k_push_not_before',
  LOGOUT: 'k_logout',
  TEST_AVAILABILITY: 'k_test_available',
}

/** The settings of a client that give its admin URLs. */
export interface AdminUrlSettings {
  readonly adminUrl?: string | null | undefined
  readonly rootUrl?: string | null | undefined
  readonly registeredNodes?: Readonly<Record<string, unknown>> | null | undefined
}

/** Returns the admin URL of a client on each of its nodes. It may be relative to the root URL. */
export function listAdminUrls({ adminUrl, rootUrl, registeredNodes }: AdminUrlSettings): string[] {
  if (!adminUrl) return []
  const url = URL.canParse(adminUrl) ? adminUrl : URL.parse(adminUrl, rootUrl ?? '')?.href
  if (url === undefined || !/^https?:/i.test(url)) return []
  const nodes = Object.keys(registeredNodes ?? {})
  return nodes.length ? nodes.map((node) => url.replace(/^(\w+:\/\/)[^/:?#]+/, `$1${node}`)) : [url]
}

/** Returns the URL that a notification is posted to. */
export const getActionUrl = (adminUrl: string, action: ClientAdminAction): string =>
  `${adminUrl.replace(/\/$/, '')}/${PATHS[action]}`

/** The lifespan of a notification, in seconds. */
const LIFESPAN = 60

/** Returns the claims of the token that is posted. `sessions`: ids of the sessions that end; absent: all. */
export function createActionClaims(
  action: ClientAdminAction,
  client: string,
  { now, notBefore, sessions }: { readonly now: Date; readonly notBefore: number; readonly sessions?: string[] },
): Readonly<Record<string, Json>> {
  return {
    id: randomUUID(),
    expiration: toEpochSeconds(now) + LIFESPAN,
    resource: client,
    action,
    ...(action !== 'TEST_AVAILABILITY' && { notBefore }),
    ...(sessions && { keycloakSessionIds: sessions }),
  }
}
