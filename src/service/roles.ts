// Roles: the one that comes with authorization services may be stated beside them.
import type { Key } from '../kinds/kind.ts'
import type { WriteContext } from './context.ts'
import { type LiveObject, listObjects } from './live.ts'
import { asUpdate, type NewObject, plain, type Writers } from './objects.ts'
import { UMA_PROTECTION } from './resource-servers.ts'

const writers = plain('role')

/** The writers of roles. */
export const roles: Writers = {
  ...writers,
  async create(context, objects) {
    const there = await madeBefore(context, objects)
    if (!there.size) return writers.create(context, objects)
    const updated = await writers.update(
      context,
      [...there].map(([one, live]) => asUpdate(one, live)),
    )
    const made = await writers.create(
      context,
      objects.filter((one) => !there.has(one)),
    )
    const known = [...there.keys()]
    return objects.map((one) => (there.has(one) ? updated[known.indexOf(one)]! : made.shift()!))
  },
}

/** The roles that their clients got earlier in this transaction. One statement, or none. */
async function madeBefore(
  context: WriteContext,
  objects: readonly NewObject[],
): Promise<ReadonlyMap<NewObject, LiveObject>> {
  const stated = objects.filter(({ parent, representation }) => parent && representation.name === UMA_PROTECTION)
  if (!stated.length) return new Map()
  const keyOf = ({ parent }: NewObject): Key => ['client', ...parent!.key, UMA_PROTECTION]
  const found = await listObjects(context, 'role', { keys: stated.map(keyOf) })
  const fresh = found.filter(({ version }) => version === context.version)
  return new Map(
    stated.flatMap((one) => {
      const live = fresh.find(({ parent }) => parent?.id === one.parent!.id)
      return live ? [[one, live] as const] : []
    }),
  )
}
