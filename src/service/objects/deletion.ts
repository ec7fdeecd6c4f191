// Deletion, and what it takes along: child objects go, relations and references lose an element. All of it is journaled.
import { type FlatFields, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import { type Key, type KindName, referenceFields, relationFields } from '../../kinds/kind.ts'
import { targetKey } from '../../kinds/relations.ts'
import { deleteObjects, touchObjects } from '../../store/objects.ts'
import { selectReferrers } from '../../store/relations.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { digested } from '../context/secrets.ts'
import { journal } from '../journal/journal.ts'
import { demandOfDeleted } from './conferring.ts'
import { type LiveObject, listObjects } from './live.ts'

/** Deletes objects; what hangs on them is deleted with them, and journaled too. */
export async function deleteAll(context: WriteContext, kind: KindName, objects: readonly LiveObject[]): Promise<void> {
  if (!objects.length) return
  await demandOfDeleted(context, kinds[kind], objects)
  await journalDependants(context, kind, objects)
  await deleteObjects(context.tx, context.realm.number, { kind, ids: objects.map(({ id }) => id) })
  for (const object of objects)
    journal(context, 'delete', kind, object, digested(context.vault, kinds[kind], object.representation))
}

/** Deletes the children of what goes, and journals who loses a reference. Statements: some per kind. */
async function journalDependants(
  context: WriteContext,
  deleted: KindName,
  objects: readonly LiveObject[],
): Promise<void> {
  const ids = objects.map(({ id }) => id)
  for (const kind of Object.values(kinds).filter(({ parents }) => parents.includes(deleted))) {
    const children = await listObjects(context, kind.name, { parents: { kind: deleted, ids } })
    await deleteAll(context, kind.name, children)
  }
  await journalReferrers(context, deleted, objects)
}

/**
 * Journals the objects whose references or relations name the given ones, which are about to go or to be called
 * otherwise: what they say changes with that. Statements: some per kind.
 */
export async function journalReferrers(
  context: WriteContext,
  to: KindName,
  objects: readonly LiveObject[],
): Promise<void> {
  const ids = objects.map(({ id }) => id)
  const named = new Set(objects.map(({ key }) => JSON.stringify(key)))
  for (const kind of Object.values(kinds)) {
    const fields = [...relationFields(kind), ...referenceFields(kind)]
      .filter(([, field]) => field.refersTo === to)
      .map(([name]) => name)
    if (!fields.length) continue
    const owners = await selectReferrers(context.tx, context.realm.number, { kind: kind.name, fields, targets: ids })
    const staying = kind.name === to ? owners.filter((id) => !ids.includes(id)) : owners
    if (!staying.length) continue
    await touchObjects(context.tx, context.realm.number, { kind: kind.name, version: context.version, ids: staying })
    for (const owner of await listObjects(context, kind.name, { ids: staying })) {
      const before = naming(context, owner, fields, named)
      journal(context, 'update', kind.name, owner, before, without(before, owner, named))
    }
  }
}

/** The same fields, without what names one of the keys. */
function without(before: FlatFields, { kind, key: owner }: LiveObject, named: ReadonlySet<string>): FlatFields {
  return Object.fromEntries(
    Object.entries(before).map(([path, value]): [string, Json] => {
      const { field } = resolve(kinds[kind], path)
      if (!field.relation) return [path, null]
      const keys = value as readonly Key[]
      return [path, keys.filter((key) => !named.has(JSON.stringify(targetKey(field, owner, key))))]
    }),
  )
}

/** The fields of the owner that name one of the keys, with their values before. */
function naming(
  context: Context,
  owner: LiveObject,
  fields: readonly string[],
  named: ReadonlySet<string>,
): FlatFields {
  const kind = kinds[owner.kind]
  const names = (path: string, value: Json): boolean => {
    if (!Array.isArray(value)) return named.has(JSON.stringify([value]))
    const keys = value as readonly Key[]
    return keys.some((key) => named.has(JSON.stringify(targetKey(kind.fields[path]!, owner.key, key))))
  }
  return Object.fromEntries(
    Object.entries(digested(context.vault, kind, owner.representation)).filter(
      ([path, value]) => fields.includes(resolve(kind, path).name) && names(path, value),
    ),
  )
}
