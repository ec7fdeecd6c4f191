// Writers of kinds whose natural key is a path: groups and components. A renamed or moved object takes its descendants along.
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { selectSubtree, setParents } from '../../store/trees.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { requireGrantableGroups } from '../permissions/privilege-escalation.ts'
import { requireControlOfConditionGroups } from './flow-conditions.ts'
import { type LiveObject, listObjects } from './live-objects.ts'
import { createPlainWriters } from './plain-writers.ts'
import { getIdsByKey } from './references.ts'
import type { ObjectUpdate, Writers } from './writers.ts'

/** A kind whose natural key is a path. */
interface PathKind {
  readonly kind: KindName
  /** Returns the path of the parent; empty at the top. */
  readonly getParentPath: (path: string) => string
}

/**
 * Creates the writers of a kind whose natural key is a path. `getParentPath` returns an empty path at the top. `writers` are those of the
 * kind but for its tree; an object is deleted by them together with its descendants.
 */
export function createTreeWriters(
  kind: KindName,
  getParentPath: (path: string) => string,
  writers: Writers = createPlainWriters(kind),
): Writers {
  const tree = { kind, getParentPath }
  return {
    ...writers,
    async create(context, objects) {
      const created = await writers.create(context, objects)
      // Objects at the top have no parent to set.
      await setParentsByPath(
        context,
        tree,
        created.filter(({ key }) => getParentPath(key[0]!)),
      )
      return created
    },
    async update(context, updates) {
      const moves = updates.filter(({ live, set }) => typeof set.path === 'string' && set.path !== live.key[0])
      if (!moves.length) return writers.update(context, updates)
      for (const move of moves) checkCycle(move)
      const toOtherParents = moves.filter(
        ({ live, set }) => getParentPath(live.key[0]!) !== getParentPath(String(set.path)),
      )
      const formerParents = await requireGrantableFormerParents(context, tree, toOtherParents)
      const descendantUpdates = await listDescendantUpdates(context, { kind, updates, moves })
      const updated = (await writers.update(context, [...updates, ...descendantUpdates])).slice(0, updates.length)
      // The parents of descendants do not change.
      const parents = await setParentsByPath(context, tree, updated)
      if (kind === 'group') {
        const newParents = toOtherParents.flatMap(
          ({ set }) => parents.get(JSON.stringify([getParentPath(String(set.path))])) ?? [],
        )
        await requireControlOfConditionGroups(context, [...formerParents, ...newParents])
      }
      return updated
    },
    async delete(context, objects) {
      await writers.delete(context, await listSubtree(context, kind, objects))
    },
  }
}

/** Returns objects and all their descendants, each once. Statements: two. */
async function listSubtree(context: Context, kind: KindName, objects: readonly LiveObject[]): Promise<LiveObject[]> {
  if (!objects.length) return []
  const roots = objects.map(({ id }) => id)
  return listObjects(context, kind, { ids: await selectSubtree(context.tx, context.realm.number, { kind, roots }) })
}

/** Sets the parents of objects according to their paths, and returns their ids by path. Throws invalid if a parent does not exist. */
async function setParentsByPath(
  context: WriteContext,
  { kind, getParentPath }: PathKind,
  objects: readonly LiveObject[],
): Promise<ReadonlyMap<string, string>> {
  if (!objects.length) return new Map()
  const parentPaths = objects.map(({ key }) => getParentPath(key[0]!))
  const ids = await getIdsByPath(context, kind, parentPaths.filter(Boolean))
  if (kind === 'group') await requireGrantableGroups(context, [...new Set(ids.values())])
  await setParents(context.tx, context.realm.number, {
    kind,
    objects: objects.map(({ id }, at) => ({ id, parent: ids.get(JSON.stringify([parentPaths[at]])) ?? null })),
  })
  return ids
}

/**
 * Checks groups that leave their parents: they lose the roles of the parents, as do their members. Returns the ids of the parents; none
 * for other kinds and callers with all permissions. Statements: two, or none.
 */
async function requireGrantableFormerParents(
  context: Context,
  { kind, getParentPath }: PathKind,
  moves: readonly ObjectUpdate[],
): Promise<string[]> {
  const formerParents = moves.map(({ live }) => getParentPath(live.key[0]!)).filter(Boolean)
  if (kind !== 'group' || context.permissions.all || !formerParents.length) return []
  const ids = [...(await getIdsByPath(context, kind, formerParents)).values()]
  await requireGrantableGroups(context, ids)
  return ids
}

/** Returns the ids of objects by their path, as JSON of the key. Throws invalid if one does not exist. */
function getIdsByPath(
  context: Context,
  kind: KindName,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const keys = [...new Set(paths)].map((path): Key => [path])
  return getIdsByKey(context, kind, keys)
}

/** Throws invalid if an object would become its own descendant. */
function checkCycle({ live: { kind, key }, set }: ObjectUpdate): void {
  if (!String(set.path).startsWith(`${key[0]}/`)) return
  const { title } = kinds[kind]
  throw failure('invalid', `${title[0]!.toUpperCase()}${title.slice(1)} ${key[0]} cannot be moved below itself`)
}

/** Returns updates of the paths of all descendants of moved objects that are not updated themselves. */
async function listDescendantUpdates(
  context: Context,
  input: {
    readonly kind: KindName
    readonly updates: readonly ObjectUpdate[]
    readonly moves: readonly ObjectUpdate[]
  },
): Promise<ObjectUpdate[]> {
  const { kind, updates, moves } = input
  const updatedIds = new Set(updates.map(({ live }) => live.id))
  const subtree = await listSubtree(
    context,
    kind,
    moves.map(({ live }) => live),
  )
  return subtree.filter(({ id }) => !updatedIds.has(id)).map((descendant) => toDescendantUpdate(descendant, moves))
}

/** Returns the update of a descendant's path, which follows its nearest moved ancestor. */
function toDescendantUpdate(live: LiveObject, moves: readonly ObjectUpdate[]): ObjectUpdate {
  const path = live.key[0]!
  const ancestor = moves
    .filter(({ live: { key } }) => path.startsWith(`${key[0]}/`))
    .reduce((a, b) => (a.live.key[0]!.length > b.live.key[0]!.length ? a : b))
  return { live, set: { path: `${ancestor.set.path}${path.slice(ancestor.live.key[0]!.length)}` } }
}
