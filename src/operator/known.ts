// What namespaces have applied before, as the store knows it: remembered while this server applies.
import { type Service, SYSTEM } from '../service/service.ts'
import { appliedBy, listSources } from '../service/sources.ts'
import { type RealmOf, sourceOf } from './desired.ts'
import type { Result } from './run.ts'

/** Who has applied what. */
export interface Known {
  /** Realms in which a namespace owns something. */
  realms(): Iterable<string>
  /** Namespaces that own something in the realm. */
  namespacesIn(realm: string): ReadonlySet<string>
  /** The namespace whose resource stated the realm itself. */
  holderOf(realm: string): string | undefined
  /** Remembers how a run has left the realm. */
  put(realm: RealmOf, result: Result): void
}

const NONE: ReadonlySet<string> = new Set()

/** What the store knows of namespaces that count. */
export async function readKnown(service: Service, counts: (namespace: string) => boolean): Promise<Known> {
  const namespaceOf = ({ source }: { readonly source: string }) => source.slice(sourceOf('').length)
  const sources = await listSources(service, SYSTEM)
  const own = sources.filter((one) => one.source.startsWith(sourceOf('')) && counts(namespaceOf(one)))
  const namespaces = new Map<string, ReadonlySet<string>>(
    [...Map.groupBy(own, ({ realm }) => realm)].map(([realm, all]) => [realm, new Set(all.map(namespaceOf))]),
  )
  const { applied } = await appliedBy(service, [...new Set(own.map(({ source }) => source))])
  const stating = applied.filter(({ stated }) => stated !== null)
  const holders = new Map(stating.map((one) => [one.realm, namespaceOf(one)]))
  return {
    realms: () => namespaces.keys(),
    namespacesIn: (realm) => namespaces.get(realm) ?? NONE,
    holderOf: (realm) => holders.get(realm),
    put({ name, holder }, result) {
      if (!result.namespaces.size) {
        namespaces.delete(name)
        holders.delete(name)
        return
      }
      namespaces.set(name, result.namespaces)
      if (holder && result.how === 'applied' && !result.faults.has(holder.file)) holders.set(name, holder.namespace)
    },
  }
}
