// Observes a realm: reads the live state that matters for its plan, in a constant number of statements.
import { adminPermissionsObjects, builtInObjects } from '../../kinds/built-in/index.ts'
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { findClientTypes } from '../../service/clients/client-types.ts'
import type { Context } from '../../service/context/context.ts'
import { getDriftPolicy } from '../../service/journal/drift-policy.ts'
import { listLatestEntries } from '../../service/journal/journal.ts'
import { findDefaultRoleName } from '../../service/users/default-role.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import { blame } from '../model/attribution.ts'
import { authoritativeRelationsOfNewRealm, getDefaultRoleOfNewRealm } from '../model/default-role.ts'
import type { LiveState, ManagedObject, ObservedRealm, PlanInput } from '../model/plan-input.ts'
import { collectKeys, type KeysByKind, readCandidateKeys, readLiveObjects } from './live-objects.ts'
import { type DeclaredPart, findUnchangedObjects, type Inventory, readInventory } from './managed-objects.ts'
import { findUndeclaredObjects, type UndeclaredObjects } from './undeclared-objects.ts'

/** Observes a realm. `desired`: the merged declarations of all parts. `context`: absent if the realm does not exist yet. */
export async function observe(
  context: Context | undefined,
  parts: readonly DeclaredPart[],
  desired: DesiredRealm,
): Promise<ObservedRealm> {
  return context ? observeExistingRealm(context, parts, desired) : observeNewRealm(parts, desired)
}

async function observeExistingRealm(
  context: Context,
  parts: readonly DeclaredPart[],
  desired: DesiredRealm,
): Promise<ObservedRealm> {
  const declared = toDeclaredInput(parts, desired)
  const hasNewSettings = parts.some((part) => part.hasNewSettings)
  const inventory = await readInventory(context, parts)
  // With other settings, an unchanged declaration may have another effect.
  const unread = hasNewSettings ? new Map<string, ManagedObject>() : findUnchangedObjects(desired, inventory.managed)
  const isUnchanged = (id: string) => desired.objects.has(id) && !inventory.changed.has(id)
  const keys = collectKeys(desired, inventory.managed, (id) => isUnchanged(id) || unread.has(id))
  const live = await readLiveStates(context, { keys, managed: inventory.managed, unread })
  const undeclared = await findUndeclaredObjects(context, {
    parts,
    desired,
    builtIn: declared.builtIn,
    inventory: inventory.all,
  })
  const entries = await listLatestEntries(
    context,
    inventory.managed.filter(({ marked, drifted, accepted }) => marked || (hasNewSettings && (drifted || accepted))),
  )
  const existing = new Set([...desired.objects.keys(), ...live.map(({ kind, key }) => formatAddress(kind, key))])
  return {
    ...declared,
    currentName: context.realm.name,
    exists: true,
    live: addUndeclared(live, undeclared.objects),
    candidateKeys: await readCandidateKeys(context, keys, existing),
    isUnchanged,
    managed: inventory.managed,
    otherSources: inventory.otherSources,
    tenants: inventory.tenants,
    isAuthoritative: createAuthoritativeCheck(parts),
    clientTypes: await findClientTypes(
      context,
      live.flatMap(({ kind, fields }) => (kind === 'client' ? [fields] : [])),
    ),
    ...(keys.has('user') && { defaultRole: await findDefaultRoleName(context) }),
    hasNewSettings,
    markedRows: countMarkedRows(parts, inventory, undeclared),
    rows: inventory.rows,
    changedBy: blame(entries),
  }
}

/** Observes a realm that does not exist yet: its plan shows the changes of its built-in objects. */
function observeNewRealm(parts: readonly DeclaredPart[], desired: DesiredRealm): ObservedRealm {
  return {
    ...toDeclaredInput(parts, desired),
    currentName: desired.name,
    exists: false,
    live: builtInObjects(desired.name).map(({ kind, key, representation }) => ({
      kind,
      key,
      fields: flatten(kinds[kind], representation),
    })),
    candidateKeys: new Map(),
    isUnchanged: () => false,
    managed: [],
    otherSources: [],
    tenants: new Set(),
    isAuthoritative: authoritativeRelationsOfNewRealm(desired),
    defaultRole: getDefaultRoleOfNewRealm(desired),
    hasNewSettings: false,
    markedRows: new Map(),
    rows: [],
    changedBy: () => undefined,
  }
}

/** Returns the input that needs no store: the declarations, and their settings. */
function toDeclaredInput(parts: readonly DeclaredPart[], desired: DesiredRealm) {
  const builtIn = [...builtInObjects(desired.name), ...adminPermissionsObjects()]
  return {
    realm: desired.name,
    declared: desired.objects,
    warnings: desired.warnings,
    realmReference: desired.realmReference,
    builtIn: new Map(
      builtIn.map(({ kind, key, representation }) => [formatAddress(kind, key), flatten(kinds[kind], representation)]),
    ),
    getDriftPolicy: createDriftPolicyLookup(parts),
  }
}

/** Returns the policies of the sources that declare a drifted field or object. */
function createDriftPolicyLookup(parts: readonly DeclaredPart[]): PlanInput['getDriftPolicy'] {
  return ({ kind, key, path, by }) => {
    const declaring = parts.filter(({ desired }) => {
      const object = desired.objects.get(formatAddress(kind, key))
      return object && (path === undefined || object.fields.has(path))
    })
    return getDriftPolicy(
      declaring.map(({ settings }) => settings),
      { kind, path, by },
    )
  }
}

/** Returns whether a source with `prune: all` declares a relation. Relations of users are never authoritative. */
function createAuthoritativeCheck(parts: readonly DeclaredPart[]): PlanInput['isAuthoritative'] {
  return (kind, key, path) =>
    !kinds[kind].isUserData &&
    parts.some(
      ({ settings, desired }) =>
        settings.prune === 'all' && desired.objects.get(formatAddress(kind, key))?.fields.has(path) === true,
    )
}

/** Returns the live states of a realm; those of unread objects are taken from the inventory. */
async function readLiveStates(
  context: Context,
  {
    keys,
    managed,
    unread,
  }: { keys: KeysByKind; managed: readonly ManagedObject[]; unread: ReadonlyMap<string, ManagedObject> },
): Promise<LiveState[]> {
  const read = await readLiveObjects(
    context,
    keys,
    managed.filter(({ kind, key }) => !unread.has(formatAddress(kind, key))),
  )
  const fromInventory = [...unread.values()].map(
    ({ kind, key, object, fields }): LiveState => ({ kind, key, id: object, fields }),
  )
  return [...fromInventory, ...read]
}

/** Adds undeclared objects, which may have been read before because a declaration refers to them. */
function addUndeclared(live: readonly LiveState[], undeclared: readonly LiveState[]): readonly LiveState[] {
  if (!undeclared.length) return live
  const ids = new Set(undeclared.map(({ kind, id }) => `${kind} ${id}`))
  return [...live.filter(({ kind, id }) => !ids.has(`${kind} ${id}`)), ...undeclared]
}

/** Returns the number of marked inventory rows by source; a marked authoritative list counts as one. */
function countMarkedRows(
  parts: readonly DeclaredPart[],
  { rows }: Inventory,
  { marked }: UndeclaredObjects,
): PlanInput['markedRows'] {
  const bySource = Map.groupBy(
    rows.filter((row) => row.marked),
    ({ source }) => source,
  )
  return new Map(parts.map(({ source }) => [source, (bySource.get(source)?.length ?? 0) + Number(marked.has(source))]))
}
