// Reviews resources before the API server stores them: their realm is planned with them in a dry run.
import { isDeepStrictEqual } from 'node:util'
import type { Deadline } from '../../lib/timing/deadline.ts'
import { raceAbort } from '../../lib/timing/race-abort.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import { recordEditor } from '../../service/sources/cluster-resources.ts'
import { recordAnnotator } from '../../service/sources/saved-plans.ts'
import { type ClusterSnapshot, watchCluster } from '../cluster/cluster-cache.ts'
import {
  APPROVED_PLAN_ANNOTATION,
  getResourceName,
  isDisabled,
  RECONCILE_ANNOTATION,
  type Resource,
} from '../cluster/resource.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import { getUnresolvedFiles, resolveDesiredRealms } from '../desired/desired-realms.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import { toSourceName } from '../desired/source-name.ts'
import type { OperatorOptions } from '../operator.ts'
import { readNamespaceInventory } from '../realms/namespace-inventory.ts'
import { dryRunRealm } from '../realms/realm-run.ts'
import { listWarnings } from './admission-warnings.ts'

/** A resource that is about to be written. */
export interface ResourceChange {
  readonly resource: Resource
  /** Its current version; absent if it is created. */
  readonly before?: Resource
  /** The name of the user in the cluster. */
  readonly user: string
  /** Whether nothing is stored. */
  readonly isDryRun: boolean
  readonly isDeletion: boolean
}

/** The decision about a change. */
export interface AdmissionDecision {
  /** The reason of a refusal, with the path of the field. Absent: the change is allowed. */
  readonly refusal?: string
  readonly warnings: readonly string[]
}

/** Reviews changes of resources. */
export interface AdmissionReviewer {
  /** Reviews a change, and records its author if a second approver is required. Throws where that fails, and when the signal is aborted or the deadline exceeded. */
  review(change: ResourceChange, signal: AbortSignal, deadline: Deadline): Promise<AdmissionDecision>
}

/** Options of `createAdmissionReviewer`. */
type AdmissionReviewerOptions = Pick<
  OperatorOptions,
  'cluster' | 'scope' | 'isWatchedNamespace' | 'onError' | 'findSourcePermissions' | 'isAdoptable'
>

/** A resource under review, the other resources of the cluster, and the deadline of the review. */
interface ReviewInput {
  readonly resource: Resource
  readonly snapshot: ClusterSnapshot
  readonly deadline: Deadline
}

const ALLOWED: AdmissionDecision = { warnings: [] }

/** Creates a reviewer, which watches the cluster until the signal is aborted. Each replica has one, with or without the lease. */
export function createAdmissionReviewer(
  service: Service,
  options: AdmissionReviewerOptions,
  signal: AbortSignal,
): AdmissionReviewer {
  const { cluster, scope, isWatchedNamespace, onError } = options
  const handler = { onChange: () => {}, onError }
  const startWatch = (until: AbortSignal) => watchCluster(cluster, { scope, handler, signal: until })
  const watch = startWatch(signal)

  const readSnapshot = async (until: AbortSignal) => {
    const ending = new AbortController()
    const temporaryWatch = startWatch(AbortSignal.any([ending.signal, until]))
    try {
      await raceAbort(temporaryWatch.synced, until)
      return temporaryWatch.getSnapshot()
    } finally {
      ending.abort()
    }
  }

  return {
    async review(change, until, deadline) {
      const { resource, before, isDeletion } = change
      if (!isWatchedNamespace(resource.metadata.namespace!)) return ALLOWED
      const refusal = await reviewAuthor(service, change)
      if (refusal !== undefined) return { refusal, warnings: [] }
      if (isDeletion || resource.metadata.deletionTimestamp) return ALLOWED
      if (before && declaresSame(resource, before)) return ALLOWED
      await raceAbort(watch.synced, until)
      const reviewWith = (snapshot: ClusterSnapshot) => review(service, options, { resource, snapshot, deadline })
      const decision = await reviewWith(watch.getSnapshot())
      // The watch may not have received a resource that this one refers to: only a current snapshot justifies a refusal.
      return decision.refusal === undefined ? decision : reviewWith(await readSnapshot(until))
    },
  }
}

/** Plans the realm of a resource in a dry run. Throws where that fails for another reason than the declarations. */
async function review(
  service: Service,
  { findSourcePermissions, isAdoptable, isWatchedNamespace }: AdmissionReviewerOptions,
  { resource, snapshot, deadline }: ReviewInput,
): Promise<AdmissionDecision> {
  const inventory = await readNamespaceInventory(service, isWatchedNamespace)
  const { findOwnerNamespace } = inventory
  const before = snapshot.resources.filter(({ metadata }) => isWatchedNamespace(metadata.namespace!))
  const remaining = before.filter((existing) => getResourceName(existing) !== getResourceName(resource))
  const after = resolveDesiredRealms({ ...snapshot, resources: [...remaining, resource], findOwnerNamespace })
  const isReviewed = (declaring: DeclaringResource) => declaring.resource === resource
  const unresolved = after.unresolved.find(isReviewed)
  if (unresolved) return toDecision(unresolved.fault)
  const realm = [...after.realms.values()].find(({ resources }) => resources.some(isReviewed))!
  const { name, owner, resources } = realm
  if (owner?.removal) return ALLOWED
  const dryRunOptions = {
    findSourcePermissions,
    isAdoptable,
    deadline,
    namespace: resource.metadata.namespace!,
    isOwner: owner !== undefined && findOwnerNamespace(name) === owner.namespace,
    appliedNamespaces: inventory.getNamespaces(name),
    unresolved: getUnresolvedFiles(after),
    dependentGitSources: [],
  }
  try {
    const dryRun = await dryRunRealm(service, realm, dryRunOptions)
    const reviewed = resources.find(isReviewed)!
    const fault = dryRun.faults.get(reviewed.file)
    if (fault) return toDecision(fault)
    const current = resolveDesiredRealms({ ...snapshot, resources: before, findOwnerNamespace })
    const unresolvedBefore = new Set(current.unresolved.map(({ file }) => file))
    const newlyUnresolved = after.unresolved.filter(({ file }) => !unresolvedBefore.has(file))
    return { warnings: listWarnings(reviewed, dryRun, [...resources, ...newlyUnresolved]) }
  } catch (error) {
    // The failure concerns the realm as a whole, whose status reports it.
    if (!(error instanceof ServiceError)) throw error
    return { warnings: [`the realm ${name} cannot be applied now: ${error.message}`] }
  }
}

/** Another resource may remove a temporary fault later, so that it is no refusal; the status of the resource reports it. */
function toDecision({ message, isIntended, isTemporary }: ResourceFault): AdmissionDecision {
  if (isIntended) return ALLOWED
  return isTemporary ? { warnings: [message] } : { refusal: message, warnings: [] }
}

/**
 * Records the author of an edit or an approval, unless it is a dry run. Returns why the author may not approve a plan; undefined if
 * nothing is refused. Edits are recorded before the review: one that is refused makes its author no approver of other edits.
 */
async function reviewAuthor(
  service: Service,
  { resource, before, user, isDryRun, isDeletion }: ResourceChange,
): Promise<string | undefined> {
  const plan = resource.metadata.annotations?.[APPROVED_PLAN_ANNOTATION]
  try {
    if (!isDeletion && plan !== undefined && plan !== before?.metadata.annotations?.[APPROVED_PLAN_ANNOTATION])
      await recordAnnotator(service, { plan, annotator: user, isDryRun })
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'forbidden') return error.reason
    throw error
  }
  const isEdit = isDeletion || !before || !declaresSame(resource, before)
  if (service.requiresSecondApprover && isEdit && !isDryRun)
    await recordEditor(service, { source: toSourceName(resource.metadata.namespace!), editor: user })
  return undefined
}

/** Whether two versions of a resource declare the same: only finalizers, the approval of a plan or other metadata differ. */
function declaresSame(first: Resource, second: Resource): boolean {
  return (
    isDeepStrictEqual(first.spec, second.spec) &&
    isDisabled(first, RECONCILE_ANNOTATION) === isDisabled(second, RECONCILE_ANNOTATION)
  )
}
