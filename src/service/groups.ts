// Groups: a tree that is kept as paths. A group that is called otherwise, or moves, takes those below it along.
import { parentPath } from '../kinds/group.ts'
import type { Key } from '../kinds/kind.ts'
import { selectSubtree, setParents } from '../store/groups.ts'
import type { Context, WriteContext } from './context.ts'
import { failure } from './errors.ts'
import { type LiveObject, listObjects } from './live.ts'
import { plain, type Update, type Writers } from './objects.ts'
import { idsOf } from './references.ts'

const writers = plain('group')

/** The writers of groups. */
export const groups: Writers = {
  ...writers,
  async create(context, objects) {
    const created = await writers.create(context, objects)
    await place(context, created)
    return created
  },
  async update(context, updates) {
    const moved = updates.filter(({ live, set }) => typeof set.path === 'string' && set.path !== live.key[0])
    if (!moved.length) return writers.update(context, updates)
    for (const { live, set } of moved) refuseCycle(live, String(set.path))
    const known = new Set(updates.map(({ live }) => live.id))
    const below = (await subtreeOf(context, moved.map(asLive))).filter(({ id }) => !known.has(id))
    const all = [...updates, ...below.map((live) => follow(live, moved))]
    const updated = await writers.update(context, all)
    await place(context, updated)
    return updated.slice(0, updates.length)
  },
  async delete(context, objects) {
    await writers.delete(context, await subtreeOf(context, objects))
  },
}

const asLive = ({ live }: Update): LiveObject => live

/** Groups with all that is below them, each once. Statements: two. */
async function subtreeOf(context: Context, objects: readonly LiveObject[]): Promise<LiveObject[]> {
  if (!objects.length) return []
  const roots = objects.map(({ id }) => id)
  return listObjects(context, 'group', { ids: await selectSubtree(context.tx, context.realm.number, roots) })
}

/** A group below one that moves: the longest of the old paths says which. */
function follow(live: LiveObject, moved: readonly Update[]): Update {
  const path = live.key[0]!
  const above = moved
    .filter(({ live: { key } }) => path.startsWith(`${key[0]}/`))
    .reduce((a, b) => (a.live.key[0]!.length > b.live.key[0]!.length ? a : b))
  return { live, set: { path: `${above.set.path}${path.slice(above.live.key[0]!.length)}` } }
}

/** Hangs groups where their paths say. Throws invalid where there is no such group. */
async function place(context: WriteContext, placed: readonly LiveObject[]): Promise<void> {
  if (!placed.length) return
  const { tx, realm } = context
  const above = (live: LiveObject) => parentPath(live.key[0]!)
  const paths = [...new Set(placed.map(above).filter(Boolean))]
  const ids = await idsOf(
    context,
    'group',
    paths.map((path): Key => [path]),
  )
  await setParents(
    tx,
    realm.number,
    placed.map((live) => ({ id: live.id, parent: ids.get(JSON.stringify([above(live)])) ?? null })),
  )
}

function refuseCycle({ key: [path] }: LiveObject, next: string): void {
  if (next.startsWith(`${path}/`)) throw failure('invalid', `Group ${path} cannot be moved below itself`)
}
