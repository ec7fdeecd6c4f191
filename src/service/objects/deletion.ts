// The deletion of objects with their children. Other objects lose the references to them. All of it is journaled.
import { type FlatFields, readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, type Json } from '../../kinds/json.ts'
import { type KindName, referenceFields, relationFields } from '../../kinds/kind.ts'
import { toTargetKey } from '../../kinds/relations.ts'
import { deleteObjects, selectKindsOfChildren, updateVersions } from '../../store/objects.ts'
import { type ReferringFields, selectReferrers } from '../../store/relations.ts'
import type { WriteContext } from '../context/context.ts'
import { digestSecrets } from '../context/secrets.ts'
import { sendWrite } from '../context/send-write.ts'
import { recordEntry } from '../journal/journal.ts'
import { type LiveObject, listObjects } from './live-objects.ts'
import { checkPrivilegesOfDeleted } from './privilege-checks.ts'

/** Deletes objects and their children, and journals the objects that lose a reference. Statements: some per kind of children. */
export async function deleteObjectsWithDependents(
  context: WriteContext,
  kind: KindName,
  objects: readonly LiveObject[],
): Promise<void> {
  if (!objects.length) return
  await checkPrivilegesOfDeleted(context, kinds[kind], objects)
  await deleteChildren(context, kind, objects)
  await recordReferrers(context, kind, objects)
  const ids = objects.map(({ id }) => id)
  await sendWrite(context, deleteObjects(context.tx, context.realm.number, { kind, ids }))
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
  const filter = { parents: { kind: parentKind, ids: parents.map(({ id }) => id) } }
  const possible = Object.values(kinds)
    .filter((kind) => kind.parents.includes(parentKind))
    .map(({ name }) => name)
  if (!possible.length) return
  for (const kind of await selectKindsOfChildren(context.tx, context.realm.number, { children: possible, ...filter }))
    await deleteObjectsWithDependents(context, kind, await listObjects(context, kind, filter))
}

/**
 * Journals the objects whose references or relations name the given ones, which are about to be deleted or renamed. One statement, and
 * two per kind of these objects.
 */
export async function recordReferrers(
  context: WriteContext,
  targetKind: KindName,
  targets: readonly LiveObject[],
): Promise<void> {
  const { tx, realm, version } = context
  const ids = targets.map(({ id }) => id)
  const targetKeys = new Set(targets.map(({ key }) => JSON.stringify(key)))
  const referring = listReferringFields(targetKind)
  const referrers = await selectReferrers(tx, realm.number, { referring, targets: ids })
  for (const { kind, fields } of referring) {
    const owners = referrers.filter((referrer) => referrer.kind === kind).map(({ id }) => id)
    const remaining = kind === targetKind ? owners.filter((id) => !ids.includes(id)) : owners
    if (!remaining.length) continue
    await updateVersions(tx, realm.number, { kind, version, ids: remaining })
    for (const owner of await listObjects(context, kind, { ids: remaining }))
      recordLostReferences(context, owner, { fields, targetKeys })
  }
}

/** Returns the fields that may refer to objects of a kind. */
export function listReferringFields(target: KindName): ReferringFields[] {
  const referring = Object.values(kinds).map((kind) => ({
    kind: kind.name,
    fields: [...relationFields(kind), ...referenceFields(kind)]
      .filter(([, { refersTo }]) => refersTo === target)
      .map(([name]) => name),
  }))
  return referring.filter(({ fields }) => fields.length)
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
