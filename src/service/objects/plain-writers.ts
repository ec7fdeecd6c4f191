// Plain writers: what all kinds have in common. What is special about a kind is in the file of the kind.
import { randomUUID } from 'node:crypto'
import { addDefaults, type FlatFields, flatten, lowerCaseTexts, unflatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { type Key, type Kind, type KindName, relationFields } from '../../kinds/kind.ts'
import { toTargetKey } from '../../kinds/relations.ts'
import type { ClientEditor } from '../../store/client-editors.ts'
import { insertObjects, updateObjects } from '../../store/objects.ts'
import { deleteRelation, insertRelation } from '../../store/relations.ts'
import type { WriteContext } from '../context/context.ts'
import { sealSecrets } from '../context/secrets.ts'
import { sendWrite } from '../context/send-write.ts'
import { recordEntry } from '../journal/journal.ts'
import { checkNameLength, checkRequestedIds, withConflictErrors } from './conflicts.ts'
import { deleteObjectsWithDependents, recordReferrers } from './deletion.ts'
import { type LiveObject, listObjects } from './live-objects.ts'
import {
  getTargetIds,
  listRelationElements,
  type RelationElements,
  toObjectRow,
  toRelationElements,
} from './object-rows.ts'
import { checkPrivilegesOfCreated, checkPrivilegesOfUpdates } from './privilege-checks.ts'
import { getIdsByKey, type ReferenceIds, resolveReferences, toReferenceIds } from './references.ts'
import { type ResolvedUpdate, resolveUpdate, toUpdatedObject, toUpdatedReferences } from './resolved-updates.ts'
import type { NewObject, ObjectUpdate, Writers } from './writers.ts'

/** Creates the writers of a kind without special behaviour. */
export const createPlainWriters = (kind: KindName): Writers => ({
  list: (context, filter) => listObjects(context, kind, filter),
  create: (context, objects) => createObjects(context, kind, objects),
  update: (context, updates) => updateLiveObjects(context, kind, updates),
  delete: (context, objects) => deleteObjectsWithDependents(context, kind, objects),
})

/** Returns the representation after an update, without its changes of relations. Unchanged secrets are sealed. */
export function toUpdatedRepresentation({ live, set }: ObjectUpdate): Representation {
  const kind = kinds[live.kind]
  return unflatten(kind, { ...flatten(kind, live.representation), ...set })
}

/** An object to insert: its id, its key, and its fields with defaults, secrets sealed. */
interface PreparedObject {
  readonly id: string
  readonly key: Key
  readonly parent: NewObject['parent']
  readonly fields: FlatFields
}

/** Creates objects. Throws conflict if a natural key or an id is taken, invalid if a referenced object does not exist. */
export async function createObjects(
  context: WriteContext,
  name: KindName,
  newObjects: readonly NewObject[],
): Promise<LiveObject[]> {
  const { tx, realm, version } = context
  const kind = kinds[name]
  const objects = newObjects.map((object) => prepareObject(context, kind, object))
  await checkRequestedIds(
    context,
    kind,
    newObjects.flatMap(({ id }) => id ?? []),
  )
  for (const { id, fields } of objects) checkNameLength(kind, id, String(fields[kind.naturalKey]))
  const newIds = new Map(objects.map(({ id, key }) => [JSON.stringify(key), id]))
  const ids = await resolveReferences(context, kind, { objects, newIds })
  const rows = objects.map(({ id, fields, parent }) => ({
    ...toObjectRow(kind, { id, fields, references: toReferenceIds(kind, fields, ids) }),
    ...(parent && { parent }),
  }))
  const write = createWrite(context, rows)
  await write(withConflictErrors(kind, 'create', () => insertObjects(tx, realm.number, { kind: name, version, rows })))
  const relations = listRelationElements(kind, objects, ids)
  for (const { field, elements } of relations)
    await write(insertRelation(tx, realm.number, { kind: name, field, elements }))
  await checkPrivilegesOfCreated(context, kind, { objects, relations })
  for (const object of objects)
    recordEntry(context, { operation: 'create', kind: name, object, fields: {}, newValues: object.fields })
  return objects.map(({ id, key, parent, fields }) => ({
    kind: name,
    id,
    version,
    key,
    ...(parent && { parent }),
    representation: unflatten(kind, fields),
    references: toReferenceIds(kind, fields, ids),
  }))
}

/** Returns a function that awaits a statement about many objects, whose parameters are large, and only sends it otherwise. */
function createWrite(context: WriteContext, objects: readonly unknown[]): (statement: Promise<void>) => Promise<void> {
  return (statement) => (objects.length === 1 ? sendWrite(context, statement) : statement)
}

function prepareObject({ vault }: WriteContext, kind: Kind, { id, parent, representation }: NewObject): PreparedObject {
  const fields = sealSecrets(vault, kind, addDefaults(kind, lowerCaseTexts(kind, flatten(kind, representation))))
  const name = String(fields[kind.naturalKey])
  const key: Key = parent ? [parent.kind, ...parent.key, name] : [name]
  return { id: id ?? randomUUID(), parent, key, fields }
}

/**
 * Updates objects, except those that would not change. Returns all of them after the update. Throws conflict if a natural key is
 * taken, invalid if a referenced object does not exist.
 */
export function updateLiveObjects(
  context: WriteContext,
  name: KindName,
  updates: readonly ObjectUpdate[],
): Promise<LiveObject[]> {
  return writeUpdates(context, name, { updates })
}

/** Updates clients as `updateLiveObjects` does, and records their editor. */
export function updateClientObjects(
  context: WriteContext,
  updates: readonly ObjectUpdate[],
  editor: ClientEditor | undefined,
): Promise<LiveObject[]> {
  return writeUpdates(context, 'client', { updates, editor })
}

async function writeUpdates(
  context: WriteContext,
  name: KindName,
  { updates, editor }: { readonly updates: readonly ObjectUpdate[]; readonly editor?: ClientEditor | undefined },
): Promise<LiveObject[]> {
  const { tx, realm, version } = context
  const kind = kinds[name]
  const resolved = updates.map((update) => resolveUpdate(context, kind, update))
  const changing = resolved.filter(({ hasChanges }) => hasChanges)
  if (!changing.length) return resolved.map(({ live }) => live)
  const ids = await resolveReferences(context, kind, { objects: listNewReferences(changing) })
  const rows = changing.map((update) =>
    toObjectRow(kind, {
      id: update.live.id,
      fields: update.fields,
      references: toUpdatedReferences(kind, update, ids),
    }),
  )
  await prepareRenames(context, kind, changing)
  const write = createWrite(context, rows)
  await write(
    withConflictErrors(kind, 'update', () => updateObjects(tx, realm.number, { kind: name, version, rows, editor })),
  )
  const relations = await writeRelations(context, kind, { updates: changing, ids })
  await checkPrivilegesOfUpdates(context, kind, { updates: changing, ...relations })
  for (const { live: object, before, after } of changing)
    recordEntry(context, { operation: 'update', kind: name, object, fields: before, newValues: after })
  return resolved.map((update) => (update.hasChanges ? toUpdatedObject(kind, update, { version, ids }) : update.live))
}

/** Returns the references that updates set. The ids of the others are known, while their names may have changed. */
function listNewReferences(updates: readonly ResolvedUpdate[]) {
  return updates.flatMap(({ live: { key }, set, relations }) => [
    { key, fields: set },
    ...relations.map(({ field, add }) => ({ key, fields: { [field]: add } })),
  ])
}

/** Checks the new names of renamed objects, and journals the objects that refer to them. */
async function prepareRenames(context: WriteContext, kind: Kind, updates: readonly ResolvedUpdate[]): Promise<void> {
  const renames = updates.filter(({ set }) => kind.naturalKey in set)
  for (const { live, set } of renames) checkNameLength(kind, live.id, String(set[kind.naturalKey]))
  if (!renames.length) return
  await recordReferrers(
    context,
    kind.name,
    renames.map(({ live }) => live),
  )
}

/** Writes the changes of relations, and returns the elements that were added and removed. */
async function writeRelations(
  context: WriteContext,
  kind: Kind,
  { updates, ids }: { readonly updates: readonly ResolvedUpdate[]; readonly ids: ReferenceIds },
): Promise<{ readonly added: RelationElements[]; readonly removed: RelationElements[] }> {
  const { tx, realm } = context
  const added: RelationElements[] = []
  const removed: RelationElements[] = []
  for (const [field, { refersTo }] of relationFields(kind)) {
    const changes = updates.flatMap(({ live, relations }) =>
      relations.filter((relation) => relation.field === field).map(({ add, remove }) => ({ live, add, remove })),
    )
    const removedKeys = changes.flatMap(({ live, remove }) =>
      remove.map((key) => toTargetKey(kind.fields[field]!, live.key, key)),
    )
    const removedIds = await getIdsByKey(context, refersTo!, removedKeys)
    const addedIds = getTargetIds(kind, field, ids)
    const toRemove = changes.flatMap(({ live, remove }) =>
      toRelationElements({ kind, field }, live, { keys: remove, targetIds: removedIds }),
    )
    const toAdd = changes.flatMap(({ live, add }) =>
      toRelationElements({ kind, field }, live, { keys: add, targetIds: addedIds }),
    )
    const write = createWrite(context, updates)
    if (toRemove.length) await write(deleteRelation(tx, realm.number, { kind: kind.name, field, elements: toRemove }))
    if (toAdd.length) await write(insertRelation(tx, realm.number, { kind: kind.name, field, elements: toAdd }))
    added.push({ field, elements: toAdd })
    removed.push({ field, elements: toRemove })
  }
  return { added, removed }
}
