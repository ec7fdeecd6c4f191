// What every kind does alike: create, update, delete, always lists; one object is a list of one. What is special about a
// kind is in the file of its name.
import { randomUUID } from 'node:crypto'
import { assemble, creation, type FlatFields, flatten, foldTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { type Key, type Kind, type KindName, relationFields } from '../../kinds/kind.ts'
import { targetKey } from '../../kinds/relations.ts'
import type { EditorRecord } from '../../store/client-editors.ts'
import { insertObjects, updateObjects } from '../../store/objects.ts'
import { deleteRelation, insertRelation, type RelationElement } from '../../store/relations.ts'
import type { WriteContext } from '../context/context.ts'
import { sealed } from '../context/secrets.ts'
import { journal } from '../journal/journal.ts'
import { afterwards, type Change, changeOf, referencesThen } from './changes.ts'
import { type Added, demandOfChanges, demandOfNew } from './conferring.ts'
import { refuseAppliedIds, refuseLong, unlessTaken } from './conflicts.ts'
import { deleteAll, journalReferrers } from './deletion.ts'
import { type LiveObject, listObjects } from './live.ts'
import { idsOf, type ReferenceIds, referenceIds, resolveReferences } from './references.ts'
import { elementsOf, relationElements, rowOf, targetIds } from './rows.ts'
import type { NewObject, Update, Writers } from './writers.ts'

/** The writers of a kind that nothing is special about. */
export const plain = (kind: KindName): Writers => ({
  list: (context, filter) => listObjects(context, kind, filter),
  create: (context, objects) => createObjects(context, kind, objects),
  update: (context, updates) => updateAll(context, kind, updates),
  delete: (context, objects) => deleteAll(context, kind, objects),
})

/** What an object says once it is changed, relations apart; secrets that stay are sealed. */
export function changed({ live, set }: Update): Representation {
  const kind = kinds[live.kind]
  return assemble(kind, { ...flatten(kind, live.representation), ...set })
}

/** What an object said before it was made. */
const NO_FIELDS: FlatFields = {}

/** Makes objects. Throws conflict where a natural key or an id is taken, invalid where a reference leads nowhere. */
export async function createObjects(
  context: WriteContext,
  name: KindName,
  objects: readonly NewObject[],
): Promise<LiveObject[]> {
  const kind = kinds[name]
  const prepared = objects.map(({ id, parent, representation }) => {
    const flat = sealed(context.vault, kind, creation(kind, foldTexts(kind, flatten(kind, representation))))
    const own = String(flat[kind.naturalKey])
    const key: Key = parent ? [parent.kind, ...parent.key, own] : [own]
    return { id: id ?? randomUUID(), parent, key, flat }
  })
  await refuseAppliedIds(
    context,
    kind,
    objects.flatMap(({ id }) => id ?? []),
  )
  for (const { id, flat } of prepared) refuseLong(kind, id, String(flat[kind.naturalKey]))
  const ids = await resolveReferences(
    context,
    kind,
    prepared,
    new Map(prepared.map(({ id, key }) => [JSON.stringify(key), id])),
  )
  const rows = prepared.map((one) => ({
    ...rowOf(kind, one.id, one.flat, referenceIds(kind, one.flat, ids)),
    ...(one.parent && { parent: one.parent }),
  }))
  await unlessTaken(kind, 'create', () =>
    insertObjects(context.tx, context.realm.number, { kind: name, version: context.version, rows }),
  )
  const added = relationElements(kind, prepared, ids)
  for (const { field, elements } of added)
    await insertRelation(context.tx, context.realm.number, { kind: name, field, elements })
  await demandOfNew(context, kind, prepared, added)
  for (const one of prepared) journal(context, 'create', name, one, NO_FIELDS)
  return prepared.map(({ id, key, parent, flat }) => ({
    kind: name,
    id,
    version: context.version,
    key,
    ...(parent && { parent }),
    representation: assemble(kind, flat),
    references: referenceIds(kind, flat, ids),
  }))
}

/**
 * Changes objects; those that already say so stay untouched. `editor`: who edits them, where they are clients. Gives them as they are
 * then. Throws as `createObjects` does.
 */
export async function updateAll(
  context: WriteContext,
  name: KindName,
  updates: readonly Update[],
  editor?: EditorRecord,
): Promise<LiveObject[]> {
  const kind = kinds[name]
  const changes = updates.map((update) => changeOf(context, kind, update))
  const touched = changes.filter((change) => change.touched)
  if (!touched.length) return changes.map(({ live }) => live)
  // What stays is known by id: its name may be another one by now.
  const ids = await resolveReferences(
    context,
    kind,
    touched.flatMap(({ live: { key }, set, relations }) => [
      { key, flat: set },
      ...relations.map(({ field, add }) => ({ key, flat: { [field]: add } })),
    ]),
  )
  const rows = touched.map((change) => rowOf(kind, change.live.id, change.flat, referencesThen(kind, change, ids)))
  const renamed = touched.filter(({ set }) => kind.naturalKey in set)
  for (const { live, set } of renamed) refuseLong(kind, live.id, String(set[kind.naturalKey]))
  if (renamed.length)
    await journalReferrers(
      context,
      name,
      renamed.map(({ live }) => live),
    )
  const { tx, realm, version } = context
  await unlessTaken(kind, 'update', () => updateObjects(tx, realm.number, { kind: name, version, rows, editor }))
  await demandOfChanges(context, kind, touched, await writeRelations(context, kind, touched, ids))
  for (const { live, before, after } of touched) journal(context, 'update', name, live, before, after)
  return changes.map((change) => (change.touched ? afterwards(context, kind, change, ids) : change.live))
}

/** Returns what relations have got, and what they have lost. */
async function writeRelations(
  context: WriteContext,
  kind: Kind,
  changes: readonly Change[],
  ids: ReferenceIds,
): Promise<{ added: Added; removed: Added }> {
  const added: { field: string; elements: RelationElement[] }[] = []
  const removed: typeof added = []
  for (const [name, field] of relationFields(kind)) {
    const moved = changes.flatMap(({ live, relations }) =>
      relations.filter((one) => one.field === name).map((one) => ({ ...one, live })),
    )
    const gone = await idsOf(
      context,
      field.refersTo!,
      moved.flatMap(({ live, remove }) => remove.map((key) => targetKey(field, live.key, key))),
    )
    const remove = moved.flatMap((one) => elementsOf(kind, name, one.live, one.remove, gone))
    const add = moved.flatMap((one) => elementsOf(kind, name, one.live, one.add, targetIds(kind, name, ids)))
    if (remove.length)
      await deleteRelation(context.tx, context.realm.number, { kind: kind.name, field: name, elements: remove })
    if (add.length)
      await insertRelation(context.tx, context.realm.number, { kind: kind.name, field: name, elements: add })
    added.push({ field: name, elements: add })
    removed.push({ field: name, elements: remove })
  }
  return { added, removed }
}
