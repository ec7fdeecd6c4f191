// Keys of clients for tests, registered as a JWK set.
import { exportJWK, generateKeyPair, type JWK } from 'jose'

/** Generates a key for encryption, and returns the client attributes that register it. */
export async function createEncryptionKey(algorithm = 'RSA-OAEP', members: JWK = {}) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'e1', use: 'enc', alg: algorithm, ...members }
  const attributes = { 'use.jwks.string': 'true', 'jwks.string': JSON.stringify({ keys: [jwk] }) }
  return { privateKey, jwk, attributes }
}
