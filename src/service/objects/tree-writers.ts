// Writers of kinds whose natural key is a path: groups and components. The tree of a kind with a parent is inside that parent. A renamed or moved object takes its descendants along.
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
        created.filter(({ key }) => getParentPath(getPath(key))),
      )
      return created
    },
    async update(context, updates) {
      const moves = updates.filter(({ live, set }) => typeof set.path === 'string' && set.path !== getPath(live.key))
      if (!moves.length) return writers.update(context, updates)
      for (const move of moves) checkCycle(move)
      const toOtherParents = moves.filter(
        ({ live, set }) => getParentPath(getPath(live.key)) !== getParentPath(String(set.path)),
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
  const parents = objects.map(({ key }) => toParentKey(key, getParentPath(getPath(key))))
  const ids = await getIdsByKey(context, kind, listUniqueKeys(parents.filter((key) => getPath(key) !== '')))
  if (kind === 'group') await requireGrantableGroups(context, [...new Set(ids.values())])
  await setParents(context.tx, context.realm.number, {
    kind,
    objects: objects.map(({ id }, at) => ({ id, parent: ids.get(JSON.stringify(parents[at])) ?? null })),
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
  const formerParents = moves
    .map(({ live }) => toParentKey(live.key, getParentPath(getPath(live.key))))
    .filter((key) => getPath(key) !== '')
  if (kind !== 'group' || context.permissions.all || !formerParents.length) return []
  const ids = [...(await getIdsByKey(context, kind, listUniqueKeys(formerParents))).values()]
  await requireGrantableGroups(context, ids)
  return ids
}

/** Returns the path in the natural key of an object. */
const getPath = (key: Key): string => key.at(-1)!

/** Returns the natural key of the parent at a path, which is in the same tree. */
const toParentKey = (key: Key, path: string): Key => [...key.slice(0, -1), path]

function listUniqueKeys(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()]
}

/** Throws invalid if an object would become its own descendant. */
function checkCycle({ live: { kind, key }, set }: ObjectUpdate): void {
  if (!String(set.path).startsWith(`${getPath(key)}/`)) return
  const { title } = kinds[kind]
  throw failure('invalid', `${title[0]!.toUpperCase()}${title.slice(1)} ${getPath(key)} cannot be moved below itself`)
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
  const path = getPath(live.key)
  const ancestor = moves
    .filter((move) => isInSameTree(move.live.key, live.key) && path.startsWith(`${getPath(move.live.key)}/`))
    .reduce((a, b) => (getPath(a.live.key).length > getPath(b.live.key).length ? a : b))
  return { live, set: { path: `${ancestor.set.path}${path.slice(getPath(ancestor.live.key).length)}` } }
}

function isInSameTree(a: Key, b: Key): boolean {
  return JSON.stringify(a.slice(0, -1)) === JSON.stringify(b.slice(0, -1))
}
