// Deletion, and what it takes along: child objects go, relations and references lose an element. All of it is journaled.
import type { FlatFields } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import { type KindName, referenceFields, relationFields } from '../kinds/kind.ts'
import { deleteObjects, selectReferrers, touchObjects } from '../store/objects.ts'
import { type Context, journal, type WriteContext } from './context.ts'
import { type LiveObject, listObjects } from './live.ts'
import { digested } from './secrets.ts'

/** Deletes objects; what hangs on them is deleted with them, and journaled too. */
export async function deleteAll(context: WriteContext, kind: KindName, objects: readonly LiveObject[]): Promise<void> {
  if (!objects.length) return
  await journalDependants(context, kind, objects)
  await deleteObjects(
    context.tx,
    context.realm.number,
    kind,
    objects.map(({ id }) => id),
  )
  for (const object of objects)
    journal(context, 'delete', kind, object, digested(context.vault, kinds[kind], object.representation))
}

/** Journals what the deletion of the objects changes elsewhere, and deletes their children. Statements: some per kind. */
async function journalDependants(
  context: WriteContext,
  deleted: KindName,
  objects: readonly LiveObject[],
): Promise<void> {
  const ids = objects.map(({ id }) => id)
  for (const kind of Object.values(kinds)) {
    if (kind.parents.includes(deleted)) {
      await deleteAll(context, kind.name, await listObjects(context, kind.name, { parents: { kind: deleted, ids } }))
    }
    const fields = [...relationFields(kind), ...referenceFields(kind)]
      .filter(([, field]) => field.refersTo === deleted)
      .map(([name]) => name)
    if (!fields.length) continue
    const owners = await selectReferrers(context.tx, context.realm.number, kind.name, fields, ids)
    const staying = kind.name === deleted ? owners.filter((id) => !ids.includes(id)) : owners
    if (!staying.length) continue
    await touchObjects(context.tx, context.realm.number, kind.name, context.version, staying)
    const going = new Set(objects.map(({ key }) => JSON.stringify(key)))
    for (const owner of await listObjects(context, kind.name, { ids: staying })) {
      journal(context, 'update', kind.name, owner, losing(context, owner, fields, going))
    }
  }
}

/** The fields of the owner that name one of the keys, with their values before. */
function losing(
  context: Context,
  owner: LiveObject,
  fields: readonly string[],
  going: ReadonlySet<string>,
): FlatFields {
  const names = (value: Json): boolean =>
    Array.isArray(value) ? value.some((key) => going.has(JSON.stringify(key))) : going.has(JSON.stringify([value]))
  return Object.fromEntries(
    Object.entries(digested(context.vault, kinds[owner.kind], owner.representation)).filter(
      ([path, value]) => fields.includes(path.split('.')[0]!) && names(value),
    ),
  )
}
