// Writers that look at the whole of what is made or changed before they write.
import { assemble, creation, flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { Context } from '../context/context.ts'
import { changed, plain } from './objects.ts'
import type { Writers } from './writers.ts'

/** Throws where an object cannot be as it would be then. `ids`: of those that exist. */
export type Check = (context: Context, objects: readonly Representation[], ids: readonly string[]) => Promise<void>

/** The writers of a kind that is special only in what its objects must fulfil. */
export function checkedWriters(name: KindName, check: Check): Writers {
  const kind = kinds[name]
  const writers = plain(name)
  return {
    ...writers,
    async create(context, objects) {
      const whole = objects.map(({ representation }) => assemble(kind, creation(kind, flatten(kind, representation))))
      await check(context, whole, [])
      return writers.create(context, objects)
    },
    async update(context, updates) {
      const ids = updates.map(({ live }) => live.id)
      await check(context, updates.map(changed), ids)
      return writers.update(context, updates)
    },
  }
}
