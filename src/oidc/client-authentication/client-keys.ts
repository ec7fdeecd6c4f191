// The public keys that a client signs its assertions with: where they are kept or fetched. Keycloak: ClientPublicKeyLoader.
import { createPublicKey } from 'node:crypto'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose'
import { fetchText } from '../../lib/fetch-text.ts'
import { readCertificate } from '../../service/key-reading.ts'
import type { LiveObject } from '../../service/live.ts'

/** Key sets of other servers, by address: jose keeps each for ten minutes, and asks for an unknown key twice a minute at most. */
const fetched = new Map<string, JWTVerifyGetKey>()

/** Forgets what was fetched from other servers. */
export function forgetFetchedKeys(): void {
  fetched.clear()
}

/** What finds the key of an assertion. It may fetch: not to be called inside a transaction. */
export function keysOfClient({ representation }: LiveObject): JWTVerifyGetKey {
  const attributes = (representation.attributes ?? {}) as Record<string, string | undefined>
  const jwksUrl = attributes['jwks.url']
  if (attributes['use.jwks.url'] === 'true' && jwksUrl) return remote(resolved(jwksUrl, representation.rootUrl))
  if (attributes['use.jwks.string'] === 'true') return local(attributes['jwks.string'])
  return single(attributes['jwt.credential.certificate'], attributes['jwt.credential.public.key'])
}

/** Keycloak: an address may be relative to the root URL of the client. */
function resolved(address: string, rootUrl: unknown): string {
  return address.startsWith('/') ? `${rootUrl ?? ''}${address}` : address
}

function remote(address: string): JWTVerifyGetKey {
  const url = URL.parse(address)
  if (!url) return none
  const known = fetched.get(url.href) ?? createRemoteJWKSet(url, { [customFetch]: readJson })
  fetched.set(url.href, known)
  return async (header, token) => {
    try {
      return await known(header, token)
    } catch (error) {
      if (error instanceof errors.JOSEError) throw error
      // Who administers the client can look at the address; who calls need not know what is there.
      throw new errors.JWKSNoMatchingKey('the keys of the client cannot be fetched', { cause: error })
    }
  }
}

const readJson = async (url: string) => new Response(await fetchText(url))

function local(text: string | undefined): JWTVerifyGetKey {
  try {
    return createLocalJWKSet(JSON.parse(text ?? '') as JSONWebKeySet)
  } catch {
    return none
  }
}

/** Keycloak: of a certificate or a public key alone, the id of the key does not matter. */
function single(certificate: string | undefined, publicKey: string | undefined): JWTVerifyGetKey {
  // Where both are there, nobody knows which one is meant.
  if (certificate && publicKey) return none
  const read = certificate ? readCertificate(certificate)?.publicKey : readPublicKey(publicKey)
  return read ? async () => read : none
}

function readPublicKey(text: string | undefined) {
  if (!text) return undefined
  try {
    const key = Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64')
    return createPublicKey({ key, type: 'spki', format: 'der' })
  } catch {
    return undefined
  }
}

const none: JWTVerifyGetKey = async () => {
  throw new errors.JWKSNoMatchingKey()
}
