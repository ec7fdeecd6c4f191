// The keys that a realm signs its tokens with: made when the first token needs one, and at most once per realm.
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { findKeys, keepKey, type StoredKey } from '../service/keys.ts'
import { type Service, SYSTEM } from '../service/service.ts'

/** The algorithm of all tokens. */
export const ALGORITHM = 'RS256'

/** A key that is ready for use. */
export interface Key {
  readonly kid: string
  readonly publicJwk: JWK
  readonly publicKey: CryptoKey
  readonly privateKey: CryptoKey
}

/** The keys of a realm: the first one signs, all verify. */
export type Keys = readonly [Key, ...Key[]]

// Imported keys by the id of their realm, so that a realm made anew under the same name has its own.
const imported = new WeakMap<Service, Map<string, Promise<Keys>>>()

/** The keys of a realm. Statements: one or none; four when the realm has no key yet. */
export async function keysOf(service: Service, realm: { id: string; name: string }): Promise<Keys> {
  const cache = imported.get(service) ?? new Map<string, Promise<Keys>>()
  imported.set(service, cache)
  const known = cache.get(realm.id)
  if (known) return known
  const loading = load(service, realm.name)
  cache.set(realm.id, loading)
  // What failed is tried again by the next caller.
  loading.catch(() => cache.delete(realm.id))
  return loading
}

/** The key with that id; read from the store again where it is not known here: another process may have made it. */
export async function keyWithId(
  service: Service,
  realm: { id: string; name: string },
  kid: string,
): Promise<Key | undefined> {
  const find = (keys: Keys) => keys.find((key) => key.kid === kid)
  const known = find(await keysOf(service, realm))
  if (known) return known
  imported.get(service)?.delete(realm.id)
  return find(await keysOf(service, realm))
}

async function load(service: Service, realm: string): Promise<Keys> {
  const found = await service.read(SYSTEM, realm, findKeys)
  if (found.length) return importAll(found)
  const fresh = await generate()
  return importAll(await service.write(SYSTEM, realm, (context) => keepKey(context, fresh)))
}

async function generate(): Promise<StoredKey> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
  const jwk = await exportJWK(publicKey)
  return {
    id: await calculateJwkThumbprint(jwk),
    algorithm: ALGORITHM,
    active: true,
    publicKey: jwk as StoredKey['publicKey'],
    privateKey: JSON.stringify(await exportJWK(privateKey)),
    certificate: null,
  }
}

async function importAll(stored: readonly StoredKey[]): Promise<Keys> {
  const keys = stored.map(async ({ id, publicKey, privateKey }): Promise<Key> => {
    const publicJwk = { ...publicKey, kid: id, alg: ALGORITHM, use: 'sig' } as JWK
    return {
      kid: id,
      publicJwk,
      // Extractable: the public half is shown as a PEM body too.
      publicKey: (await importJWK(publicJwk, ALGORITHM, { extractable: true })) as CryptoKey,
      privateKey: (await importJWK(JSON.parse(privateKey) as JWK, ALGORITHM)) as CryptoKey,
    }
  })
  return (await Promise.all(keys)) as unknown as Keys
}
