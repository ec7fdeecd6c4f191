// The keys that a realm signs its tokens with: made when the first token needs one, and at most once per realm.
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import type { Context } from '../service/context.ts'
import { failure } from '../service/errors.ts'
import { findKeys, keepKey, type StoredKey } from '../service/keys.ts'
import { type RealmRow, type Service, SYSTEM } from '../service/service.ts'

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

/** What addresses a realm for good: a realm made anew, also with the same name and id, has another number. */
type Numbered = Pick<RealmRow, 'number' | 'name'>

/** Milliseconds for which keys that were just read count as all that there are: anybody can name an unknown one. */
const FRESH = 5_000

const imported = new WeakMap<Service, Map<number, { readonly keys: Promise<Keys>; readonly at: number }>>()

/** The keys of a realm. Statements: one or none; four when the realm has no key yet. */
export function keysOf(service: Service, realm: Numbered): Promise<Keys> {
  return (cacheOf(service).get(realm.number) ?? reload(service, realm)).keys
}

/** The key with that id; read from the store again where it is not known here: another process may have made it. */
export async function keyWithId(service: Service, realm: Numbered, kid: string): Promise<Key | undefined> {
  const find = (keys: Keys) => keys.find((key) => key.kid === kid)
  const known = find(await keysOf(service, realm))
  if (known) return known
  const { at = 0 } = cacheOf(service).get(realm.number) ?? {}
  return performance.now() - at < FRESH ? undefined : find(await reload(service, realm).keys)
}

function reload(service: Service, realm: Numbered): { keys: Promise<Keys>; at: number } {
  const cache = cacheOf(service)
  const loading = { keys: load(service, realm), at: performance.now() }
  cache.set(realm.number, loading)
  // What failed is tried again by the next caller.
  loading.keys.catch(() => cache.get(realm.number) === loading && cache.delete(realm.number))
  return loading
}

function cacheOf(service: Service) {
  const cache = imported.get(service) ?? new Map<number, { keys: Promise<Keys>; at: number }>()
  imported.set(service, cache)
  return cache
}

async function load(service: Service, { number, name }: Numbered): Promise<Keys> {
  const same = <C extends Context>(context: C): C => {
    if (context.realm.number !== number) throw failure('not_found', 'Realm not found.')
    return context
  }
  const found = await service.read(SYSTEM, name, (context) => findKeys(same(context)))
  if (found.length) return importAll(found)
  const fresh = await generate()
  return importAll(await service.write(SYSTEM, name, (context) => keepKey(same(context), fresh)))
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
