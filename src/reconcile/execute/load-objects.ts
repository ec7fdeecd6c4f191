// Loads the live objects of a plan, and checks its preconditions.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { findParent, formatAddress } from '../../kinds/tree.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { writers } from '../../service/kinds/index.ts'
import { getVersions, type LiveObject } from '../../service/objects/live-objects.ts'
import type { RealmPlan } from '../model/action.ts'
import type { ObjectDeclaration } from '../model/plan-input.ts'
import { findFormerKey } from '../model/renames.ts'

/** A declared object, as far as loading needs it. */
type DeclaredKey = Pick<ObjectDeclaration, 'kind' | 'key' | 'renamedFrom'>

/**
 * Loads the live objects of a plan's actions, by the address of the action. Throws `stale` if a precondition fails. At most two
 * statements per kind.
 */
export async function loadObjects(
  context: WriteContext,
  plan: RealmPlan,
  declared: ReadonlyMap<string, DeclaredKey>,
): Promise<Map<string, LiveObject>> {
  const live = new Map<string, LiveObject>()
  const declaredByKind = Map.groupBy(plan.creates ? declared.values() : [], ({ kind }) => kind)
  for (const kind of creationOrder) {
    const objects = await loadObjectsOfKind(context, kind, { plan, declared: declaredByKind.get(kind) ?? [] })
    for (const object of objects) live.set(formatAddress(kind, object.key), object)
    for (const declaration of declaredByKind.get(kind) ?? []) {
      const object = listPossibleKeys(declaration).flatMap((key) => live.get(formatAddress(kind, key)) ?? [])[0]
      if (object) live.set(formatAddress(kind, declaration.key), object)
    }
    await requireUnchanged(context, plan, { kind, objects })
  }
  // A plan refers to objects by id. If an object was renamed, its action still has the former key.
  const byId = new Map([...live.values()].map((object) => [`${object.kind} ${object.id}`, object]))
  for (const { operation, kind, key, id } of plan.actions) {
    const object = byId.get(`${kind} ${id}`)
    if (object && operation !== 'create') live.set(formatAddress(kind, key), object)
  }
  return live
}

/** Loads the objects to change or delete, the parents of objects to create, and built-in objects of a new realm. */
async function loadObjectsOfKind(
  context: WriteContext,
  kind: KindName,
  { plan, declared }: { readonly plan: RealmPlan; readonly declared: readonly DeclaredKey[] },
): Promise<LiveObject[]> {
  const ids = plan.actions.flatMap((action) =>
    action.kind === kind && action.operation !== 'create' ? (action.id ?? []) : [],
  )
  const parentKeys = plan.actions.flatMap(({ operation, key }) => {
    const parent = operation === 'create' ? findParent(key) : undefined
    return parent?.kind === kind ? [parent.key] : []
  })
  // Built-in objects of a realm that was just created are known by their keys only.
  const builtInKeys = declared.flatMap(listPossibleKeys).filter((key) => isBuiltIn(plan.realm, kind, key))
  const isNeeded = ids.length + builtInKeys.length + parentKeys.length > 0
  return isNeeded ? writers[kind].list(context, { ids, keys: [...builtInKeys, ...parentKeys] }) : []
}

/** Throws `stale` if an object of the plan's preconditions has changed. One statement, for objects that are not loaded yet. */
async function requireUnchanged(
  context: WriteContext,
  plan: RealmPlan,
  { kind, objects }: { readonly kind: KindName; readonly objects: readonly LiveObject[] },
): Promise<void> {
  const preconditions = plan.preconditions.filter((precondition) => precondition.kind === kind)
  if (!preconditions.length) return
  const loaded = new Map(objects.map(({ id, version, key }) => [id, { version, key }]))
  const ids = preconditions.map(({ id }) => id).filter((id) => !loaded.has(id))
  const current = new Map([...loaded, ...(ids.length ? await getVersions(context, kind, ids) : [])])
  const changed = preconditions.find(({ id, version }) => current.get(id)?.version !== version)
  if (!changed) return
  const name = current.get(changed.id)?.key.at(-1) ?? changed.id
  throw failure('stale', `${kinds[kind].title} ${name} has changed since the plan was made`)
}

/** Returns the keys that a built-in object of a new realm may have: a document may declare it under a new name. */
function listPossibleKeys(declaration: DeclaredKey): Key[] {
  const former = findFormerKey(declaration)
  return former?.length ? [declaration.key, former] : [declaration.key]
}
