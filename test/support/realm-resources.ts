// Splits a realm into Kubernetes resources, one for each of its objects.
import { kinds } from '../../src/kinds/index.ts'
import { listParentFields, listResourceNames } from '../../src/kinds/resource-kinds.ts'
import { splitDocument } from '../../src/realm-file/split-document.ts'
import type { Document } from '../../src/realm-file/yaml/document.ts'
import type { Resource } from './kubernetes.ts'
import { resource } from './test-operator.ts'

/** Returns the objects of a document as resources. The first one is the realm, with the name. */
export function toResources(document: Document, name: string): Resource[] {
  const { declared: objects } = splitDocument(document, (path, message) => {
    throw new Error(`${path.join('/')}: ${message}`)
  })
  return objects.map((object, at) => {
    const kind = kinds[object.kind]
    const [resourceKind] = listResourceNames(kind) as [string]
    const spec = object.representation
    if (object.kind === 'realm') return resource(resourceKind, name, spec)
    const below = listParentFields(kind).filter(([, parent]) => parent === object.key[0])
    const places = object.key.length > 1 ? below.map(([field]) => [field, object.key.at(-2)!]) : []
    const resourceSpec = { ...spec, ...Object.fromEntries(places), realmRef: { name } }
    return resource(resourceKind, `${resourceKind.toLowerCase()}-${at}`, resourceSpec)
  })
}
