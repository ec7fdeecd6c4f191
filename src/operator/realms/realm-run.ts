// Runs over one realm: what its resources declare is applied or planned. Resources with faults are left out, and the others applied.
import type { Deadline } from '../../lib/timing/deadline.ts'
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import { applyRun, planRun, type RunOutcome } from '../../reconcile/run/run.ts'
import { type Caller, type Service, SYSTEM } from '../../service/context/service.ts'
import { intersectSourcePermissions, type SourcePermissions } from '../../service/context/source-permissions.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { forgetSourceInRealm, listRealmSources } from '../../service/sources/source-records.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { getRevision, type RealmSourcesContext, toSourceContents } from '../desired/realm-sources.ts'
import { listResourceFaults, type ResourceFault } from '../desired/resource-fault.ts'
import { parseSourceName, toSourceName } from '../desired/source-name.ts'
import type { RealmRunResult } from '../status/realm-run-result.ts'
import { readNamespaceInventory } from './namespace-inventory.ts'

/** Options of a dry run. */
export interface DryRunOptions
  extends Pick<RealmSourcesContext, 'appliedNamespaces' | 'unresolved' | 'dependentGitSources'> {
  /** Whether the namespace of the realm's resource declared the realm before. */
  readonly isOwner: boolean
  /** Returns what the server's settings permit a source to declare and grant; undefined if they do not limit it. */
  readonly findSourcePermissions: (source: string) => SourcePermissions | undefined
  /** A run that exceeds it is rolled back. */
  readonly deadline?: Deadline | undefined
}

/** Options of a run. */
export interface RealmRunOptions extends DryRunOptions {
  readonly lease: Lease
  /** Resources that have no finalizer, by file. They are not applied, since their deletion could be missed. */
  readonly withoutFinalizer: ReadonlyMap<string, ResourceFault>
}

/** The outcome of applying or planning one realm, and the faults of resources that were left out. */
export interface RealmRun {
  readonly outcome: RunOutcome
  /** Faults by the name of their resource, which is its file name in plans. */
  readonly faults: ReadonlyMap<string, ResourceFault>
}

/** Applies a realm, or plans it if its `mode` is `plan`. Throws errors that no resource causes, such as an unreachable store. */
export async function applyRealm(
  service: Service,
  realm: ClusterRealm,
  options: RealmRunOptions,
): Promise<RealmRunResult> {
  const { owner, name } = realm
  if (owner?.removal === 'released') return releaseRealm(service, realm, options)
  const isPlan = owner?.resource.spec?.mode === 'plan' && !owner.removal
  const only = new Set([name])
  const run = await runWithoutFaulty({ service, realm, options }, (sources) => {
    const caller = { ...createCaller(sources, options), lease: options.lease }
    return isPlan ? planRun({ service, caller, sources, only }) : applyRun({ service, caller, sources, only })
  })
  return toResult(service, realm, { ...run, isPlan })
}

/** Plans a realm, and stores nothing. Throws errors that no resource causes. */
export function dryRunRealm(service: Service, realm: ClusterRealm, options: DryRunOptions): Promise<RealmRun> {
  const only = new Set([realm.name])
  return runWithoutFaulty({ service, realm, options: { ...options, withoutFinalizer: new Map() } }, (sources) =>
    planRun({ service, caller: createCaller(sources, options), sources, only }),
  )
}

/** The realm of a run, and its options. */
interface RealmRunInput {
  readonly service: Service
  readonly realm: ClusterRealm
  readonly options: Omit<RealmRunOptions, 'lease'>
}

/** Repeats a run without the resources that made it fail, until it succeeds. */
async function runWithoutFaulty(
  { service, realm, options }: RealmRunInput,
  run: (sources: readonly SourceContent[]) => Promise<RunOutcome>,
): Promise<RealmRun> {
  const permitted = limitSourcePermissions(realm, options.findSourcePermissions)
  const faults = new Map([...options.withoutFinalizer, ...getOwnFaults(realm)])
  const conflict = await findOwnershipConflict(service, permitted, options)
  if (conflict) for (const { file, removal } of realm.resources) if (!removal) faults.set(file, conflict)
  const removed = new Set(realm.resources.flatMap(({ file, removal }) => (removal ? file : [])))
  for (;;) {
    const sources = conflict ? [] : toSourceContents(permitted, { ...options, faults })
    try {
      return { outcome: await run(sources), faults }
    } catch (error) {
      const newFaults = listResourceFaults(error).filter(([file]) => !faults.has(file))
      if (!newFaults.length) throw error
      for (const [file, fault] of newFaults) faults.set(file, removed.has(file) ? { ...fault, reason: 'InUse' } : fault)
    }
  }
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

/** Returns the fault of a realm that exists, was not created by this namespace, and that the settings do not let it take over. */
async function findOwnershipConflict(
  service: Service,
  { name, owner }: ClusterRealm,
  { isOwner, findSourcePermissions }: DryRunOptions,
): Promise<ResourceFault | undefined> {
  if (!owner || owner.removal || isOwner) return undefined
  const source = toSourceName(owner.namespace)
  if (findSourcePermissions(source)?.realms?.includes(name)) return undefined
  if (!(await service.findRealms([name])).length) return undefined
  // The namespace may have created the realm since `isOwner` was determined.
  const { findOwnerNamespace } = await readNamespaceInventory(service, () => true)
  if (findOwnerNamespace(name) === owner.namespace) return undefined
  const message = `The realm ${name} exists, and the namespace ${owner.namespace} did not create it. To let the namespace take it over, start the server with --source-permissions ${source}=${name}:*`
  return { reason: 'RealmTaken', message }
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
      for (const namespace of appliedNamespaces) await forgetSourceInRealm(context, toSourceName(namespace))
    })
  const plan = { create: 0, update: 0, delete: 0 }
  return { outcome: 'applied', faults: getOwnFaults(realm), revision: '', plan, objectCount: 0, namespaces: new Set() }
}

async function toResult(
  service: Service,
  realm: ClusterRealm,
  { outcome, faults, isPlan }: RealmRun & { readonly isPlan: boolean },
): Promise<RealmRunResult> {
  const realmOutcome = outcome.realms.find(({ plan }) => plan.realm === realm.name)
  const { plan, pendingApproval, suspended } = realmOutcome ?? {}
  const count = (name: string) => plan?.actions.filter(({ operation }) => operation === name).length ?? 0
  return {
    outcome: pendingApproval ? 'pendingApproval' : suspended ? 'suspended' : isPlan ? 'planned' : 'applied',
    faults,
    revision: getRevision(realm.resources.filter(({ file, declaration }) => declaration && !faults.has(file))),
    plan: { create: count('create') + (plan?.creates ? 1 : 0), update: count('update'), delete: count('delete') },
    ...(pendingApproval && { pendingApproval }),
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
