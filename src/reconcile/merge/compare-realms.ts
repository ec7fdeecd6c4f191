// Compares two realms as documents declare them, such as two environments, or two exports.
import { findDifferences, getField, readKeys, subtractKeys } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { type Action, type FieldChange, maskAction } from '../model/action.ts'
import { toFlatFields } from '../model/declared-digest.ts'
import type { DesiredObject } from './desired-object.ts'
import type { DesiredRealm } from './desired-realm.ts'

/** A realm to compare. */
export interface ComparedRealm extends Pick<DesiredRealm, 'name' | 'objects'> {
  /**
   * Of a live realm, which has all objects and fields: what a document would have to declare, without what is created with each realm.
   * Absent: the realm is that of documents, and what they do not declare is unmanaged.
   */
  readonly declarable?: Pick<DesiredRealm, 'objects'> | undefined
}

/**
 * Returns the changes from one realm to another. A field that a document does not declare is no difference to a live realm, but to another
 * document. Users are compared between documents only.
 */
export function compareRealms(from: ComparedRealm, to: ComparedRealm): Action[] {
  const hasUsers = !from.declarable && !to.declarable
  const isMixed = !from.declarable !== !to.declarable
  const select = ({ objects, declarable }: ComparedRealm) => ({
    all: indexObjects(objects, hasUsers),
    alone: indexObjects(isMixed && declarable ? declarable.objects : objects, hasUsers),
  })
  const [before, after] = [select(from), select(to)]
  const created = [...after.alone].filter(([address, { isReference }]) => !before.all.has(address) && !isReference)
  const deleted = [...before.alone].filter(([address, { isReference }]) => !after.all.has(address) && !isReference)
  const updated = [...after.all].flatMap(([address, object]): Action[] => {
    const previous = before.all.get(address)
    if (!previous) return []
    const changes = listChanges(previous, object, {
      comparesRemoved: !(isMixed && from.declarable),
      comparesAdded: !(isMixed && to.declarable),
    })
    return changes.length ? [toAction(object, to, { operation: 'update', changes })] : []
  })
  return [
    ...updated,
    ...created.map(([, object]) => {
      const changes = listChanges(undefined, object, { comparesRemoved: false, comparesAdded: true })
      return toAction(object, to, { operation: 'create', changes })
    }),
    ...deleted.map(([, object]) => toAction(object, from, { operation: 'delete', changes: [] })),
  ]
}

/** Returns the action of an object, which is of this realm. An export has no lines. */
function toAction(
  { kind, key, origin }: DesiredObject,
  { declarable }: ComparedRealm,
  { operation, changes }: Pick<Action, 'operation' | 'changes'>,
): Action {
  const hasEncryptedValues = changes.some((change) => 'encrypted' in change)
  const action = { operation, kind, key, ...(hasEncryptedValues && { hasEncryptedValues: true as const }) }
  if (!declarable) return maskAction({ ...action, changes, position: origin.position })
  return maskAction({ ...action, changes: changes.map(({ position: _, ...change }) => change) })
}

/** Returns objects by address. The realm itself has one without its name, which may differ. */
function indexObjects(
  objects: ReadonlyMap<string, DesiredObject>,
  hasUsers: boolean,
): ReadonlyMap<string, DesiredObject> {
  return new Map(
    [...objects.values()]
      .filter(({ kind }) => kind !== 'user' || hasUsers)
      .map((object) => [formatAddress(object.kind, object.kind === 'realm' ? [] : object.key), object]),
  )
}

/** Lists the changes of fields. `comparesRemoved` and `comparesAdded`: those that only the first or the second object has, too. */
function listChanges(
  before: DesiredObject | undefined,
  after: DesiredObject,
  { comparesRemoved, comparesAdded }: { readonly comparesRemoved: boolean; readonly comparesAdded: boolean },
): FieldChange[] {
  const kind = kinds[after.kind]
  const [from, to] = [before ? toFlatFields(before) : {}, toFlatFields(after)]
  const masked = new Set([...(before?.masked.keys() ?? []), ...after.masked.keys()])
  const paths = [...new Set([...Object.keys(to), ...Object.keys(from)])].filter((path) => {
    if (path === kind.naturalKey || masked.has(path)) return false
    if (path in from && path in to) return true
    return path in from ? comparesRemoved : comparesAdded
  })
  const target = Object.fromEntries(paths.map((path) => [path, to[path] ?? null]))
  return findDifferences(kind, from, target).flatMap((difference): FieldChange[] => {
    const { path } = difference
    const position = after.fields.get(path)?.origin.locate(path)
    const cause = { path, reason: 'declared' as const, ...(position && { position }) }
    const encrypted = after.encrypted?.get(path) ?? before?.encrypted?.get(path)
    if (!getField(kind, path).relation)
      return [{ ...difference, ...cause, ...(encrypted !== undefined && { encrypted }) }]
    const [removed, added] = [readKeys(difference.from), readKeys(difference.to)]
    const [add, remove] = [subtractKeys(added, removed), subtractKeys(removed, added)]
    return add.length || remove.length ? [{ ...cause, add, remove }] : []
  })
}
