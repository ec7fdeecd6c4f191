// What a realm waits for before it is applied: that it is not suspended, and the realms that it depends on. Pure.
import type { Member, RealmOf } from './desired.ts'

/** Why nothing is done about a realm now, in a word and in words. */
export interface Waits {
  readonly reason: string
  readonly message: string
  /** `meant`: somebody wants it so; `stalled`: it does not end by itself. */
  readonly how?: 'meant' | 'stalled'
}

/** What the realm waits for; undefined: nothing. A realm whose resource was deleted waits for no others. */
export function waitsFor({ holder }: RealmOf, realms: ReadonlyMap<string, RealmOf>): Waits | undefined {
  if (!holder) return undefined
  if (holder.resource.spec?.suspend === true) {
    const message = `${holder.file} is suspended: nothing is applied to the realm until spec.suspend is false`
    return { reason: 'Suspended', message, how: 'meant' }
  }
  if (holder.leaves) return undefined
  const byName = new Map(
    [...realms.values()].flatMap(({ holder: one }) =>
      one && one.namespace === holder.namespace ? [[one.resource.metadata.name, one] as const] : [],
    ),
  )
  const cycle = wayBack(holder, byName)
  if (cycle) {
    const message = `spec.dependsOn: these realms wait for each other: ${cycle.join(' → ')}`
    return { reason: 'DependencyCycle', message, how: 'stalled' }
  }
  const missing = namesIn(holder).filter((name) => !wasApplied(byName.get(name)))
  return missing.length
    ? { reason: 'DependencyNotReady', message: `it waits until these were applied: ${missing.join(', ')}` }
    : undefined
}

const namesIn = ({ resource }: Member) => (resource.spec?.dependsOn ?? []) as readonly string[]

/** Once is enough: what becomes wrong of it later holds up nobody. */
const wasApplied = (one: Member | undefined): boolean => one?.resource.status?.lastAppliedRevision !== undefined

/** The names from a resource back to itself, where its dependencies lead there. */
export function wayBack(from: Member, byName: ReadonlyMap<string, Member>): string[] | undefined {
  const start = from.resource.metadata.name
  const seen = new Set<string>()
  const ways = [[start]]
  for (const way of ways) {
    for (const name of namesIn(byName.get(way.at(-1)!) ?? from)) {
      if (name === start) return [...way, name]
      if (seen.has(name) || !byName.has(name)) continue
      seen.add(name)
      ways.push([...way, name])
    }
  }
  return undefined
}
