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
import { fetchText } from '../../lib/http/fetch-text.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { readCertificate } from '../../service/realms/key-reading.ts'

/** Key sets of other servers, by address: jose keeps each for ten minutes, and asks for an unknown key twice a minute at most. */
let fetched = new WeakMap<Outbound, Map<string, JWTVerifyGetKey>>()

/** Milliseconds for which a server that did not give its keys is not asked again: anybody can send an assertion. */
const PAUSE = 30_000

/** Forgets what was fetched from other servers. */
export function forgetFetchedKeys(): void {
  fetched = new WeakMap()
}

/** What finds the key of an assertion. It may fetch: not to be called inside a transaction. */
export function keysOfClient(outbound: Outbound, { representation }: LiveObject): JWTVerifyGetKey {
  const attributes = (representation.attributes ?? {}) as Record<string, string | undefined>
  const jwksUrl = attributes['jwks.url']
  if (attributes['use.jwks.url'] === 'true' && jwksUrl)
    return remote(outbound, resolved(jwksUrl, representation.rootUrl))
  if (attributes['use.jwks.string'] === 'true') return local(attributes['jwks.string'])
  return single(attributes['jwt.credential.certificate'], attributes['jwt.credential.public.key'])
}

/** Keycloak: an address may be relative to the root URL of the client. */
function resolved(address: string, rootUrl: unknown): string {
  return address.startsWith('/') ? `${rootUrl ?? ''}${address}` : address
}

function remote(outbound: Outbound, address: string): JWTVerifyGetKey {
  const url = URL.parse(address)
  if (!url) return none
  const sets = fetched.get(outbound) ?? new Map<string, JWTVerifyGetKey>()
  fetched.set(outbound, sets)
  const known = sets.get(url.href) ?? createRemoteJWKSet(url, { [customFetch]: reader(outbound) })
  sets.set(url.href, known)
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

/** Fetches a key set; a failure counts for a while. */
function reader(outbound: Outbound) {
  let failed: { readonly error: unknown; readonly at: number } | undefined
  return async (url: string) => {
    if (failed && Date.now() - failed.at < PAUSE) throw failed.error
    try {
      return new Response(await fetchText(outbound, url))
    } catch (error) {
      failed = { error, at: Date.now() }
      throw error
    }
  }
}

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
