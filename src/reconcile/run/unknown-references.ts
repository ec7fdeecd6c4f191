// Removes references to objects that a store may lack although the live realm has them, so that the rest can be planned.
import { adminClientObjects } from '../../kinds/built-in/index.ts'
import { readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { describeObject, findParent, formatAddress } from '../../kinds/tree.ts'
import type { DocumentWarning } from '../../realm-file/yaml/problem.ts'
import type { DesiredObject } from '../merge/desired-object.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { MergedRealm, RunInput } from '../merge/merge-sources.ts'
import type { DeclaredValue } from '../model/declared-field-map.ts'
import { listReferences, type ReferenceTarget } from '../model/references.ts'
import { observe } from '../observe/observe.ts'

/** Returns the realms of a run; the incomplete ones without references to objects that are neither declared nor in the store, with a note for each. */
export async function removeUnknownReferences(
  { service, caller, incompleteRealms }: RunInput,
  realms: readonly MergedRealm[],
): Promise<readonly MergedRealm[]> {
  if (!incompleteRealms?.size) return realms
  // Each new realm has a client in master.
  const created = realms.flatMap(({ desired }) => adminClientObjects(desired.name)).map(toAddress)
  const complete = async (realm: MergedRealm): Promise<MergedRealm> => {
    const { desired, parts } = realm
    if (!incompleteRealms.has(desired.name)) return realm
    const { live } = await service.readSnapshot(caller, desired.name, (context) => observe(context, parts, desired))
    return { ...realm, desired: removeReferences(desired, new Set([...live.map(toAddress), ...created])) }
  }
  const completed: MergedRealm[] = []
  for (const realm of realms) completed.push(await complete(realm))
  return completed
}

const toAddress = ({ kind, key }: Pick<DesiredObject, 'kind' | 'key'>): string => formatAddress(kind, key)

/** Returns a realm without what refers to unknown objects. `existing`: the addresses of the live objects. */
function removeReferences(desired: DesiredRealm, existing: ReadonlySet<string>): DesiredRealm {
  const objects = new Map(desired.objects)
  const warnings: DocumentWarning[] = []
  const isKnown = ({ to, key }: ReferenceTarget) =>
    [existing, objects].some((addresses) => addresses.has(formatAddress(to, key)))
  const note = (object: DesiredObject, { to, key }: ReferenceTarget, path?: string) => {
    // What is removed itself is noted there.
    if (!desired.objects.has(formatAddress(to, key))) warnings.push(noteUnknownTarget(object, { to, key, path }))
  }
  const removeUnknownObjects = (): boolean => {
    const { size } = objects
    for (const [address, object] of objects) {
      const parent = findParent(object.key)
      const isOrphan = parent !== undefined && !isKnown({ to: parent.kind, key: parent.key })
      const isUnknown = object.isReference && !existing.has(address)
      if (isOrphan || isUnknown) objects.delete(address)
      if (isUnknown) warnings.push(noteUnknownObject(object))
      else if (isOrphan) note(object, { to: parent.kind, key: parent.key })
    }
    return objects.size < size
  }
  while (removeUnknownObjects());
  for (const [address, object] of objects) {
    const changed = new Map<string, DeclaredValue | undefined>()
    for (const [path, declared] of object.fields) {
      const targets = listReferences(object, path, declared.value)
      const unknown = targets.filter((target) => !isKnown(target))
      if (!unknown.length) continue
      for (const target of unknown) note(object, target, path)
      const isRelation = resolveField(kinds[object.kind], path).field.relation
      const remaining = readKeys(declared.value).filter((_, index) => isKnown(targets[index]!))
      changed.set(path, isRelation ? { ...declared, value: remaining } : undefined)
    }
    if (changed.size) objects.set(address, { ...object, fields: object.fields.replace(changed) })
  }
  return { ...desired, objects, warnings: [...desired.warnings, ...warnings] }
}

/** An unknown object that a field refers to; without a path, the parent. */
interface UnknownTarget extends ReferenceTarget {
  readonly path: string | undefined
}

function noteUnknownTarget(
  { kind, key, origin }: DesiredObject,
  { to, key: target, path }: UnknownTarget,
): DocumentWarning {
  const reference = path === undefined ? describeObject(to, target) : `${path} refers to ${describeObject(to, target)}`
  const position = path === undefined ? origin.parentPosition : origin.locate(path, target)
  return { position, message: `${describeObject(kind, key)}: ${reference}${UNKNOWN}` }
}

function noteUnknownObject({ kind, key, origin }: DesiredObject): DocumentWarning {
  return { position: origin.position, message: `${describeObject(kind, key)}${UNKNOWN}` }
}

const UNKNOWN = ', which is not declared here. Pass --server to check whether the live realm has it.'
