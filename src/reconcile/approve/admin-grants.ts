// Finds the admin permissions that a plan grants to existing objects that no source has managed before.
import { resolveField } from '../../kinds/compare.ts'
import { getParentPath } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { type AdminPermissions, listMissingRoles, toAdminPermissions } from '../../service/context/admin-permissions.ts'
import type { Context } from '../../service/context/context.ts'
import { findContainedRoles, findNamingEntries, type RoleOrGroup } from '../../service/sources/guard-queries.ts'
import type { HeldPermissions } from '../execute/realm-outcome.ts'
import { isRelationChange, type RealmPlan } from '../model/action.ts'
import type { PlanInput } from '../model/plan-input.ts'
import { listReferences, type ReferenceTarget } from '../model/references.ts'
import type { AdminGrant, AdoptedObject } from '../plan/guards.ts'

/** A plan and the existing objects that it adopts. `heldPermissions`: their admin permissions before the plan, if it was already applied. */
export interface AdoptingPlan {
  readonly plan: RealmPlan
  readonly input: PlanInput
  readonly adopted: readonly AdoptedObject[]
  readonly heldPermissions: HeldPermissions | undefined
}

/** The admin permissions that a plan grants to adopted objects, and those that they have without it. */
export interface AdoptedPermissions {
  readonly adminGrants: readonly AdminGrant[]
  readonly heldPermissions: HeldPermissions
}

/** The roles and groups that each user, group, role or client grants, by its address. */
type GrantGraph = ReadonlyMap<string, readonly ReferenceTarget[]>

/**
 * Returns the admin permissions that a plan grants to adopted objects which neither a source nor Regent created. Relations that the plan
 * removes still count as live. Five statements at most; none if nothing is adopted, or nothing granted.
 */
export async function findAdminGrants(context: Context, adopting: AdoptingPlan): Promise<AdoptedPermissions> {
  const { adopted, input } = adopting
  const planned = listPlannedGrants(adopting)
  if (!planned.size) return { adminGrants: [], heldPermissions: new Map() }
  const live = await addStoredGrants(context, input, { live: listLiveGrants(adopted), planned })
  const toPermissions = ({ live: object }: AdoptedObject, ...graphs: GrantGraph[]) =>
    findPermissions(context.realm.name, { to: object.kind, key: object.key }, graphs)
  const heldPermissions = new Map<string, AdminPermissions>()
  const grants = adopted.flatMap((object) => {
    const id = `${object.live.kind} ${object.live.id}`
    heldPermissions.set(id, adopting.heldPermissions?.get(id) ?? toPermissions(object, live))
    const roles = listMissingRoles(heldPermissions.get(id)!, toPermissions(object, live, planned))
    return roles.length ? [{ ...object, roles }] : []
  })
  const entries = await findNamingEntries(
    context,
    grants.map(({ live: { kind, id } }) => ({ kind, object: id! })),
  )
  const adminGrants = grants
    .map((grant) => ({ ...grant, entry: entries.get(`${grant.live.kind} ${grant.live.id}`) }))
    .filter(({ entry }) => entry?.operation !== 'create' || !isTrusted(entry))
  return { adminGrants, heldPermissions }
}

/** Whether a source or Regent itself made a journal entry. */
const isTrusted = ({ actor }: NonNullable<AdminGrant['entry']>) => actor.source !== undefined || actor.kind === 'system'

/** Returns the grants that the plan adds. An adopted client grants what its new service account gets. Of other users, none count. */
function listPlannedGrants({ plan, input, adopted }: AdoptingPlan): Map<string, ReferenceTarget[]> {
  const grants = new Map<string, ReferenceTarget[]>()
  if (!adopted.length) return grants
  const adoptedAddresses = new Set(adopted.map(({ live }) => formatAddress(live.kind, live.key)))
  for (const action of plan.actions) {
    const { kind, key, operation } = action
    if (operation === 'delete' || !(kind === 'user' || kind === 'group' || kind === 'role')) continue
    const address = formatAddress(kind, key)
    const client = operation === 'create' && kind === 'user' ? findServiceAccountClient(input, address) : undefined
    const owner = client === undefined ? address : formatAddress('client', [client])
    if (kind === 'user' && !adoptedAddresses.has(owner)) continue
    const targets = action.changes.flatMap((change) =>
      isRelationChange(change) ? listGranted(action, change.path, change.add) : [],
    )
    if (targets.length) grants.set(owner, targets)
  }
  return grants
}

/** Returns the client id of the client whose service account is declared at an address. */
function findServiceAccountClient({ declared }: PlanInput, address: string): string | undefined {
  const fields = declared.get(address)?.fields
  if (!fields?.has('serviceAccountClientId')) return undefined
  const field = [...fields].find(([path]) => path === 'serviceAccountClientId')
  return field && String(field[1].value)
}

/** Returns the live grants of adopted users; those of roles and groups are in the store. */
function listLiveGrants(adopted: readonly AdoptedObject[]): Map<string, ReferenceTarget[]> {
  return new Map(
    adopted.map(({ live }) => [
      formatAddress(live.kind, live.key),
      live.kind === 'user'
        ? Object.entries(live.fields).flatMap(([path, value]) => listGranted(live, path, value))
        : [{ to: live.kind, key: live.key }],
    ]),
  )
}

/** Returns the roles and groups in the value of a field; none if the field grants nothing. */
function listGranted(object: Pick<AdoptedObject['live'], 'kind' | 'key'>, path: string, value: Json) {
  return resolveField(kinds[object.kind], path).field.grants ? listReferences(object, path, value) : []
}

/** Returns the live grants with those of all roles and groups that the plan or an adopted user names. */
async function addStoredGrants(
  context: Context,
  input: PlanInput,
  { live, planned }: Readonly<Record<'live' | 'planned', GrantGraph>>,
): Promise<GrantGraph> {
  const ids = new Map(input.live.map(({ kind, key, id }) => [formatAddress(kind, key), id]))
  const containers = new Map<string, RoleOrGroup>()
  for (const target of [...live.values(), ...planned.values()].flat()) {
    for (const { to: kind, key } of [target, ...listParentGroups(target)]) {
      const address = formatAddress(kind, key)
      if (kind === 'role' || kind === 'group') containers.set(address, { kind, key, id: ids.get(address) })
    }
  }
  // The plan refers to a role that it renames by the new name.
  const newKeys = new Map(input.live.flatMap(({ kind, key, id }) => (kind === 'role' && id ? [[id, key]] : [])))
  const graph = new Map([...live].map(([address, targets]) => [address, [...targets]]))
  for (const { container, id, key } of await findContainedRoles(context, [...containers.values()])) {
    const address = formatAddress(container.kind, container.key)
    if (!graph.has(address)) graph.set(address, [])
    graph.get(address)!.push({ to: 'role', key: newKeys.get(id) ?? key })
  }
  return graph
}

/** Returns the groups above a group, whose roles it also grants. */
function listParentGroups({ to, key }: ReferenceTarget): ReferenceTarget[] {
  const parent = to === 'group' ? getParentPath(key[0]!) : ''
  const target: ReferenceTarget = { to, key: [parent] }
  return parent ? [target, ...listParentGroups(target)] : []
}

/** Returns the admin permissions of an object: those of all roles that it reaches in the graphs. */
function findPermissions(realm: string, object: ReferenceTarget, graphs: readonly GrantGraph[]): AdminPermissions {
  const reached = new Map([[formatAddress(object.to, object.key), object]])
  // A map also iterates over the entries that are added meanwhile.
  for (const [address, target] of reached) {
    const targets = [...listParentGroups(target), ...graphs.flatMap((graph) => graph.get(address) ?? [])]
    for (const next of targets) reached.set(formatAddress(next.to, next.key), next)
  }
  const roles = [...reached.values()].filter(({ to }) => to === 'role')
  return toAdminPermissions(
    realm,
    roles.map(({ key }) => ({ client: key.length > 1 ? key[1]! : null, name: key.at(-1)! })),
  )
}
