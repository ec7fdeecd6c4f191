// The public keys of a client, which verify its assertions. Keycloak: ClientPublicKeyLoader.

import { createPublicKey, type KeyObject } from 'node:crypto'
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWK, type JWTVerifyGetKey } from 'jose'
import { readFlag } from '../../kinds/json.ts'
import { fetchText } from '../../lib/http/fetch-text.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { parseCertificate } from '../../service/realms/realm-keys.ts'
import { viewClient } from '../views.ts'

/** Remote key sets by address. jose caches each for ten minutes, and fetches at most twice a minute for an unknown key. */
let remoteKeySets = new WeakMap<Outbound, Map<string, RemoteKeySet>>()

type RemoteKeySet = ReturnType<typeof createRemoteJWKSet>

/** Time in milliseconds during which a failed fetch is not repeated, since any caller can send an assertion. */
const RETRY_DELAY = 30_000

/** Clears the cache of remote key sets. */
export function clearFetchedKeys(): void {
  remoteKeySets = new WeakMap()
}

/** Returns a function that finds the key of an assertion. It may fetch, so do not call it inside a transaction. */
export function getClientKeys(outbound: Outbound, client: LiveObject): JWTVerifyGetKey {
  const { attributes = {}, rootUrl } = viewClient(client)
  const jwksUrl = attributes['jwks.url']
  if (readFlag(attributes['use.jwks.url']) && jwksUrl) return createRemoteKeys(outbound, resolveUrl(jwksUrl, rootUrl))
  if (readFlag(attributes['use.jwks.string'])) return createLocalKeys(attributes['jwks.string'])
  return createSingleKey(attributes['jwt.credential.certificate'], attributes['jwt.credential.public.key'])
}

/** Keycloak: the address may be relative to the root URL of the client. */
function resolveUrl(address: string, rootUrl = ''): string {
  return address.startsWith('/') ? `${rootUrl}${address}` : address
}

/** Loads the text of a key set from an address. */
type LoadKeys = (outbound: Outbound, address: string) => Promise<string>

/** Returns a function that finds keys in the set at an address, which `load` fetches. Do not call that function inside a transaction. */
export function createRemoteKeys(outbound: Outbound, address: string, load: LoadKeys = fetchText): JWTVerifyGetKey {
  const url = URL.parse(address)
  if (!url) return noKeys
  const findKey = getRemoteKeySet(outbound, url, load)
  return async (header, token) => {
    try {
      return await findKey(header, token)
    } catch (error) {
      if (error instanceof errors.JOSEError) throw error
      // The caller must not learn what is at the address. An administrator of the client can look there.
      throw new errors.JWKSNoMatchingKey('The keys cannot be fetched.', { cause: error })
    }
  }
}

function getRemoteKeySet(outbound: Outbound, url: URL, load: LoadKeys = fetchText): RemoteKeySet {
  const keySets = remoteKeySets.get(outbound) ?? new Map<string, RemoteKeySet>()
  remoteKeySets.set(outbound, keySets)
  const keySet = keySets.get(url.href) ?? createRemoteJWKSet(url, { [customFetch]: createFetch(outbound, load) })
  keySets.set(url.href, keySet)
  return keySet
}

/** Returns the key set of a client; none if it has no set, or if it is invalid. It may fetch, so do not call it inside a transaction. */
export async function listClientJwks(outbound: Outbound, client: LiveObject): Promise<readonly JWK[]> {
  const { attributes = {}, rootUrl } = viewClient(client)
  try {
    const jwksUrl = attributes['jwks.url']
    if (attributes['use.jwks.url'] !== 'true' || !jwksUrl) {
      const text = readFlag(attributes['use.jwks.string']) ? attributes['jwks.string'] : undefined
      return text === undefined ? [] : createLocalJWKSet(JSON.parse(text)).jwks().keys
    }
    const keySet = getRemoteKeySet(outbound, new URL(resolveUrl(jwksUrl, rootUrl)))
    if (!keySet.fresh) await keySet.reload()
    return keySet.jwks()?.keys ?? []
  } catch {
    // The caller must not learn what is at the address. An administrator of the client can look there.
    return []
  }
}

/** Returns a function that fetches a key set, and fails again without fetching for a while after a failure. */
function createFetch(outbound: Outbound, load: LoadKeys) {
  let failure: { readonly error: unknown; readonly at: number } | undefined
  return async (url: string) => {
    if (failure && Date.now() - failure.at < RETRY_DELAY) throw failure.error
    try {
      return new Response(await load(outbound, url))
    } catch (error) {
      failure = { error, at: Date.now() }
      throw error
    }
  }
}

function createLocalKeys(text = ''): JWTVerifyGetKey {
  try {
    return createLocalJWKSet(JSON.parse(text))
  } catch {
    return noKeys
  }
}

/** Keycloak: the key id does not matter where the client has a single certificate or public key. */
function createSingleKey(certificate: string | undefined, publicKey: string | undefined): JWTVerifyGetKey {
  // With both it is undefined which one counts.
  if (certificate && publicKey) return noKeys
  const key = certificate ? parseCertificate(certificate)?.publicKey : parsePublicKey(publicKey)
  return key ? async () => key : noKeys
}

/** Returns the public key in a PEM text, with or without its header; undefined for any other text. */
export function parsePublicKey(text: string | undefined): KeyObject | undefined {
  if (!text) return undefined
  try {
    const key = Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64')
    return createPublicKey({ key, type: 'spki', format: 'der' })
  } catch {
    return undefined
  }
}

/** Finds no key. */
export const noKeys: JWTVerifyGetKey = async () => {
  throw new errors.JWKSNoMatchingKey()
}
