// Splits the document of a realm into the files of a folder: one for its settings, and one for each object in a list of the realm.
import { kinds } from '../../kinds/index.ts'
import { isList, isObject, type Json, type Representation, readObject } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'

/** A document, with the path of its file without an extension. */
export interface FolderFile {
  readonly path: string
  readonly document: Representation
}

/**
 * Returns files that together declare the same as the document: `realm`, `clients/my-app`, `roles/client/my-app`. Lists that are grouped
 * by parent or by type get one file for each group.
 */
export function splitIntoFiles(document: Representation): FolderFile[] {
  const { naturalKey, children } = kinds.realm
  const content = Object.keys(document).filter((field) => Object.hasOwn(children, field))
  const settings = Object.fromEntries(Object.entries(document).filter(([field]) => !content.includes(field)))
  const files = content.flatMap((field) => {
    const value = document[field]!
    const parts = isList(value)
      ? value.map(
          (element): FieldPart => ({ names: getNames(kinds[children[field]!], readObject(element)), value: [element] }),
        )
      : splitGroups(value)
    return parts.map((part) => ({
      path: [field, ...part.names].map(toFileName).join('/'),
      document: { [naturalKey]: document[naturalKey]!, [field]: part.value },
    }))
  })
  return makePathsUnique([{ path: naturalKey, document: settings }, ...files])
}

/** A part of a field, with the names that its path consists of. */
interface FieldPart {
  readonly names: readonly string[]
  readonly value: Json
}

/** Returns the name of an object, after the name of its parent if objects of different parents are in one list. */
function getNames({ nameField, parentField }: Kind, object: Representation): string[] {
  const parent = parentField === undefined ? [] : [String(object[parentField])]
  return [...parent, String(object[nameField])]
}

/** Splits groups into parts that contain one list each, or one map of texts. */
function splitGroups(value: Json): FieldPart[] {
  if (!isObject(value) || Object.values(value).every((member) => typeof member !== 'object'))
    return [{ names: [], value }]
  return Object.entries(value).flatMap(([key, group]) =>
    splitGroups(group).map((part) => ({
      names: [key, ...part.names],
      value: Object.fromEntries([[key, part.value]]),
    })),
  )
}

/** Converts a name to one that is valid, not hidden and not too long on all systems. */
function toFileName(name: string): string {
  const plain = name.replaceAll(/\s+/g, '-').replaceAll(/[^\p{L}\p{N}._@+-]/gu, '_')
  return plain.slice(0, 80).replace(/^\.|^$/, '_')
}

/** Makes the paths different also on systems that ignore case. */
function makePathsUnique(files: readonly FolderFile[]): FolderFile[] {
  const usedPaths = new Set<string>()
  return files.map(({ path, document }) => {
    let uniquePath = path
    for (let count = 2; usedPaths.has(uniquePath.toLowerCase()); count++) uniquePath = `${path}-${count}`
    usedPaths.add(uniquePath.toLowerCase())
    return { path: uniquePath, document }
  })
}
