// Writers that check whole objects before they write.
import { addDefaults, flatten, unflatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { Context } from '../context/context.ts'
import { createPlainWriters, toUpdatedRepresentation } from './plain-writers.ts'
import type { Writers } from './writers.ts'

/** Throws if an object would be invalid after the write. `ids`: those of existing objects. */
export type ObjectCheck = (
  context: Context,
  objects: readonly Representation[],
  ids: readonly string[],
) => Promise<void>

/** Creates writers of a kind that call the check before each write. */
export function createCheckedWriters(name: KindName, check: ObjectCheck): Writers {
  const kind = kinds[name]
  const writers = createPlainWriters(name)
  return {
    ...writers,
    async create(context, objects) {
      const complete = objects.map(({ representation }) =>
        unflatten(kind, addDefaults(kind, flatten(kind, representation))),
      )
      await check(context, complete, [])
      return writers.create(context, objects)
    },
    async update(context, updates) {
      const ids = updates.map(({ live }) => live.id)
      await check(context, updates.map(toUpdatedRepresentation), ids)
      return writers.update(context, updates)
    },
  }
}
