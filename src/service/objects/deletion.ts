// The deletion of objects with their children. Other objects lose the references to them. All of it is journaled.
import { type FlatFields, readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, type Json } from '../../kinds/json.ts'
import { type KindName, referenceFields, relationFields } from '../../kinds/kind.ts'
import { toTargetKey } from '../../kinds/relations.ts'
import { deleteObjects, updateVersions } from '../../store/objects.ts'
import { selectReferrers } from '../../store/relations.ts'
import type { WriteContext } from '../context/context.ts'
import { digestSecrets } from '../context/secrets.ts'
import { recordEntry } from '../journal/journal.ts'
import { type LiveObject, listObjects } from './live-objects.ts'
import { checkPrivilegesOfDeleted } from './privilege-checks.ts'

/** Deletes objects and their children, and journals the objects that lose a reference. Statements: some per kind. */
export async function deleteObjectsWithDependents(
  context: WriteContext,
  kind: KindName,
  objects: readonly LiveObject[],
): Promise<void> {
  if (!objects.length) return
  await checkPrivilegesOfDeleted(context, kinds[kind], objects)
  await deleteChildren(context, kind, objects)
  await recordReferrers(context, kind, objects)
  await deleteObjects(context.tx, context.realm.number, { kind, ids: objects.map(({ id }) => id) })
  for (const object of objects) {
    const fields = digestSecrets(context.vault, kinds[kind], object.representation)
    recordEntry(context, { operation: 'delete', kind, object, fields })
  }
}

async function deleteChildren(
  context: WriteContext,
  parentKind: KindName,
  parents: readonly LiveObject[],
): Promise<void> {
  const ids = parents.map(({ id }) => id)
  for (const { name } of Object.values(kinds).filter((kind) => kind.parents.includes(parentKind))) {
    const children = await listObjects(context, name, { parents: { kind: parentKind, ids } })
    await deleteObjectsWithDependents(context, name, children)
  }
}

/**
 * Journals the objects whose references or relations name the given ones, which are about to be deleted or renamed.
 * Statements: some per kind.
 */
export async function recordReferrers(
  context: WriteContext,
  targetKind: KindName,
  targets: readonly LiveObject[],
): Promise<void> {
  const { tx, realm, version } = context
  const ids = targets.map(({ id }) => id)
  const targetKeys = new Set(targets.map(({ key }) => JSON.stringify(key)))
  for (const kind of Object.values(kinds)) {
    const fields = [...relationFields(kind), ...referenceFields(kind)]
      .filter(([, field]) => field.refersTo === targetKind)
      .map(([name]) => name)
    if (!fields.length) continue
    const owners = await selectReferrers(tx, realm.number, { kind: kind.name, fields, targets: ids })
    const remaining = kind.name === targetKind ? owners.filter((id) => !ids.includes(id)) : owners
    if (!remaining.length) continue
    await updateVersions(tx, realm.number, { kind: kind.name, version, ids: remaining })
    for (const owner of await listObjects(context, kind.name, { ids: remaining }))
      recordLostReferences(context, owner, { fields, targetKeys })
  }
}

/** Fields of a kind, and the keys to which they may refer, as JSON. */
interface Targets {
  readonly fields: readonly string[]
  readonly targetKeys: ReadonlySet<string>
}

function recordLostReferences(context: WriteContext, owner: LiveObject, { fields, targetKeys }: Targets): void {
  const kind = kinds[owner.kind]
  const flat = digestSecrets(context.vault, kind, owner.representation)
  const before = Object.fromEntries(
    Object.entries(flat).filter(
      ([path, value]) => fields.includes(resolveField(kind, path).name) && refersTo({ owner, path, value }, targetKeys),
    ),
  )
  const newValues = removeReferences(owner, before, targetKeys)
  recordEntry(context, { operation: 'update', kind: kind.name, object: owner, fields: before, newValues })
}

/** Whether the value of a reference or relation names one of the targets. */
function refersTo(
  { owner, path, value }: { readonly owner: LiveObject; readonly path: string; readonly value: Json },
  targetKeys: ReadonlySet<string>,
): boolean {
  if (!isList(value)) return targetKeys.has(JSON.stringify([value]))
  const field = kinds[owner.kind].fields[path]!
  return readKeys(value).some((key) => targetKeys.has(JSON.stringify(toTargetKey(field, owner.key, key))))
}

/** Returns the fields without the references to the targets. */
function removeReferences(
  { kind, key: owner }: LiveObject,
  fields: FlatFields,
  targetKeys: ReadonlySet<string>,
): FlatFields {
  return Object.fromEntries(
    Object.entries(fields).map(([path, value]): [string, Json] => {
      const { field } = resolveField(kinds[kind], path)
      if (!field.relation) return [path, null]
      const remaining = readKeys(value).filter((key) => !targetKeys.has(JSON.stringify(toTargetKey(field, owner, key))))
      return [path, remaining]
    }),
  )
}
