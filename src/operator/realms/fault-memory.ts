// The faults that runs of a realm found, so that edits of other resources do not apply the same wrong resource again and again.
import { getBackOff } from '../../lib/timing/back-off.ts'
import { RECONCILE_REQUEST_ANNOTATION } from '../cluster/resource.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { getUnknownFieldPolicy } from '../desired/realm-sources.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'

/** Milliseconds until the first retry of faulty resources after a change, and at most. */
const [MIN_DELAY, MAX_DELAY] = [250, 600_000]

interface RememberedFault {
  /** The declaration, permissions and requests that the fault depends on, as JSON. */
  readonly key: string
  readonly fault: ResourceFault
}

/** The faults of the resources of one realm. */
export class FaultMemory {
  #faults: ReadonlyMap<string, RememberedFault> = new Map()
  /** Retries of the same faults without an effect. */
  #uselessRetries = 0
  /** The files with a declaration in the last run. */
  #declared: ReadonlySet<string> = new Set()
  /** Whether the last run attempted the resources with missing references. */
  #hasAttemptedReferences = false

  /**
   * Returns the faults of resources that have not changed since, by file. `realm`: with the current permissions. If there is a new
   * declaration, it may be what others refer to, so that missing references do not count. If one was removed, it may be what others
   * contradicted, so that no fault counts.
   */
  recall(realm: ClusterRealm): Map<string, ResourceFault> {
    const declared = listDeclared(realm)
    const hasNew = [...declared].some((file) => !this.#declared.has(file))
    if ([...this.#declared].some((file) => !declared.has(file))) {
      this.#hasAttemptedReferences = true
      return new Map()
    }
    this.#hasAttemptedReferences = hasNew
    const unchanged = realm.resources.flatMap((declaring): [string, ResourceFault][] => {
      const remembered = this.#faults.get(declaring.file)
      if (remembered?.key !== getKey(realm, declaring) || (hasNew && remembered.fault.isTemporary)) return []
      return [[declaring.file, remembered.fault]]
    })
    return new Map(unchanged)
  }

  /** Replaces the faults after a run. `isRetry`: it attempted all resources. */
  record(realm: ClusterRealm, faults: ReadonlyMap<string, ResourceFault>, isRetry: boolean): void {
    const remembered = realm.resources.flatMap((declaring): [string, RememberedFault][] => {
      const fault = declaring.declaration && faults.get(declaring.file)
      return fault ? [[declaring.file, { key: getKey(realm, declaring), fault }]] : []
    })
    const isSame = remembered.length === this.#faults.size && remembered.every(([file]) => this.#faults.has(file))
    if (!isSame) this.#uselessRetries = 0
    else if (isRetry) this.#uselessRetries++
    this.#faults = new Map(remembered)
    this.#declared = listDeclared(realm)
  }

  /**
   * Returns the milliseconds after which a run that has changed something is followed by one that attempts the faulty resources too;
   * undefined if there are none. `hasCreated`: what they refer to may exist now.
   */
  getRetryDelay(hasCreated: boolean): number | undefined {
    if (!this.#faults.size) return undefined
    const mayResolve =
      !this.#hasAttemptedReferences && [...this.#faults.values()].some(({ fault }) => fault.isTemporary)
    return hasCreated && mayResolve ? 0 : getBackOff(this.#uselessRetries + 1, MIN_DELAY, MAX_DELAY)
  }
}

/** Returns the files with a declaration. */
const listDeclared = ({ resources }: ClusterRealm): ReadonlySet<string> =>
  new Set(resources.flatMap(({ declaration, file }) => (declaration ? file : [])))

/** Returns what the fault of a resource depends on, besides other resources: its declaration, its permissions and requested retries. */
function getKey(
  { owner, sourcePermissions }: ClusterRealm,
  { declaration, namespace, resource }: DeclaringResource,
): string {
  const requests = [resource, owner?.resource].map(
    (requested) => requested?.metadata.annotations?.[RECONCILE_REQUEST_ANNOTATION],
  )
  const unknownFields = owner && getUnknownFieldPolicy(owner)
  return JSON.stringify([declaration?.document.digest, sourcePermissions.get(namespace), unknownFields, ...requests])
}
