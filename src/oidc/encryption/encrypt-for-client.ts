// Tokens and responses that are encrypted for the key of a client. OpenID Connect Core 1.0, section 10.2.
import { CompactEncrypt, errors, importJWK, type JWK } from 'jose'
import { CONTENT_ENCRYPTION_ALGORITHMS, KEY_ENCRYPTION_ALGORITHMS } from '../../kinds/encryption-algorithms.ts'
import type { Service } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { listClientJwks } from '../client-authentication/client-keys.ts'
import { viewClient } from '../views.ts'

/** Keycloak: the content encryption of clients that select none. */
const DEFAULT_CONTENT_ENCRYPTION = 'A128CBC-HS256'

/** The client attributes that select the encryption of each type of token, without their ends `.alg` and `.enc`. */
const attributePrefixes = {
  id: 'id.token.encrypted.response',
  userInfo: 'user.info.encrypted.response',
  authorization: 'authorization.encrypted.response',
} as const

/** A client requires an encryption for which it has no key, or that is not supported. The message says which. */
export class CannotEncrypt extends Error {}

/**
 * Encrypts a token or response for a client, if the client selects an algorithm; returns it unchanged otherwise. `isToken`: the
 * content is a token. It may fetch the client's keys, so do not call it inside a transaction.
 *
 * @throws CannotEncrypt
 */
export async function encryptForClient(
  { outbound }: Pick<Service, 'outbound'>,
  client: LiveObject,
  {
    kind,
    content,
    isToken = true,
  }: {
    readonly kind: keyof typeof attributePrefixes
    readonly content: string
    readonly isToken?: boolean
  },
): Promise<string> {
  const { attributes = {} } = viewClient(client)
  const name = `${attributePrefixes[kind]}.alg`
  const alg = attributes[name]
  if (!alg) return content
  const enc = attributes[`${attributePrefixes[kind]}.enc`] || DEFAULT_CONTENT_ENCRYPTION
  if (!KEY_ENCRYPTION_ALGORITHMS.includes(alg) || !CONTENT_ENCRYPTION_ALGORITHMS.includes(enc))
    throw new CannotEncrypt(`The client requires ${name} ${alg} with ${enc}, which this server does not support`)
  const jwk = (await listClientJwks(outbound, client)).find((candidate) => canEncrypt(candidate, alg))
  if (!jwk) throw new CannotEncrypt(`The client requires ${name} ${alg}, and has no key for it`)
  const header = { alg, enc, ...(isToken && { cty: 'JWT' }), ...(jwk.kid !== undefined && { kid: jwk.kid }) }
  try {
    const key = await importJWK(jwk, alg)
    return await new CompactEncrypt(new TextEncoder().encode(content)).setProtectedHeader(header).encrypt(key)
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      throw new CannotEncrypt(`The client requires ${name} ${alg}, and its key for it is invalid`)
    throw error
  }
}

/** Whether a key of a client may encrypt with an algorithm. */
function canEncrypt({ kty, use, alg }: JWK, algorithm: string): boolean {
  const types = algorithm.startsWith('RSA') ? ['RSA'] : ['EC', 'OKP']
  return types.includes(String(kty)) && use !== 'sig' && (alg === undefined || alg === algorithm)
}
