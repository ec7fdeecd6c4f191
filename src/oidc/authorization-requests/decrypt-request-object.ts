// Request objects that are encrypted for a key of the realm. RFC 9101, section 5.
import { type CompactJWEHeaderParameters, compactDecrypt, errors } from 'jose'
import type { RealmKey } from '../../service/realms/realm-keys.ts'
import type { RealmCall } from '../client-call.ts'
import { CONTENT_ENCRYPTION_ALGORITHMS, KEY_ENCRYPTION_ALGORITHMS } from '../encryption/encryption-algorithms.ts'
import { listRealmKeys } from '../realm-keys.ts'
import { InvalidRequestObject } from './invalid-request-object.ts'

/** Returns the signed object within an encrypted one. Throws InvalidRequestObject if the realm has no key for it. */
export async function decryptRequestObject({ service, realm }: RealmCall, text: string): Promise<string> {
  const keys = await listRealmKeys(service, realm)
  try {
    const { plaintext } = await compactDecrypt(text, (header) => getDecryptionKey(keys, header), {
      keyManagementAlgorithms: KEY_ENCRYPTION_ALGORITHMS,
      contentEncryptionAlgorithms: CONTENT_ENCRYPTION_ALGORITHMS,
    })
    return new TextDecoder().decode(plaintext)
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw new InvalidRequestObject("Failed to decrypt 'request' object")
    throw error
  }
}

/** Returns the key that a header names, or the first one that its algorithm can use. Passive keys still decrypt. */
function getDecryptionKey(keys: readonly RealmKey[], { alg = '', kid }: CompactJWEHeaderParameters) {
  const type = alg.startsWith('RSA') ? 'RSA' : 'EC'
  const suitable = keys.filter((key) => key.use === 'enc' && key.status !== 'DISABLED' && key.type === type)
  const key = suitable.find((candidate) => kid === undefined || candidate.kid === kid)
  if (!key) throw new InvalidRequestObject(`The realm has no key that decrypts a request object with ${alg}`)
  return key.signingKey
}
