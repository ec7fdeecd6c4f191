// Values that are computed from the configuration of a realm, and cached while it does not change. Other processes change it too: the row of
// the realm has the current revision.
import { evictOldest } from '../../lib/timing/evict-oldest.ts'
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

/** Returns the revision of the realm; undefined if the transaction itself has changed the configuration, or creates the realm. */
function findRevision(context: Context): number | undefined {
  if (!isWriteContext(context)) return context.realm.revision
  const { version, entries, flushedEntries } = context
  return version === 1 || entries.length || flushedEntries ? undefined : version - 1
}

const isWriteContext = (context: Context): context is WriteContext => 'version' in context
