// Objects as the document that states them. Pure.
import { assemble, type FlatFields, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import { joinTree } from '../../kinds/tree.ts'
import { shapedForExport } from '../reshape.ts'
import type { WrittenObject } from './minimal.ts'

/** The document that states the objects, parents before children; texts that look like variables are not escaped. */
export function documentOf(objects: readonly WrittenObject[]): Representation {
  const ordered = [...Map.groupBy(objects, ({ kind }) => kind).values()].flatMap(byParent)
  const tree = joinTree(
    ordered.map(({ kind, key, id, fields }) => ({
      kind,
      key,
      ...(id !== undefined && { id }),
      representation: representationOf(kinds[kind], fields),
      path: [],
    })),
  )
  return inOrder(shapedForExport(tree))
}

/** In a list of the realm, the objects of one parent stand together: their own names may repeat. */
function byParent(objects: readonly WrittenObject[]): readonly WrittenObject[] {
  if (objects[0] && kinds[objects[0].kind].parentField === undefined) return objects
  return objects.toSorted((a, b) => Number(a.key.at(-2)! > b.key.at(-2)!) - Number(a.key.at(-2)! < b.key.at(-2)!))
}

/** The representation in the order of the kind's description, maps by key; null stays. */
function representationOf(kind: Kind, fields: FlatFields): Representation {
  const order = new Map(Object.keys(kind.fields).map((name, at) => [name, at]))
  const place = (path: string) => (path === kind.naturalKey ? -1 : order.get(resolve(kind, path).name)!)
  const sorted = Object.keys(fields).sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
  const representation = assemble(kind, Object.fromEntries(sorted.map((path) => [path, fields[path]!])))
  for (const path of sorted.filter((one) => fields[one] === null)) {
    const { name, key } = resolve(kind, path)
    if (key === undefined) representation[name] = null
    else representation[name] = { ...(representation[name] as Representation | undefined), [key]: null }
  }
  return representation
}

/** Settings first, then what belongs to the realm, as its description has it. */
function inOrder(tree: Representation): Representation {
  const settings = Object.keys(tree).filter((field) => field in kinds.realm.fields)
  const content = Object.keys(kinds.realm.children).filter((field) => field in tree)
  const fields = new Set([...settings, ...content, ...Object.keys(tree)])
  return Object.fromEntries([...fields].map((field) => [field, tree[field]!]))
}
