// Objects that were created together with another one, such as the roles of a client, and are declared as well.
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { relationFields } from '../../kinds/kind.ts'
import { toRelationKeys } from '../../kinds/relations.ts'
import type { LiveObject } from './live-objects.ts'
import type { NewObject, ObjectUpdate } from './writers.ts'

/** The functions that create and update objects. */
interface ObjectWriters {
  readonly create: (objects: readonly NewObject[]) => Promise<LiveObject[]>
  readonly update: (updates: readonly ObjectUpdate[]) => Promise<LiveObject[]>
}

/** Creates objects, except those that exist already, which it updates. Returns all of them, in the same order. */
export async function createOrUpdate(
  objects: readonly NewObject[],
  existing: ReadonlyMap<NewObject, LiveObject>,
  { create, update }: ObjectWriters,
): Promise<LiveObject[]> {
  const updates = [...existing].map(([object, live]) => toUpdate(object, live))
  const newObjects = objects.filter((object) => !existing.has(object))
  const updated = updates.length ? await update(updates) : []
  const created = newObjects.length ? await create(newObjects) : []
  const results = [...updated, ...created]
  const resultByObject = new Map([...existing.keys(), ...newObjects].map((object, at) => [object, results[at]!]))
  return objects.map((object) => resultByObject.get(object)!)
}

function toUpdate({ representation }: NewObject, live: LiveObject): ObjectUpdate {
  const kind = kinds[live.kind]
  const relations = relationFields(kind).filter(([name]) => representation[name] != null)
  const fields = Object.entries(flatten(kind, representation))
  return {
    live,
    set: Object.fromEntries(fields.filter(([path]) => !relations.some(([name]) => name === path))),
    relations: Object.fromEntries(
      relations.map(([name, field]) => [name, { add: toRelationKeys(field, representation[name]!) }]),
    ),
  }
}
