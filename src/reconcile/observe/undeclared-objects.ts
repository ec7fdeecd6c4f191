// Live objects that are missing from an authoritative list: a source with `prune: all` deletes them.
import { ADMIN_PERMISSIONS } from '../../kinds/admin-permissions.ts'
import { isAdminClient } from '../../kinds/built-in/index.ts'
import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { UMA_PROTECTION } from '../../kinds/role.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { isInList } from '../../realm-file/declared-lists.ts'
import type { Context } from '../../service/context/context.ts'
import { digestSecrets } from '../../service/context/secrets.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import { listSourcesWithUndeclaredObjects } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { findDefaultRoleName } from '../../service/users/default-role.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { LiveState, PlanInput } from '../model/plan-input.ts'
import type { DeclaredPart } from './managed-objects.ts'

/** The live objects that are missing from authoritative lists. */
export interface UndeclaredObjects {
  readonly objects: readonly LiveState[]
  /** The names of sources with authoritative lists to which others have added objects since the last apply. */
  readonly marked: ReadonlySet<string>
}

/** The declarations of a realm, and the objects that are never undeclared. */
interface ListInput {
  readonly parts: readonly DeclaredPart[]
  readonly desired: DesiredRealm
  readonly builtIn: PlanInput['builtIn']
  /** The inventory of all sources: a managed object stays. */
  readonly inventory: readonly InventoryRow[]
}

/**
 * Finds the live objects that are missing from authoritative lists. Objects that any source or Regent itself manages are left out.
 * One statement per kind with such lists and one for the marks; none if no source prunes all, and none did before.
 */
export async function findUndeclaredObjects(
  context: Context,
  { parts, desired, builtIn, inventory }: ListInput,
): Promise<UndeclaredObjects> {
  const pruning = parts.filter(({ settings }) => settings.prune === 'all')
  if (!pruning.length && !parts.some(({ hasNewSettings }) => hasNewSettings)) return { objects: [], marked: new Set() }
  const marked = new Set(await listSourcesWithUndeclaredObjects(context))
  const lists = Map.groupBy(
    pruning.flatMap((part) => part.desired.lists),
    ({ kind }) => kind,
  )
  const managed = new Set(inventory.map(({ kind, object }) => `${kind} ${object}`))
  const isReserved = await createReservedCheck(context, lists.has('role'))
  const objects: LiveState[] = []
  for (const kind of creationOrder.filter((name) => lists.has(name))) {
    const undeclared = (await writers[kind].list(context, {})).filter(
      ({ id, key }) =>
        lists.get(kind)!.some((list) => isInList(list, key)) &&
        !desired.objects.has(formatAddress(kind, key)) &&
        !builtIn.has(formatAddress(kind, key)) &&
        !managed.has(`${kind} ${id}`) &&
        !isReserved(kind, key),
    )
    objects.push(...undeclared.map((object) => toUndeclaredState(context, object)))
  }
  return { objects, marked }
}

/**
 * Returns whether Regent manages an object itself although a new realm has none: admin clients of other realms, objects that a
 * setting creates, the default role.
 */
async function createReservedCheck(
  context: Context,
  withRoles: boolean,
): Promise<(kind: KindName, key: Key) => boolean> {
  const defaultRole = withRoles ? await findDefaultRoleName(context) : undefined
  return (kind, key) => {
    const client = kind === 'client' ? key[0]! : key[0] === 'client' ? key[1]! : undefined
    if (client !== undefined)
      return client === ADMIN_PERMISSIONS || isAdminClient(context.realm.name, client) || key.at(-1) === UMA_PROTECTION
    return kind === 'role' && key[0] === defaultRole
  }
}

function toUndeclaredState({ vault }: Context, { kind, key, id, version, representation }: LiveObject): LiveState {
  return { kind, key, id, version, undeclared: true, fields: digestSecrets(vault, kinds[kind], representation) }
}
