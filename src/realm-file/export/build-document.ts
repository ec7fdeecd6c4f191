// Builds the document that declares objects. Pure.
import { type FlatFields, resolveField, unflatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { isObject, type Representation, readObject } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import { joinTree } from '../../kinds/tree.ts'
import { convertForExport } from '../convert-formats.ts'
import type { ExportedObject } from './minimize-objects.ts'

/** Returns the document that declares the objects, parents before children. Texts that look like variables are not escaped. */
export function buildDocument(objects: readonly ExportedObject[]): Representation {
  const sorted = [...Map.groupBy(objects, ({ kind }) => kind).values()].flatMap(sortByParent)
  const tree = joinTree(
    sorted.map(({ kind, key, id, fields }) => ({
      kind,
      key,
      ...(id !== undefined && { id }),
      representation: toRepresentation(kinds[kind], fields),
      path: [],
    })),
  )
  return sortFields(convertForExport(tree))
}

/** Keeps the objects of one parent together in a list of the realm, where names may repeat. */
function sortByParent(objects: readonly ExportedObject[]): readonly ExportedObject[] {
  if (objects[0] && kinds[objects[0].kind].parentField === undefined) return objects
  return objects.toSorted((a, b) => Number(a.key.at(-2)! > b.key.at(-2)!) - Number(a.key.at(-2)! < b.key.at(-2)!))
}

/** Returns a representation with fields in the order of the kind's description, and keys of maps sorted. Null is kept. */
function toRepresentation(kind: Kind, fields: FlatFields): Representation {
  const order = new Map(Object.keys(kind.fields).map((name, at) => [name, at]))
  const getOrder = (path: string) => (path === kind.naturalKey ? -1 : order.get(resolveField(kind, path).name)!)
  const paths = Object.keys(fields).sort((a, b) => getOrder(a) - getOrder(b) || (a < b ? -1 : 1))
  const representation = unflatten(kind, Object.fromEntries(paths.map((path) => [path, fields[path]!])))
  for (const path of paths.filter((name) => fields[name] === null)) {
    const { name, key } = resolveField(kind, path)
    representation[name] = key === undefined ? null : { ...readObject(representation[name]), [key]: null }
  }
  return representation
}

/** Sorts the fields of a realm: settings first, then the objects in it, in the order of the realm's description, and clients by client id. */
function sortFields(declared: Representation): Representation {
  const { roles, clientScopeMappings } = declared
  const realm: Representation = {
    ...declared,
    ...(isObject(roles) && isObject(roles.client) && { roles: { ...roles, client: sortKeys(roles.client) } }),
    ...(isObject(clientScopeMappings) && { clientScopeMappings: sortKeys(clientScopeMappings) }),
  }
  const settings = Object.keys(realm).filter((field) => field in kinds.realm.fields)
  const content = Object.keys(kinds.realm.children).filter((field) => field in realm)
  const fields = new Set([...settings, ...content, ...Object.keys(realm)])
  return Object.fromEntries([...fields].map((field) => [field, realm[field]!]))
}

function sortKeys(map: Representation): Representation {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))
}
