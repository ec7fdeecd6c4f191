// Which algorithm signs what.
import type { Representation } from '../kinds/json.ts'

/** Keycloak: tokens that only the realm itself reads are signed with a secret of it. */
export const INTERNAL_ALGORITHM = 'HS512'

/** The attribute of a client that says how tokens of a sort are signed for it. */
const attributes = {
  access: 'access.token.signed.response.alg',
  id: 'id.token.signed.response.alg',
  userInfo: 'user.info.response.signature.alg',
} as const

/** The algorithm that the client asks for; undefined: none. */
export function statedAlgorithm(client: Representation, what: keyof typeof attributes): string | undefined {
  const stated = (client.attributes as Representation | undefined)?.[attributes[what]]
  return stated ? String(stated) : undefined
}

/** The algorithm that signs a token for the client: what it asks for, or what its realm does. */
export function algorithmFor(realm: Representation, client: Representation, what: 'access' | 'id'): string {
  return statedAlgorithm(client, what) ?? String(realm.defaultSignatureAlgorithm || 'RS256')
}
