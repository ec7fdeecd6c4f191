// What tokens need to know of a realm.
import type { Representation } from '../kinds/kind.ts'
import type { Context } from '../service/context.ts'
import { writers } from '../service/index.ts'

/** A realm as the token endpoint sees it. */
export interface TokenRealm {
  readonly number: number
  readonly id: string
  readonly name: string
  readonly settings: Representation
  /** When this was read, by the service's clock. */
  readonly now: Date
}

/** The realm of the context. */
export async function realmOf(context: Context): Promise<TokenRealm> {
  const [live] = await writers.realm.list(context, {})
  return {
    number: context.realm.number,
    id: live!.id,
    name: live!.key[0]!,
    settings: live!.representation,
    now: context.now,
  }
}

/** Keycloak: the issuer of a realm's tokens is its address. */
export const issuerOf = (base: string, realm: string): string => `${base}/realms/${encodeURIComponent(realm)}`
