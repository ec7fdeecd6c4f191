// Which algorithm signs what.
import type { Representation } from '../kinds/kind.ts'

/** Algorithms of private keys. */
export const KEY_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** Algorithms of secrets. */
export const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512']

/** Everything that tokens and assertions are signed with. */
export const SIGNING_ALGORITHMS = [...KEY_ALGORITHMS, ...SECRET_ALGORITHMS]

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
