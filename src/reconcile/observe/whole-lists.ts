// What a source that prunes all deletes: live objects that are in none of its stated lists, and would have to be.
import { ADMIN_PERMISSIONS } from '../../kinds/admin-permissions.ts'
import { isAdminClient } from '../../kinds/built-in/index.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { creationOrder } from '../../kinds/order.ts'
import { address } from '../../kinds/tree.ts'
import { isIn } from '../../realm-file/lists.ts'
import { UMA_PROTECTION } from '../../service/clients/resource-servers.ts'
import type { Context } from '../../service/context/context.ts'
import { digested } from '../../service/context/secrets.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import { marksOfLists } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { defaultRoleName } from '../../service/users/default-role.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { LiveState, PlanInput } from '../model/plan-input.ts'
import type { Stating } from './owned.ts'

/** What is live besides what is stated, in lists that are whole. */
export interface Beyond {
  readonly objects: readonly LiveState[]
  /** Sources for whose lists somebody made something since they were applied. */
  readonly marked: ReadonlySet<string>
}

/**
 * Finds it. What any source owns is theirs, and what Regent keeps itself stays. A statement per kind that has such lists, and one for
 * the marks; none where no source prunes all, nor did.
 */
export async function beyondLists(
  context: Context,
  parts: readonly Stating[],
  desired: DesiredRealm,
  rows: readonly InventoryRow[],
  builtIn: PlanInput['builtIn'],
): Promise<Beyond> {
  const pruning = parts.filter(({ settings }) => settings.prune === 'all')
  if (!pruning.length && !parts.some(({ resettled }) => resettled)) return { objects: [], marked: new Set() }
  const marked = new Set(await marksOfLists(context))
  const lists = Map.groupBy(
    pruning.flatMap((part) => part.desired.lists),
    ({ kind }) => kind,
  )
  const owned = new Set(rows.map(({ kind, object }) => `${kind} ${object}`))
  const isKept = await keptByRegent(context, lists.has('role'))
  const objects: LiveState[] = []
  for (const kind of creationOrder.filter((one) => lists.has(one))) {
    const found = (await writers[kind].list(context, {})).filter(
      ({ id, key }) =>
        lists.get(kind)!.some((list) => isIn(list, key)) &&
        !desired.objects.has(address(kind, key)) &&
        !builtIn.has(address(kind, key)) &&
        !owned.has(`${kind} ${id}`) &&
        !isKept(kind, key),
    )
    objects.push(...found.map((one) => stateOf(context, one)))
  }
  return { objects, marked }
}

/** What Regent keeps itself and a new realm does not have: what administers other realms, what comes with a setting, and the default role. */
async function keptByRegent(context: Context, withRoles: boolean): Promise<(kind: KindName, key: Key) => boolean> {
  const defaultRole = withRoles ? await defaultRoleName(context) : undefined
  return (kind, key) => {
    const client = kind === 'client' ? key[0]! : key[0] === 'client' ? key[1]! : undefined
    if (client !== undefined)
      return client === ADMIN_PERMISSIONS || isAdminClient(context.realm.name, client) || key.at(-1) === UMA_PROTECTION
    return kind === 'role' && key[0] === defaultRole
  }
}

function stateOf({ vault }: Context, { kind, key, id, version, representation }: LiveObject): LiveState {
  return { kind, key, id, version, undeclared: true, fields: digested(vault, kinds[kind], representation) }
}
