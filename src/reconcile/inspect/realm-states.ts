// The state of realms: in sync, drifted, pending approval, suspended or failed; for callers who may administer their sources.
import type { Permission } from '../../kinds/admin-roles.ts'
import { type AdminPermissions, hasPermission, listPermissionsIn } from '../../service/context/admin-permissions.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import type { RealmRow } from '../../service/context/store-types.ts'
import { listLastRealmChanges } from '../../service/journal/history.ts'
import { getPlanState, listSavedPlans } from '../../service/sources/saved-plans.ts'
import { listMarkedRealms, listRolledBackRealms } from '../../service/sources/source-records.ts'
import { listSourceStates, type SourceState } from '../../service/sources/source-status.ts'
import { listRealmDrift } from '../drift/drift.ts'
import type { Attribution } from '../model/action.ts'
import { toAttribution } from '../model/attribution.ts'

/** The states of a realm, the most urgent first. */
export const realmStates = ['failed', 'pendingApproval', 'drifted', 'suspended', 'inSync', 'unmanaged'] as const

/** A realm with its state, as far as the caller may view it. */
export interface RealmState {
  readonly realm: string
  readonly enabled: boolean
  /** The caller's permissions in the realm. */
  readonly permissions: readonly string[]
  /** Absent: the caller may not view the sources of the realm. */
  readonly state?: (typeof realmStates)[number]
  /** The sources that declare something in the realm. Absent as `state`. */
  readonly sources?: readonly string[]
  /** The number of drifted fields and objects. Absent: the caller may not view them. */
  readonly drift?: number
  /** The number of plans that are pending approval. Absent: the caller may not view them. */
  readonly pendingPlans?: number
  /** The last revision. Absent: the caller may not view the history. */
  readonly lastChange?: { readonly revision: number; readonly by: Attribution }
}

/** Selects realms by a part of their name. */
export interface RealmStateFilter {
  readonly search?: string | undefined
  readonly first: number
  readonly max: number
}

/**
 * Lists the realms that the caller may see, by name. Throws forbidden for a caller without permissions. A few statements, and a few for each
 * realm with changed objects.
 */
export async function listRealmStates(
  service: Service,
  caller: Caller,
  { search = '', first, max }: RealmStateFilter,
): Promise<RealmState[]> {
  const permissions = await service.getPermissions(caller)
  const rows = (await service.listRealms()).filter(
    ({ name }) => name.toLowerCase().includes(search.toLowerCase()) && listPermissionsIn(permissions, name).length > 0,
  )
  const realms = rows.slice(first, first + max)
  const facts = await readFacts(service, caller, realms)
  return realms.map((realm) => toRealmState(realm, permissions, facts))
}

/** The facts about realms from which their states follow. */
interface RealmFacts {
  readonly sources: readonly SourceState[]
  /** Names of realms with sources that a rollback suspends. */
  readonly rolledBack: ReadonlySet<string>
  readonly pendingPlans: ReadonlyMap<string, number>
  readonly drift: ReadonlyMap<string, number>
  readonly lastChanges: ReadonlyMap<number, NonNullable<RealmState['lastChange']>>
}

async function readFacts(service: Service, caller: Caller, realms: readonly RealmRow[]): Promise<RealmFacts> {
  const permissions = await service.getPermissions(caller)
  const marked = new Set(await listMarkedRealms(service))
  const drift = new Map<string, number>()
  for (const realm of realms)
    if (marked.has(realm.name) && hasPermission(permissions, realm.name, 'accept-drift'))
      drift.set(realm.name, (await service.read(caller, realm, listRealmDrift)).length)
  const withHistory = realms.filter(({ name }) => hasPermission(permissions, name, 'roll-back-realm'))
  const lastChanges = withHistory.length
    ? await listLastRealmChanges(
        service,
        withHistory.map(({ number }) => number),
      )
    : []
  return {
    sources: await listSourceStates(service, caller),
    rolledBack: new Set(await listRolledBackRealms(service)),
    pendingPlans: await countPendingPlans(service, caller),
    drift,
    lastChanges: new Map(
      lastChanges.map((change) => [change.realm, { revision: change.number, by: toAttribution(change) }]),
    ),
  }
}

async function countPendingPlans(service: Service, caller: Caller): Promise<Map<string, number>> {
  const now = service.clock()
  const counts = new Map<string, number>()
  for (const plan of await listSavedPlans(service, caller)) {
    if (getPlanState(plan, now) !== 'pending') continue
    for (const { name, hasChanges } of plan.realms) if (hasChanges) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

function toRealmState(
  { name, number, enabled }: RealmRow,
  permissions: AdminPermissions,
  facts: RealmFacts,
): RealmState {
  const can = (permission: Permission) => hasPermission(permissions, name, permission)
  const sources = facts.sources.filter(({ realms }) => realms.includes(name))
  const drift = facts.drift.get(name) ?? 0
  const pendingPlans = facts.pendingPlans.get(name) ?? 0
  const lastChange = facts.lastChanges.get(number)
  return {
    realm: name,
    enabled,
    permissions: listPermissionsIn(permissions, name),
    ...(can('suspend-sources') && {
      state: findState({ sources, drift, pendingPlans, suspendedByRollback: facts.rolledBack.has(name) }),
      sources: sources.map((source) => source.name),
    }),
    ...(can('accept-drift') && { drift }),
    ...(can('approve-plans') && { pendingPlans }),
    ...(lastChange && { lastChange }),
  }
}

function findState({
  sources,
  drift,
  pendingPlans,
  suspendedByRollback,
}: {
  readonly sources: readonly SourceState[]
  readonly drift: number
  readonly pendingPlans: number
  readonly suspendedByRollback: boolean
}): NonNullable<RealmState['state']> {
  if (sources.some(hasFailed)) return 'failed'
  if (pendingPlans) return 'pendingApproval'
  if (drift) return 'drifted'
  if (suspendedByRollback || sources.some(({ suspended }) => suspended)) return 'suspended'
  return sources.length ? 'inSync' : 'unmanaged'
}

/** Whether the last revision of a source is not applied, for another reason than an approval or a rollback. */
function hasFailed({ status: { ready } }: SourceState): boolean {
  return ready?.status === 'False' && ready.reason !== 'PendingApproval' && ready.reason !== 'RolledBack'
}
