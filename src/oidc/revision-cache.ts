// A cache of values that are computed from the configuration of a realm. Other processes change the configuration too: the row
// of the realm, which each request reads anyway, has the current revision.
import type { Context } from '../service/context/context.ts'
import { failure } from '../service/context/errors.ts'
import type { Service } from '../service/context/service.ts'
import type { RealmRow } from '../service/context/store-types.ts'

/** A realm, and the revision of its configuration. The number is never used again, unlike the name. */
export type RealmRevision = Pick<RealmRow, 'number' | 'name' | 'revision'>

/** A value that was computed at a revision of a realm. */
export interface ValueAtRevision<T> {
  readonly revision: number
  readonly value: T
}

/** Computes a value; `previous` is the value at an earlier revision. */
type Load<T> = (service: Service, realm: RealmRevision, previous: T | undefined) => Promise<ValueAtRevision<T>>

/** Returns a function that calls `load` once for each revision of a realm. It must not be called inside a transaction. */
export function cachePerRevision<T>(load: Load<T>): (service: Service, realm: RealmRevision) => Promise<T> {
  const caches = new WeakMap<
    Service,
    Map<number, { readonly revision: number; readonly loaded: Promise<ValueAtRevision<T>> }>
  >()
  return async (service, realm) => {
    const cache = caches.get(service) ?? new Map()
    caches.set(service, cache)
    const cached = cache.get(realm.number)
    if (cached && cached.revision >= realm.revision) return (await cached.loaded).value
    const previous = cached?.loaded.then(({ value }: ValueAtRevision<T>) => value).catch(() => undefined)
    const loaded = (previous ?? Promise.resolve(undefined)).then((value: T | undefined) => load(service, realm, value))
    const entry = { revision: realm.revision, loaded }
    cache.set(realm.number, entry)
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
