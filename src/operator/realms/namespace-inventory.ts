// What namespaces have applied before, as the store knows it: remembered while this server applies.
import { type Service, SYSTEM } from '../service/context/service.ts'
import type { AppliedSource } from '../service/context/store-types.ts'
import { getAppliedAndPending, listPermittedSources } from '../service/sources/source-records.ts'
import { ownerOf, type RealmOf } from './desired.ts'
import type { Result } from './status/result.ts'

/** Who has applied what. */
export interface Known {
  /** Realms in which a namespace owns something. */
  realms(): Iterable<string>
  /** Namespaces that own something in the realm. */
  namespacesIn(realm: string): ReadonlySet<string>
  /** The namespace whose resource, or whose source in git, stated the realm itself. */
  holderOf(realm: string): string | undefined
  /** Sources in git whose objects go with the realm when its resource in the namespace is deleted: all, unless one of them there states it. */
  goingWith(realm: string, namespace: string): string[]
  /** Remembers how a run has left the realm. */
  put(realm: RealmOf, result: Result): void
  /** Remembers what a source in git has applied by now. */
  putGit(source: string, applied: readonly AppliedSource[]): void
}

const NONE: ReadonlySet<string> = new Set()

/** What the store knows of namespaces that count. */
export async function readKnown(service: Service, counts: (namespace: string) => boolean): Promise<Known> {
  const sources = await listPermittedSources(service, SYSTEM)
  const owned = sources.flatMap((one) => {
    const owner = ownerOf(one.source)
    return owner && counts(owner.namespace) ? [{ ...one, ...owner }] : []
  })
  const own = owned.filter(({ isGit }) => !isGit)
  const namespaces = new Map<string, ReadonlySet<string>>(
    [...Map.groupBy(own, ({ realm }) => realm)].map(([realm, all]) => [
      realm,
      new Set(all.map(({ namespace }) => namespace)),
    ]),
  )
  const { applied } = await getAppliedAndPending(service, [...new Set(owned.map(({ source }) => source))])
  const [byGit, byResources] = [true, false].map((isGit) =>
    applied.filter((one) => ownerOf(one.source)!.isGit === isGit),
  )
  const stating = byResources!.filter(({ declaredName }) => declaredName !== null)
  const holders = new Map(stating.map(({ realm, source }) => [realm, ownerOf(source)!.namespace]))
  const git = new Map<string, Map<string, AppliedSource>>()
  const putGit = (all: readonly AppliedSource[]) => {
    for (const one of all) git.set(one.realm, (git.get(one.realm) ?? new Map()).set(one.source, one))
  }
  putGit(byGit!)
  const byGitIn = (realm: string) => [...(git.get(realm)?.values() ?? [])]
  return {
    realms: () => namespaces.keys(),
    namespacesIn: (realm) => namespaces.get(realm) ?? NONE,
    holderOf(realm) {
      const source = byGitIn(realm).find(({ declaredName }) => declaredName !== null)?.source
      return holders.get(realm) ?? (source && ownerOf(source)!.namespace)
    },
    goingWith(realm, namespace) {
      const all = byGitIn(realm)
      const stays = all.some(
        ({ source, declaredName }) => declaredName !== null && ownerOf(source)!.namespace === namespace,
      )
      return stays ? [] : all.map(({ source }) => source)
    },
    putGit(source, applied) {
      for (const all of git.values()) all.delete(source)
      putGit(applied)
    },
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
