// Values that are computed from the configuration of a realm, and cached while it does not change. Other processes change it too: the row of
// the realm has the current revision.
import type { KindName } from '../../kinds/kind.ts'
import { evictOldest } from '../../lib/timing/evict-oldest.ts'
import type { UserValueKey } from './cached-values.ts'
import type { Context, WriteContext } from './context.ts'
import { failure } from './errors.ts'
import type { Service } from './service.ts'
import type { RealmRow } from './store-types.ts'

/** A realm, and the revision of its configuration. The number is never reused, unlike the name. */
export type RealmRevision = Pick<RealmRow, 'number' | 'name' | 'revision'>

/** A value that was computed at a revision of a realm. */
export interface ValueAtRevision<T> {
  readonly revision: number
  readonly value: T
}

/** Number of realms of which each value is cached. The oldest are evicted. */
const MOST_REALMS = 1_000

/** Computes a value; `previous` is the value at an earlier revision. */
type Load<T> = (service: Service, realm: RealmRevision, previous: T | undefined) => Promise<ValueAtRevision<T>>

/** Returns a function that calls `load` once for each revision of a realm. It must not be called inside a transaction. */
export function cachePerRevision<T>(load: Load<T>): (service: Service, realm: RealmRevision) => Promise<T> {
  const caches = new WeakMap<
    object,
    Map<number, { readonly revision: number; readonly loaded: Promise<ValueAtRevision<T>> }>
  >()
  return async (service, realm) => {
    const { epoch } = service.cache
    const cache = caches.get(epoch) ?? new Map()
    caches.set(epoch, cache)
    const cached = cache.get(realm.number)
    if (cached && cached.revision >= realm.revision) return (await cached.loaded).value
    const previous = cached?.loaded.then(({ value }: ValueAtRevision<T>) => value).catch(() => undefined)
    const loaded = (previous ?? Promise.resolve(undefined)).then((value: T | undefined) => load(service, realm, value))
    const entry = { revision: realm.revision, loaded }
    cache.set(realm.number, entry)
    evictOldest(cache, MOST_REALMS)
    try {
      const { revision, value } = await loaded
      if (cache.get(realm.number) === entry) cache.set(realm.number, { revision, loaded })
      return value
    } catch (error) {
      // The next caller tries again.
      if (cache.get(realm.number) === entry) cache.delete(realm.number)
      throw error
    }
  }
}

/** Returns the context. Throws not_found where its realm was deleted and created again: the new realm has another number. */
export function requireSameRealm<C extends Context>(context: C, { number }: Pick<RealmRevision, 'number'>): C {
  if (context.realm.number !== number) throw failure('not_found', 'Realm not found.')
  return context
}

/**
 * Returns a function that calls `load` once for each revision of a realm. In a transaction that has changed the configuration, it calls
 * `load` each time.
 */
export function cacheInContext<T>(load: (context: Context) => Promise<T>): (context: Context) => Promise<T> {
  const caches = new WeakMap<object, Map<number, ValueAtRevision<T>>>()
  return async (context) => {
    const { cache, realm } = context
    const revision = findRevision(context)
    if (revision === undefined) return load(context)
    const values = caches.get(cache.epoch) ?? new Map<number, ValueAtRevision<T>>()
    caches.set(cache.epoch, values)
    const cached = values.get(realm.number)
    if (cached?.revision === revision) return cached.value
    const value = await load(context)
    values.set(realm.number, { revision, value })
    evictOldest(values, MOST_REALMS)
    return value
  }
}

/**
 * Returns a function that calls `load` once until objects of the kinds have changed. Only writes, which have locked the realm, know that: for other
 * contexts, it calls `load` each time.
 */
export function cacheUntilChange<T>(
  kinds: readonly KindName[],
  load: (context: Context) => Promise<T>,
): (context: Context) => Promise<T> {
  const caches = new WeakMap<object, Map<number, ValueAtRevision<T>>>()
  return async (context) => {
    if (!isWriteContext(context)) return load(context)
    const { cache, realm, lastChanges } = context
    const { lockedAt, knownSince, byKind } = lastChanges
    const lastChange = Math.max(knownSince, ...kinds.map((kind) => byKind.get(kind) ?? 0))
    const values = caches.get(cache.epoch) ?? new Map<number, ValueAtRevision<T>>()
    caches.set(cache.epoch, values)
    const cached = values.get(realm.number)
    if (cached && cached.revision >= lastChange) return cached.value
    const value = await load(context)
    // Changes of this transaction may be rolled back.
    if (lastChange <= lockedAt) values.set(realm.number, { revision: lockedAt, value })
    evictOldest(values, MOST_REALMS)
    return value
  }
}

/** Returns the revision of the realm; undefined if the transaction itself has changed the configuration, or creates the realm. */
function findRevision(context: Context): number | undefined {
  if (!isWriteContext(context)) return context.realm.revision
  const { version, entries, flushedEntries } = context
  return version === 1 || entries.length || flushedEntries ? undefined : version - 1
}

const isWriteContext = (context: Context): context is WriteContext => 'version' in context

/** Whether the transaction has changed objects of a kind: the row of the realm in the context is older. */
export const hasChanged = (context: Context | WriteContext, kind: KindName): boolean =>
  'lastChanges' in context && (context.lastChanges.byKind.get(kind) ?? 0) > context.realm.revision

/**
 * Returns a value about a user that depends on nothing but the user and the configuration of the realm, and has a name. Reads of users call
 * `load` once until a change is announced, other contexts each time. Undefined is not cached: the user may be created.
 */
export function getUserValue<T>(
  { cached, cache, realm }: Context,
  { user, value }: Omit<UserValueKey, 'realm'>,
  load: () => Promise<T>,
): Promise<T> {
  if (cached !== 'configuration and users') return load()
  return cache.getUserValue({ realm: realm.number, user, value }, load)
}

/** The greatest size of a value that is cached, and of all values of a cache, in objects. The oldest values are evicted. */
const LARGEST_VALUE = 5_000
const LARGEST_CACHE = 10_000
/** Characters of keys that need as much memory as an object. */
const KEY_CHARACTERS = 1_000

/** A value, and the revision of its realm at which it was read, or an earlier one. */
interface SizedValue<T> {
  readonly revision: number
  readonly value: T
  readonly size: number
}

/** Returns the value with a key about the realm of the context. `load` reads it if it is not cached at the revision of the realm. */
type GetLargeValue<T> = (context: Context, key: string, load: () => Promise<T>) => Promise<T>

/**
 * Returns a function that caches large values with keys, each while the revision of its realm does not change. In contexts that may find
 * nothing in caches, it calls `load` each time.
 *
 * @param getSize returns the number of objects in a value
 */
export function cacheLargeValues<T>(getSize: (value: T) => number): GetLargeValue<T> {
  const caches = new WeakMap<object, RevisionCache<T>>()
  return async (context, key, load) => {
    if (!context.cached) return load()
    const { epoch } = context.cache
    const cache = caches.get(epoch) ?? new RevisionCache(getSize)
    caches.set(epoch, cache)
    return cache.get(context, key, load)
  }
}

/** Caches large values about all realms of a store. */
class RevisionCache<T> {
  readonly #getSize: (value: T) => number
  readonly #values = new Map<string, SizedValue<T>>()
  #size = 0

  constructor(getSize: (value: T) => number) {
    this.#getSize = getSize
  }

  /** Returns the value with the key. `load` reads it if it is not cached. */
  async get({ realm }: Context, key: string, load: () => Promise<T>): Promise<T> {
    const realmKey = `${realm.number} ${key}`
    const cached = this.#values.get(realmKey)
    if (cached?.revision === realm.revision) return cached.value
    const value = await load()
    const size = this.#getSize(value) + Math.ceil(realmKey.length / KEY_CHARACTERS)
    if (size <= LARGEST_VALUE) this.#add(realmKey, { revision: realm.revision, value, size })
    return value
  }

  #add(key: string, value: SizedValue<T>): void {
    this.#delete(key)
    this.#values.set(key, value)
    this.#size += value.size
    for (const oldest of this.#values.keys()) {
      if (this.#size <= LARGEST_CACHE) return
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    const value = this.#values.get(key)
    if (!value) return
    this.#values.delete(key)
    this.#size -= value.size
  }
}
