// A realm as resources of Kubernetes: one for each of its objects.
import { getParentPath } from '../../src/kinds/group.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import { joinTree, type TreeObject } from '../../src/kinds/tree.ts'
import { convertForExport } from '../../src/realm-file/convert-formats.ts'
import { listParentFields, listResourceNames } from '../../src/realm-file/resources/resource-kinds.ts'
import type { Document } from '../../src/realm-file/yaml/document.ts'
import { splitDocument } from '../../src/realm-file/split-document.ts'
import type { Resource } from './kubernetes.ts'
import { resource } from './operated.ts'

/** What the document says, as resources; the first one is the realm, and has that name. */
export function toResources(document: Document, name: string): Resource[] {
  const { declared: stated } = splitDocument(document, (path, message) => {
    throw new Error(`${path.join('/')}: ${message}`)
  })
  return stated.map((object, at) => {
    const kind = kinds[object.kind]
    const [called] = listResourceNames(kind) as [string]
    const spec = object.kind === 'group' ? toGroupSpec(object) : object.representation
    if (object.kind === 'realm') return resource(called, name, spec)
    const below = listParentFields(kind).filter(([, parent]) => parent === object.key[0])
    const places = object.key.length > 1 ? below.map(([field]) => [field, object.key.at(-2)!]) : []
    const own = { ...spec, ...Object.fromEntries(places), realmRef: { name } }
    return resource(called, `${called.toLowerCase()}-${at}`, own)
  })
}

/** A group stands in those that it belongs to, which are only named. */
function toGroupSpec(object: TreeObject): Representation {
  const above: TreeObject[] = []
  for (let path = getParentPath(object.key[0]!); path; path = getParentPath(path))
    above.unshift({ kind: 'group', key: [path], representation: { path }, path: [] })
  return (convertForExport(joinTree([...above, object])).groups as Representation[])[0]!
}
