// What is made of a realm's configuration, and kept in memory until that changes. Other processes change it too: the row of a
// realm, which each request reads anyway, tells how far its journal has come.
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import type { RealmRow } from '../../service/context/store-types.ts'

/** What addresses a realm for good, and tells whether its configuration has changed. */
export type Revised = Pick<RealmRow, 'number' | 'name' | 'revision'>

/** Something that was made of a realm's configuration as it was at a revision. */
export interface AtRevision<T> {
  readonly revision: number
  readonly value: T
}

/** Makes it; `before` is what was made of an earlier revision. */
type Load<T> = (service: Service, realm: Revised, before: T | undefined) => Promise<AtRevision<T>>

/** A function that gives what `load` makes of a realm, once for each of its revisions. Never to be called inside a transaction. */
export function perRevision<T>(load: Load<T>): (service: Service, realm: Revised) => Promise<T> {
  const known = new WeakMap<
    Service,
    Map<number, { readonly revision: number; readonly loaded: Promise<AtRevision<T>> }>
  >()
  return async (service, realm) => {
    const cache = known.get(service) ?? new Map()
    known.set(service, cache)
    const before = cache.get(realm.number)
    if (before && before.revision >= realm.revision) return (await before.loaded).value
    const earlier = before?.loaded.then(({ value }: AtRevision<T>) => value).catch(() => undefined)
    const loaded = (earlier ?? Promise.resolve(undefined)).then((value: T | undefined) => load(service, realm, value))
    const loading = { revision: realm.revision, loaded }
    cache.set(realm.number, loading)
    try {
      const { revision, value } = await loaded
      if (cache.get(realm.number) === loading) cache.set(realm.number, { revision, loaded })
      return value
    } catch (error) {
      // What failed is tried again by the next caller.
      if (cache.get(realm.number) === loading) cache.delete(realm.number)
      throw error
    }
  }
}

/** The context, if it is of that realm: one made anew, also with the same name and id, has another number. Throws not_found. */
export function same<C extends Context>(context: C, { number }: Pick<Revised, 'number'>): C {
  if (context.realm.number !== number) throw failure('not_found', 'Realm not found.')
  return context
}
