// What tokens need to know of a realm.
import type { Representation } from '../kinds/kind.ts'
import type { Context } from '../service/context.ts'
import { ServiceError } from '../service/errors.ts'
import { writers } from '../service/index.ts'
import { type Service, SYSTEM } from '../service/service.ts'
import { OAuthError } from './oauth-error.ts'

/** A realm as the token endpoint sees it. */
export interface TokenRealm {
  readonly number: number
  readonly revision: number
  readonly id: string
  readonly name: string
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

/** The realm, open or not. Throws OAuthError where it does not exist. */
export async function findTokenRealm(service: Service, name: string): Promise<TokenRealm> {
  try {
    return await service.read(SYSTEM, name, realmOf)
  } catch (error) {
    // Keycloak: what it says of a realm that does not exist, outside of administration.
    if (error instanceof ServiceError && error.code === 'not_found')
      throw new OAuthError(404, 'Realm does not exist', '')
    throw error
  }
}

/** The realm of the context. */
export async function realmOf(context: Context): Promise<TokenRealm> {
  const [live] = await writers.realm.list(context, {})
  return {
    number: context.realm.number,
    revision: context.realm.revision,
    id: live!.id,
    name: live!.key[0]!,
    settings: live!.representation,
    now: context.now,
  }
}

/** Keycloak: the issuer of a realm's tokens is its address. */
export const issuerOf = (base: string, realm: string): string => `${base}/realms/${encodeURIComponent(realm)}`

/** A time as tokens have it. */
export const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1000)
