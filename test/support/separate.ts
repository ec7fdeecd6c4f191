// A realm as resources of Kubernetes: one for each of its objects.
import { parentPath } from '../../src/kinds/group.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import { joinTree, type TreeObject } from '../../src/kinds/tree.ts'
import { shapedForExport } from '../../src/realm-file/reshape.ts'
import { parentFields, resourceNames } from '../../src/realm-file/resources/resource-kinds.ts'
import type { Document } from '../../src/realm-file/yaml/document.ts'
import { cutUp } from '../../src/realm-file/yaml/origin.ts'
import type { Resource } from './kubernetes.ts'
import { resource } from './operated.ts'

/** What the document says, as resources; the first one is the realm, and has that name. */
export function separate(document: Document, name: string): Resource[] {
  const { stated } = cutUp(document, (path, message) => {
    throw new Error(`${path.join('/')}: ${message}`)
  })
  return stated.map((object, at) => {
    const kind = kinds[object.kind]
    const [called] = resourceNames(kind) as [string]
    const spec = object.kind === 'group' ? groupOf(object) : object.representation
    if (object.kind === 'realm') return resource(called, name, spec)
    const below = parentFields(kind).filter(([, parent]) => parent === object.key[0])
    const places = object.key.length > 1 ? below.map(([field]) => [field, object.key.at(-2)!]) : []
    const own = { ...spec, ...Object.fromEntries(places), realmRef: { name } }
    return resource(called, `${called.toLowerCase()}-${at}`, own)
  })
}

/** A group stands in those that it belongs to, which are only named. */
function groupOf(object: TreeObject): Representation {
  const above: TreeObject[] = []
  for (let path = parentPath(object.key[0]!); path; path = parentPath(path))
    above.unshift({ kind: 'group', key: [path], representation: { path }, path: [] })
  return (shapedForExport(joinTree([...above, object])).groups as Representation[])[0]!
}
