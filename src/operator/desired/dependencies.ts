// Decides whether a realm is reconciled: it must not be suspended, and the realms that it depends on must have been applied. Pure.
import { readTexts } from '../../kinds/json.ts'
import type { DeclaringResource } from './declaring-resource.ts'
import type { ClusterRealm } from './desired-realms.ts'

/** The reason for not reconciling a realm now, as the reason and message of a condition. */
export interface SkipReason {
  readonly reason: string
  readonly message: string
  /** `intended`: a user requested it. `stalled`: a user must change something. Absent: it ends by itself. */
  readonly type?: 'intended' | 'stalled'
}

/** Returns why a realm is not reconciled now; undefined if it is. A realm whose resource is being deleted is not skipped. */
export function findSkipReason(
  { owner }: ClusterRealm,
  realms: ReadonlyMap<string, ClusterRealm>,
): SkipReason | undefined {
  if (!owner || owner.removal) return undefined
  if (owner.resource.spec?.suspend === true) {
    const message = `${owner.file} is suspended. Set spec.suspend to false to apply the realm again.`
    return { reason: 'Suspended', message, type: 'intended' }
  }
  const owners = getOwnersIn(owner.namespace, realms)
  const cycle = findDependencyCycle(owner, owners)
  if (cycle) {
    const message = `spec.dependsOn: Realms depend on each other: ${cycle.join(' → ')}. Remove one of the dependencies.`
    return { reason: 'DependencyCycle', message, type: 'stalled' }
  }
  const missing = listDependencies(owner).filter((name) => !wasApplied(owners.get(name)))
  if (!missing.length) return undefined
  return {
    reason: 'DependencyNotReady',
    message: `Realms that this realm depends on were never applied: ${missing.join(', ')}. Look at the status of these resources.`,
  }
}

/** Returns the resources of a namespace that own a realm, by name. */
function getOwnersIn(namespace: string, realms: ReadonlyMap<string, ClusterRealm>): Map<string, DeclaringResource> {
  const owners = [...realms.values()].flatMap(({ owner }) => (owner?.namespace === namespace ? owner : []))
  return new Map(owners.map((owner) => [owner.resource.metadata.name, owner]))
}

const listDependencies = ({ resource }: DeclaringResource) => readTexts(resource.spec?.dependsOn)

/** Whether a dependency was ever applied. Later failures do not block the realms that depend on it. */
const wasApplied = (dependency: DeclaringResource | undefined): boolean =>
  dependency?.resource.status?.lastAppliedRevision !== undefined

/** Returns the names on a path of dependencies from a resource back to itself; undefined if there is none. */
export function findDependencyCycle(
  start: DeclaringResource,
  byName: ReadonlyMap<string, DeclaringResource>,
): string[] | undefined {
  const startName = start.resource.metadata.name
  const visited = new Set<string>()
  const paths = [[startName]]
  for (const path of paths) {
    for (const name of listDependencies(byName.get(path.at(-1)!) ?? start)) {
      if (name === startName) return [...path, name]
      if (visited.has(name) || !byName.has(name)) continue
      visited.add(name)
      paths.push([...path, name])
    }
  }
  return undefined
}
