// An issuer of assertions on loopback, such as the OpenID provider of a pipeline service: it serves its keys, and signs.
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JWTHeaderParameters, SignJWT } from 'jose'
import { afterAll } from 'vitest'

/** The claims of an assertion; one that is undefined is left out. */
export type AssertionClaims = Readonly<Record<string, unknown>>

/** An issuer of assertions. */
export interface AssertionIssuer {
  readonly url: string
  /** The identity provider with the alias `ci` that accepts its assertions. */
  readonly provider: {
    readonly alias: string
    readonly config: Readonly<Record<string, string>>
    readonly [field: string]: unknown
  }
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** The number of requests for its keys. */
  countRequests(): number
  /** Replaces its key by one with the key id `newer`. */
  rotateKey(): void
  /** Signs an assertion about a subject, which is valid for five minutes. */
  sign(claims: AssertionClaims, header?: Partial<JWTHeaderParameters>, key?: KeyObject | Uint8Array): Promise<string>
}

/** Starts an issuer. It is stopped after the tests of the calling file. */
export async function openAssertionIssuer(): Promise<AssertionIssuer> {
  let kid = 'first'
  let key = generateKeyPairSync('rsa', { modulusLength: 2048 })
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    const keys = [{ ...key.publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }]
    const isDiscovery = request.url?.endsWith('/.well-known/openid-configuration')
    const document = isDiscovery ? { issuer: url, jwks_uri: `${url}/keys` } : { keys }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  afterAll(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = { issuer: url, supportsClientAssertions: 'true', useJwksUrl: 'true', jwksUrl: `${url}/keys` }
  return {
    url,
    provider: { alias: 'ci', providerId: 'oidc', enabled: true, hideOnLogin: true, config },
    get privateKey() {
      return key.privateKey
    },
    get publicKey() {
      return key.publicKey
    },
    countRequests: () => requests,
    rotateKey() {
      key = generateKeyPairSync('rsa', { modulusLength: 2048 })
      kid = 'newer'
    },
    sign(claims, header = {}, signingKey = key.privateKey) {
      const now = Math.floor(Date.now() / 1000)
      const defaults = { iss: url, iat: now, exp: now + 300, jti: randomUUID() }
      return new SignJWT({ ...defaults, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid, ...header })
        .sign(signingKey)
    },
  }
}

/** Returns a client with a service account whose assertions are about the subject. */
export const federatedClient = (clientId: string, subject: string, alias = 'ci'): Record<string, unknown> => ({
  clientId,
  enabled: true,
  serviceAccountsEnabled: true,
  clientAuthenticatorType: 'federated-jwt',
  attributes: { 'jwt.credential.issuer': alias, 'jwt.credential.sub': subject },
})
