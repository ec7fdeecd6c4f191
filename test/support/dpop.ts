// DPoP proofs for tests. RFC 9449.
import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'

/** A key, which signs proofs. */
export interface ProofKey {
  readonly thumbprint: string
  /** Signs a proof for a request. `claims` and `header` replace members; undefined removes them. */
  prove(method: string, url: string, options?: ProofOptions): Promise<{ dpop: string }>
}

interface ProofOptions {
  readonly accessToken?: string
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
}

/** Generates a key. */
export async function createProofKey(algorithm = 'ES256'): Promise<ProofKey & { readonly privateJwk: object }> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const jwk = await exportJWK(publicKey)
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    privateJwk: await exportJWK(privateKey),
    async prove(method, url, { accessToken, claims, header } = {}) {
      const iat = Math.floor(Date.now() / 1000)
      const ath = accessToken === undefined ? undefined : createHash('sha256').update(accessToken).digest('base64url')
      const payload = { htm: method, htu: url, jti: randomUUID(), iat, ath, ...claims }
      const protectedHeader: JWTHeaderParameters = { alg: algorithm, typ: 'dpop+jwt', jwk, ...header }
      const dpop = await new SignJWT(payload).setProtectedHeader(protectedHeader).sign(privateKey)
      return { dpop }
    },
  }
}
