// The algorithms that sign tokens.
import { client as clientKind } from '../kinds/client.ts'
import type { Representation } from '../kinds/json.ts'
import { viewOf } from '../kinds/kind.ts'
import { realm as realmKind } from '../kinds/realm.ts'

/** Keycloak: tokens that only the realm itself reads are signed with a secret of the realm. */
export const INTERNAL_ALGORITHM = 'HS512'

/** The client attributes that select the algorithm of each type of token. */
const attributeNames = {
  access: 'access.token.signed.response.alg',
  id: 'id.token.signed.response.alg',
  userInfo: 'user.info.response.signature.alg',
  authorization: 'authorization.signed.response.alg',
} as const

/** Returns the algorithm that a client selects for a type of token, or undefined. */
export function findRequestedAlgorithm(client: Representation, token: keyof typeof attributeNames): string | undefined {
  return viewOf(clientKind, client).attributes?.[attributeNames[token]] || undefined
}

/** Returns the algorithm that signs a token for a client: the client's, or the default of the realm. */
export function getSignatureAlgorithm(
  realm: Representation,
  client: Representation,
  token: Exclude<keyof typeof attributeNames, 'userInfo'>,
): string {
  return findRequestedAlgorithm(client, token) ?? (viewOf(realmKind, realm).defaultSignatureAlgorithm || 'RS256')
}
