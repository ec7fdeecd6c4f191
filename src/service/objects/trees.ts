// Kinds whose natural key is a path: groups, components. What is called otherwise, or moves, takes what is below it along.
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { selectSubtree, setParents } from '../../store/trees.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { demandGroups } from '../permissions/privilege.ts'
import { type LiveObject, listObjects } from './live.ts'
import { plain } from './objects.ts'
import { idsOf } from './references.ts'
import type { Update, Writers } from './writers.ts'

/** The writers of a kind of paths; `parentOf` gives the path above one, empty at the top. */
export function treeWriters(kind: KindName, parentOf: (path: string) => string): Writers {
  const writers = plain(kind)
  return {
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
      await demandFormerParents(context, moved)
      const known = new Set(updates.map(({ live }) => live.id))
      const below = (await subtreeOf(context, moved.map(asLive))).filter(({ id }) => !known.has(id))
      const all = [...updates, ...below.map((live) => follow(live, moved))]
      const updated = (await writers.update(context, all)).slice(0, updates.length)
      // What is below keeps its place.
      await place(context, updated)
      return updated
    },
    async delete(context, objects) {
      await writers.delete(context, await subtreeOf(context, objects))
    },
  }

  /** Objects with all that is below them, each once. Statements: two. */
  async function subtreeOf(context: Context, objects: readonly LiveObject[]): Promise<LiveObject[]> {
    if (!objects.length) return []
    const roots = objects.map(({ id }) => id)
    return listObjects(context, kind, { ids: await selectSubtree(context.tx, context.realm.number, { kind, roots }) })
  }

  /** Hangs objects where their paths say. Throws invalid where there is nothing. */
  async function place(context: WriteContext, placed: readonly LiveObject[]): Promise<void> {
    if (!placed.length) return
    const { tx, realm } = context
    const above = (live: LiveObject) => parentOf(live.key[0]!)
    const paths = [...new Set(placed.map(above).filter(Boolean))]
    const ids = await idsOf(
      context,
      kind,
      paths.map((path): Key => [path]),
    )
    if (kind === 'group') await demandGroups(context, [...new Set(ids.values())])
    await setParents(tx, realm.number, {
      kind,
      objects: placed.map((live) => ({ id: live.id, parent: ids.get(JSON.stringify([above(live)])) ?? null })),
    })
  }

  /** A group that leaves another one loses the roles of that, and so do its members. One statement, or none. */
  async function demandFormerParents(context: Context, moved: readonly Update[]): Promise<void> {
    const left = moved.map(({ live, set }) => [parentOf(live.key[0]!), parentOf(String(set.path))] as const)
    const paths = [...new Set(left.flatMap(([from, to]) => (from && from !== to ? from : [])))]
    if (kind !== 'group' || context.power.all || !paths.length) return
    const ids = await idsOf(
      context,
      kind,
      paths.map((path): Key => [path]),
    )
    await demandGroups(context, [...ids.values()])
  }

  function refuseCycle({ key: [path] }: LiveObject, next: string): void {
    if (!next.startsWith(`${path}/`)) return
    const { title } = kinds[kind]
    throw failure('invalid', `${title[0]!.toUpperCase()}${title.slice(1)} ${path} cannot be moved below itself`)
  }
}

const asLive = ({ live }: Update): LiveObject => live

/** An object below one that moves: the longest of the old paths says which. */
function follow(live: LiveObject, moved: readonly Update[]): Update {
  const path = live.key[0]!
  const above = moved
    .filter(({ live: { key } }) => path.startsWith(`${key[0]}/`))
    .reduce((a, b) => (a.live.key[0]!.length > b.live.key[0]!.length ? a : b))
  return { live, set: { path: `${above.set.path}${path.slice(above.live.key[0]!.length)}` } }
}
