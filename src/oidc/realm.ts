// What tokens need to know of a realm.
import type { Representation } from '../kinds/json.ts'
import type { Context } from '../service/context/context.ts'
import { ServiceError } from '../service/context/errors.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import type { RealmRow } from '../service/context/store-types.ts'
import { isSafe, type Transport } from '../service/context/transport.ts'
import { writers } from '../service/kinds/index.ts'
import { OAuthError } from './oauth-error.ts'
import { perRevision, same } from './tokens/revised.ts'

/** A realm as the token endpoint sees it. */
export interface TokenRealm extends RealmRow {
  readonly settings: Representation
  /** When this was read, by the service's clock. */
  readonly now: Date
}

/** The realm that people log in to. Throws OAuthError where it does not exist, or lets nobody in. */
export async function openRealm(service: Service, name: string): Promise<TokenRealm> {
  const realm = await findTokenRealm(service, name)
  if (realm.settings.enabled !== true) throw new OAuthError(403, 'access_denied', 'Realm not enabled')
  return realm
}

/** Whether a request came by HTTPS, or as the realm lets it come without. */
export function cameSafely({ settings }: TokenRealm, transport: Transport): boolean {
  return isSafe(settings, transport)
}

/** Throws OAuthError when the realm demands HTTPS of such a request, and it came without. */
export function demandHttps(realm: TokenRealm, transport: Transport): void {
  if (!cameSafely(realm, transport)) throw new OAuthError(403, 'invalid_request', 'HTTPS required')
}

/** The realm, open or not. Throws OAuthError where it does not exist. */
export async function findTokenRealm(service: Service, name: string): Promise<TokenRealm> {
  try {
    const { realm, now } = await service.read(SYSTEM, name, async (context) => context)
    return { ...realm, now, settings: await settingsOf(service, realm) }
  } catch (error) {
    // Keycloak: what it says of a realm that does not exist, outside of administration.
    if (error instanceof ServiceError && error.code === 'not_found')
      throw new OAuthError(404, 'Realm does not exist', '')
    throw error
  }
}

const settingsOf = perRevision(async (service, { name, number }) =>
  service.read(SYSTEM, name, async (context) => {
    const { settings, revision } = await realmOf(same(context, { number }))
    return { revision, value: settings }
  }),
)

/** The realm of the context. */
export async function realmOf(context: Context): Promise<TokenRealm> {
  const [live] = await writers.realm.list(context, {})
  return { ...context.realm, settings: live!.representation, now: context.now }
}

/** Keycloak: the issuer of a realm's tokens is its address. */
export const issuerOf = (base: string, realm: string): string => `${base}/realms/${encodeURIComponent(realm)}`
