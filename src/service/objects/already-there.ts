// Objects that came with another one may be stated too: they are there when their turn comes, and are changed then.
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { relationFields } from '../../kinds/kind.ts'
import { relationKeys } from '../../kinds/relations.ts'
import type { LiveObject } from './live.ts'
import type { NewObject, Update } from './writers.ts'

/** Makes objects, but for those that are there already: they come to say what is stated. Gives all, in the same order. */
export async function createOrUpdate(
  objects: readonly NewObject[],
  there: ReadonlyMap<NewObject, LiveObject>,
  create: (objects: readonly NewObject[]) => Promise<LiveObject[]>,
  update: (updates: readonly Update[]) => Promise<LiveObject[]>,
): Promise<LiveObject[]> {
  const known = [...there.keys()]
  const fresh = objects.filter((one) => !there.has(one))
  const updated = known.length ? await update(known.map((one) => asUpdate(one, there.get(one)!))) : []
  const made = fresh.length ? await create(fresh) : []
  const done = new Map([...known, ...fresh].map((one, at) => [one, [...updated, ...made][at]!]))
  return objects.map((one) => done.get(one)!)
}

/** An object that was to be made, as a change of the one that is there. */
function asUpdate({ representation }: NewObject, live: LiveObject): Update {
  const kind = kinds[live.kind]
  const relations = relationFields(kind).filter(([name]) => representation[name] != null)
  const flat = Object.entries(flatten(kind, representation))
  return {
    live,
    set: Object.fromEntries(flat.filter(([path]) => !relations.some(([name]) => name === path))),
    relations: Object.fromEntries(
      relations.map(([name, field]) => [name, { add: relationKeys(field, representation[name]!) }]),
    ),
  }
}
