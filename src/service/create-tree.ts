// The objects that come with a new realm, made kind by kind.
import type { Field } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import { type KindName, type Representation, relationFields } from '../kinds/kind.ts'
import { creationOrder } from '../kinds/order.ts'
import { relationKeys } from '../kinds/relations.ts'
import { address, type TreeObject } from '../kinds/tree.ts'
import { authenticationFlows } from './authentication-flows.ts'
import type { WriteContext } from './context.ts'
import type { LiveObject } from './live.ts'
import { createObjects, type NewObject, type Update, updateAll } from './objects.ts'

/**
 * Makes objects of a tree as they are stated, without what the kinds' services add to a new object of a person. Relations
 * to what comes later in the order follow when everything is there. Gives the ids of what it made, by address.
 */
export async function createTree(
  context: WriteContext,
  objects: readonly TreeObject[],
  ids: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const made = new Map<string, LiveObject>()
  const known = new Map<string, string>()
  const knowing: WriteContext = { ...context, made: known }
  const follows: Update[] = []
  const byKind = Map.groupBy(objects, ({ kind }) => kind)
  for (const kind of creationOrder) {
    const wanted = (byKind.get(kind) ?? []).map((one): NewObject => {
      const parent = one.key.length > 1 ? made.get(address(one.key[0] as KindName, one.key.slice(1, -1))) : undefined
      return {
        id: ids.get(address(kind, one.key)),
        representation: withoutFollowing(kind, one.representation),
        ...(parent && { parent: { kind: parent.kind, id: parent.id, key: parent.key } }),
      }
    })
    if (!wanted.length) continue
    const create =
      kind === 'authenticationFlow'
        ? authenticationFlows.create
        : (c: WriteContext, o: readonly NewObject[]) => createObjects(c, kind, o)
    const stated = new Map((byKind.get(kind) ?? []).map((one) => [address(kind, one.key), one.representation]))
    for (const live of await create(knowing, wanted)) {
      const id = address(kind, live.key)
      made.set(id, live)
      known.set(id, live.id)
      follows.push(...followingOf(live, stated.get(id)!))
    }
  }
  for (const [kind, updates] of Map.groupBy(follows, ({ live }) => live.kind)) await updateAll(knowing, kind, updates)
  return known
}

/** The relations of a kind that name what comes later in the order of kinds. */
function following(kind: KindName): [name: string, field: Field][] {
  const place = (one: KindName) => creationOrder.indexOf(one)
  return relationFields(kinds[kind]).filter(([, { refersTo }]) => place(refersTo!) > place(kind))
}

function withoutFollowing(kind: KindName, representation: Representation): Representation {
  const names = following(kind).map(([name]) => name)
  return Object.fromEntries(Object.entries(representation).filter(([name]) => !names.includes(name)))
}

function followingOf(live: LiveObject, stated: Representation): Update[] {
  const relations = following(live.kind).flatMap(([name, field]) =>
    stated[name] == null ? [] : [[name, { add: relationKeys(field, stated[name]) }]],
  )
  return relations.length ? [{ live, set: {}, relations: Object.fromEntries(relations) }] : []
}
