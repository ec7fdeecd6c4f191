// Runs over one realm: the resources of its own namespace are applied first, then those of each tenant namespace, independently of others.

import { getErrorMessage } from '../../lib/error-message.ts'
import type { Deadline } from '../../lib/timing/deadline.ts'
import { isLeaseLost } from '../../reconcile/following/failures.ts'
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import { isUnplanned } from '../../reconcile/run/reconcile.ts'
import { applyRun, planRun, type RunOutcome } from '../../reconcile/run/run.ts'
import { type Caller, type Service, SYSTEM } from '../../service/context/service.ts'
import { intersectSourcePermissions, type SourcePermissions } from '../../service/context/source-permissions.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { forgetSourceInRealm, listRealmSources } from '../../service/sources/source-records.ts'
import { ADOPT_ANNOTATION } from '../cluster/resource.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { getRevision, type RealmSourcesContext } from '../desired/realm-sources.ts'
import { listResourceWarnings, type ResourceFault } from '../desired/resource-fault.ts'
import { parseSourceName, toSourceName } from '../desired/source-name.ts'
import { findTenantConflicts } from '../desired/tenant-conflicts.ts'
import { findOutage } from '../status/outage.ts'
import { renderPlanText } from '../status/plan-text.ts'
import { hasChanges, type NamespaceResult, type RealmRunResult } from '../status/realm-run-result.ts'
import type { FaultMemory } from './fault-memory.ts'
import { readNamespaceInventory } from './namespace-inventory.ts'
import { type NamespaceRunInput, type RealmRun, runWithoutFaulty } from './namespace-run.ts'

/** Options of a dry run. */
export interface DryRunOptions
  extends Pick<RealmSourcesContext, 'appliedNamespaces' | 'unresolved' | 'dependentGitSources'> {
  /** Whether the namespace of the realm's resource declared the realm before. */
  readonly isOwner: boolean
  /** Returns what the server's settings permit a source to declare and grant; undefined if they do not limit it. */
  readonly findSourcePermissions: (source: string) => SourcePermissions | undefined
  /** Whether the server's settings permit a namespace to adopt or observe an existing realm. */
  readonly isAdoptable: (namespace: string, realm: string) => boolean
  /** A run that exceeds it is rolled back. */
  readonly deadline?: Deadline | undefined
}

/** Options of a run. */
export interface RealmRunOptions extends DryRunOptions {
  readonly lease: Lease
  /** Resources that have no finalizer, by file. They are not applied, since their deletion could be missed. */
  readonly withoutFinalizer: ReadonlyMap<string, ResourceFault>
  /** Reports the failure of a tenant's run, which its resources report too. */
  readonly onError: (error: unknown) => void
  /** The faults of earlier runs. */
  readonly faultMemory: FaultMemory
  /** Whether to attempt resources again that had faults in earlier runs and have not changed since. */
  readonly retriesFaulty: boolean
}

/** Applies a realm, or plans it if its `mode` is `plan`. Throws errors that no resource causes, such as an unreachable store. */
export async function applyRealm(
  service: Service,
  realm: ClusterRealm,
  options: RealmRunOptions,
): Promise<RealmRunResult> {
  const { owner, name } = realm
  if (owner?.removal === 'released') return releaseRealm(service, realm, options)
  const only = new Set([name])
  const { faultMemory, retriesFaulty } = options
  const run = (sources: readonly SourceContent[]) => {
    const caller = { ...createCaller(sources, options), lease: options.lease }
    return isPlan ? planRun({ service, caller, sources, only }) : applyRun({ service, caller, sources, only })
  }
  const permitted = limitSourcePermissions(realm, options.findSourcePermissions)
  const recalled = retriesFaulty ? new Map<string, ResourceFault>() : faultMemory.recall(permitted)
  const input = await prepareRun(service, permitted, { ...options, recalled })
  const isPlan = input.isAdoptionPlan || (owner?.resource.spec?.mode === 'plan' && !owner.removal)
  const [ownerNamespaces = [], ...tenants] = input.isRefused ? [] : groupNamespaces(realm, options)
  const ownerRun = await runWithoutFaulty({ ...input, namespaces: ownerNamespaces }, run)
  const faults = new Map([...input.faults, ...ownerRun.faults])
  const results = new Map<string, NamespaceResult | string>()
  const isLive = !tenants.length || (await service.findRealms([name])).length > 0
  for (const [namespace = ''] of tenants) {
    const tenantInput = isLive ? input : { ...input, faults: addMissingRealm(input, namespace) }
    try {
      const tenantRun = await runWithoutFaulty({ ...tenantInput, namespaces: [namespace] }, run)
      for (const [file, fault] of tenantRun.faults) faults.set(file, fault)
      results.set(namespace, toNamespaceResult(name, tenantRun.outcome, isPlan))
    } catch (error) {
      if (isLeaseLost(error) || findOutage(error)) throw error
      options.onError(error)
      results.set(namespace, getErrorMessage(error))
    }
  }
  const foundFaults = new Map([...faults].filter(([file]) => recalled.has(file) || !input.faults.has(file)))
  faultMemory.record(permitted, foundFaults, retriesFaulty)
  return toResult(service, realm, { ...toNamespaceResult(name, ownerRun.outcome, isPlan), faults, tenants: results })
}

/** Plans the resources of a namespace in a realm, and stores nothing. Throws errors that no resource causes. */
export async function dryRunRealm(
  service: Service,
  realm: ClusterRealm,
  { namespace, ...options }: DryRunOptions & { readonly namespace: string },
): Promise<RealmRun> {
  const { owner } = realm
  const only = new Set([realm.name])
  const permitted = limitSourcePermissions(realm, options.findSourcePermissions)
  const input = await prepareRun(service, permitted, { ...options, withoutFinalizer: new Map(), recalled: new Map() })
  const declaring = input.wasLive || !owner ? [namespace] : [...new Set([owner.namespace, namespace])]
  const namespaces = input.isRefused ? [] : declaring
  return runWithoutFaulty({ ...input, namespaces }, (sources) =>
    planRun({ service, caller: createCaller(sources, options), sources, only }),
  )
}

/** The input of the runs of a realm. */
interface PreparedRun extends Omit<NamespaceRunInput, 'namespaces'> {
  /** Whether the realm existed before the run. */
  readonly wasLive: boolean
  /** Whether the namespace of the realm may not take it over. */
  readonly isRefused: boolean
  /** Whether an annotation requests the plan of an adoption. */
  readonly isAdoptionPlan: boolean
}

/**
 * Returns the input of the runs of a realm, with the faults that its resources have before any run. `recalled`: those of earlier runs,
 * whose resources claim no objects.
 */
async function prepareRun(
  service: Service,
  realm: ClusterRealm,
  options: DryRunOptions &
    Pick<RealmRunOptions, 'withoutFinalizer'> & { readonly recalled: ReadonlyMap<string, ResourceFault> },
): Promise<PreparedRun> {
  const faults = new Map([...options.recalled, ...options.withoutFinalizer, ...getOwnFaults(realm)])
  for (const [file, fault] of findTenantConflicts(realm, faults)) faults.set(file, fault)
  const isAdoptionPlan = !options.isOwner && getAdoption(realm) === 'plan'
  const wasLive = options.isOwner || (await service.findRealms([realm.name])).length > 0
  const conflict = await findOwnershipConflict(service, realm, { ...options, wasLive })
  if (conflict) for (const { file, removal } of realm.resources) if (!removal) faults.set(file, conflict)
  return { ...options, realm, faults, wasLive, isRefused: conflict !== undefined, isAdoptionPlan }
}

/** Returns the namespaces that are run together: the own one first, then each tenant; all together if the realm is deleted. */
function groupNamespaces(
  { owner, resources }: ClusterRealm,
  { appliedNamespaces }: Pick<DryRunOptions, 'appliedNamespaces'>,
): string[][] {
  const namespaces = [...new Set([...resources.map(({ namespace }) => namespace), ...appliedNamespaces])].sort()
  if (!owner || owner.removal) return [namespaces]
  if (owner.isObserver) return [[], ...namespaces.map((name) => [name])]
  return [[owner.namespace], ...namespaces.filter((namespace) => namespace !== owner.namespace).map((name) => [name])]
}

/** Returns the faults of a tenant's resources while their realm does not exist. */
function addMissingRealm({ realm, faults }: PreparedRun, namespace: string) {
  const message = `The realm ${realm.name} does not exist yet, since ${realm.owner!.file} was not applied.`
  const missing: ResourceFault = { reason: 'RealmNotFound', message, isTemporary: true }
  const resources = realm.resources.filter((resource) => resource.namespace === namespace && !faults.has(resource.file))
  return new Map([...faults, ...resources.map(({ file }) => [file, missing] as const)])
}

/** Returns the faults of resources that could not be read, by file. */
const getOwnFaults = ({ resources }: ClusterRealm) =>
  new Map(resources.flatMap(({ file, fault }) => (fault ? [[file, fault] as const] : [])))

function createCaller(sources: readonly SourceContent[], { deadline }: DryRunOptions): Caller {
  return { actor: { kind: 'source', source: sources.map(({ name }) => name).join(', ') }, deadline }
}

/** Returns the realm with the permissions of each namespace limited by the server's settings. */
export function limitSourcePermissions(
  realm: ClusterRealm,
  findSourcePermissions: DryRunOptions['findSourcePermissions'],
): ClusterRealm {
  const sourcePermissions = new Map(
    [...realm.sourcePermissions].map(([namespace, permissions]) => [
      namespace,
      intersectSourcePermissions(permissions, findSourcePermissions(toSourceName(namespace))),
    ]),
  )
  return { ...realm, sourcePermissions }
}

/** Returns the fault of a Realm that may not manage or observe its realm, since another source or an administrator created that. */
async function findOwnershipConflict(
  service: Service,
  { name, owner }: ClusterRealm,
  { isOwner, isAdoptable, wasLive }: DryRunOptions & Pick<PreparedRun, 'wasLive'>,
): Promise<ResourceFault | undefined> {
  if (!owner || owner.removal || isOwner) return undefined
  const { namespace, isObserver, resource } = owner
  const setting = `Start the server with --adoptable-realms ${namespace}=${name}`
  if (isObserver) {
    const message = `The namespace ${namespace} may not observe the realm ${name}. ${setting}.`
    if (!isAdoptable(namespace, name)) return { reason: 'NotAdmitted', message }
    const missing = `The realm ${name} does not exist yet. Another source must declare it.`
    return wasLive ? undefined : { reason: 'RealmNotFound', message: missing, isTemporary: true }
  }
  if (!wasLive) return undefined
  // The namespace may have created the realm since `isOwner` was determined, or released it before.
  const inventory = await readNamespaceInventory(service, () => true)
  if (inventory.findOwnerNamespace(name) === namespace || inventory.hasReleased(name, namespace)) return undefined
  const exists = `The realm ${name} exists, and the namespace ${namespace} did not create it.`
  const refuse = (advice: string): ResourceFault => ({ reason: 'RealmTaken', message: `${exists} ${advice}` })
  if (!isAdoptable(namespace, name)) return refuse(`Declare another realm. To adopt this one: ${setting}.`)
  if (getAdoption({ owner }) === undefined)
    return refuse(
      `To adopt it, set the annotation ${ADOPT_ANNOTATION} to "plan", look at the plan, and set it to "apply".`,
    )
  if (resource.spec?.prune === 'all') return refuse('Set prune to managed: an adoption deletes nothing.')
  return undefined
}

/** Returns the adoption that the annotation of a Realm requests. */
function getAdoption({ owner }: Pick<ClusterRealm, 'owner'>): 'plan' | 'apply' | undefined {
  const requested = owner?.resource.metadata.annotations?.[ADOPT_ANNOTATION]
  return requested === 'plan' || requested === 'apply' ? requested : undefined
}

/** Ends the management of a realm, which stays live with all its objects. */
async function releaseRealm(
  service: Service,
  realm: ClusterRealm,
  { appliedNamespaces, lease, deadline }: RealmRunOptions,
): Promise<RealmRunResult> {
  const [live] = await service.findRealms([realm.name])
  if (live && appliedNamespaces.size)
    await service.write({ ...SYSTEM, lease, deadline }, realm.name, async (context) => {
      for (const namespace of appliedNamespaces)
        await forgetSourceInRealm(context, toSourceName(namespace), { isReversible: true })
    })
  const plan = { create: 0, update: 0, delete: 0 }
  const result = { outcome: 'applied', plan, tenants: new Map(), faults: getOwnFaults(realm) } as const
  return { ...result, revision: '', objectCount: 0, namespaces: new Set() }
}

function toNamespaceResult(realm: string, outcome: RunOutcome, isPlan: boolean): NamespaceResult {
  const ofRealm = outcome.realms.find(({ plan }) => plan.realm === realm)
  const { plan, pendingApproval, suspended } = ofRealm ?? {}
  const count = (name: string) => plan?.actions.filter(({ operation }) => operation === name).length ?? 0
  const counts = { create: count('create') + (plan?.creates ? 1 : 0), update: count('update'), delete: count('delete') }
  const hasText = (pendingApproval || isPlan) && hasChanges(counts)
  return {
    outcome: pendingApproval ? 'pendingApproval' : suspended ? 'suspended' : isPlan ? 'planned' : 'applied',
    plan: counts,
    ...(pendingApproval && { pendingApproval }),
    ...(hasText && { changes: renderPlanText(outcome, false) }),
    ...(ofRealm && !isUnplanned(ofRealm) && { warnings: listResourceWarnings(ofRealm.plan.notes) }),
  }
}

async function toResult(
  service: Service,
  realm: ClusterRealm,
  result: NamespaceResult & Pick<RealmRunResult, 'faults' | 'tenants'>,
): Promise<RealmRunResult> {
  const { faults, tenants, outcome } = result
  const sameOutcome = [...tenants.values()].flatMap((tenant) =>
    typeof tenant !== 'string' && tenant.outcome === outcome && hasChanges(tenant.plan) ? [tenant.plan] : [],
  )
  const sum = (name: keyof NamespaceResult['plan']) =>
    sameOutcome.reduce((total, plan) => total + plan[name], result.plan[name])
  return {
    ...result,
    plan: { create: sum('create'), update: sum('update'), delete: sum('delete') },
    revision: getRevision(realm.resources.filter(({ file, declaration }) => declaration && !faults.has(file))),
    ...(await countManagedObjects(service, realm.name)),
  }
}

/** Returns the number of objects that resources manage in a realm, and the namespaces of these. */
async function countManagedObjects(
  service: Service,
  realm: string,
): Promise<Pick<RealmRunResult, 'objectCount' | 'namespaces'>> {
  const [live] = await service.findRealms([realm])
  const sources = live ? await service.read(SYSTEM, live, listRealmSources) : []
  const namespaces = sources.flatMap(({ source, objects }) => {
    const parsed = parseSourceName(source)
    return parsed && !parsed.isGit ? [{ namespace: parsed.namespace, objects }] : []
  })
  return {
    objectCount: namespaces.reduce((sum, { objects }) => sum + objects, 0),
    namespaces: new Set(namespaces.map(({ namespace }) => namespace)),
  }
}
