// Splits a document into the objects that it declares.
import { isList, type Representation, readObject, readPath } from '../kinds/json.ts'
import { splitTree, type TreeObject } from '../kinds/tree.ts'
import type { DocumentPath } from '../lib/source-position.ts'
import { createLruCache } from '../lib/timing/lru-cache.ts'
import { checkStructure, type ReportProblem } from './check-structure.ts'
import { type ConvertedRealm, convertFromDocument } from './convert-formats.ts'
import { type DeclaredList, listDeclaredComponentLists, listDeclaredLists } from './declared-lists.ts'
import type { Document } from './yaml/document.ts'
import type { DocumentWarning } from './yaml/problem.ts'

/** A document with the objects in it. */
export interface SplitDocument {
  readonly converted: ConvertedRealm
  /** All objects, the realm first. */
  readonly tree: readonly TreeObject[]
  /** The objects that the document declares, without the realm and the parent that a resource only refers to. */
  readonly declared: readonly TreeObject[]
  readonly warnings: readonly DocumentWarning[]
  /** The declared lists of objects. */
  readonly lists: readonly DeclaredList[]
}

const MAX_CACHED_OBJECTS = 5_000

const cache = createLruCache<Document, SplitDocument>(MAX_CACHED_OBJECTS)

/** Splits a document. Reports what cannot be split, with its path in the document. */
export function splitDocument(document: Document, report: ReportProblem): SplitDocument {
  const content = readObject(document.value)
  const converted = convertFromDocument(document, content, report)
  const realm = checkStructure(converted.realm, (path, ...rest) => report(converted.toDocumentPath(path), ...rest))
  const tree = splitTree(realm)
  const declared = tree.filter(({ path }) => isDeclaredAt(document, converted.toDocumentPath(path)))
  const split = {
    converted,
    tree,
    declared,
    warnings: converted.warnings,
    lists: listLists(document, converted, realm),
  }
  return cache(document, declared.length, () => split)
}

/** Returns the split document from the cache, or splits it again. It must have been split without problems before. */
export const getSplitDocument = (document: Document): SplitDocument =>
  cache(document, 0, () => splitDocument(document, () => {}))

function listLists(document: Document, converted: ConvertedRealm, realm: Representation): DeclaredList[] {
  const content = readObject(document.value)
  const isWritten = (path: DocumentPath) => {
    const documentPath = converted.toDocumentPath(path)
    return isDeclaredAt(document, documentPath) && isList(readPath(content, documentPath))
  }
  const components = isDeclaredAt(document, ['components']) ? listDeclaredComponentLists(content.components) : []
  return [...listDeclaredLists(realm, isWritten), ...components]
}

/** Whether the document declares the value at a path. A resource of one object only refers to the realm and the parent around it. */
export function isDeclaredAt({ objectPaths = [[]] }: Document, path: DocumentPath): boolean {
  return objectPaths.some((objectPath) => objectPath.every((step, at) => path[at] === step))
}
