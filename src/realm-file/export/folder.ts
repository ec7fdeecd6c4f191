// A realm as a folder: settings in one file, each object that stands in a list of the realm in a file of its own.

import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'

/** A document, and the path of its file without an extension. */
export interface FolderFile {
  readonly path: string
  readonly document: Representation
}

/**
 * The files that together say what the document says: `realm`, `clients/my-app`, `roles/client/my-app`. What a list keeps
 * apart by parent or by type stands together, a file for each.
 */
export function folderOf(document: Representation): FolderFile[] {
  const { naturalKey, children } = kinds.realm
  const content = Object.keys(document).filter((field) => Object.hasOwn(children, field))
  const settings = Object.fromEntries(Object.entries(document).filter(([field]) => !content.includes(field)))
  const files = content.flatMap((field) => {
    const parts = Array.isArray(document[field])
      ? document[field].map((one): Part => [namesOf(kinds[children[field]!], one as Representation), [one]])
      : partsOf(document[field]!)
    return parts.map(([names, value]) => ({
      path: [field, ...names].map(fileName).join('/'),
      document: { [naturalKey]: document[naturalKey]!, [field]: value },
    }))
  })
  return distinct([{ path: naturalKey, document: settings }, ...files])
}

type Part = [names: string[], value: Json]

/** Where the file of an element stands: in that of its parent, where its own name may repeat. */
function namesOf({ nameField, parentField }: Kind, one: Representation): string[] {
  const parent = parentField === undefined ? [] : [String(one[parentField])]
  return [...parent, String(one[nameField])]
}

/** Each list of a tree of lists, or each map of texts, in a tree that holds no other. */
function partsOf(value: Json): Part[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [[[], value]]
  if (Object.values(value).every((inner) => typeof inner !== 'object')) return [[[], value]]
  return Object.entries(value).flatMap(([key, inner]) =>
    partsOf(inner).map(([names, part]): Part => [[key, ...names], Object.fromEntries([[key, part]])]),
  )
}

/** A name as that of a file: what any system takes, as long as it takes, and never hidden. */
function fileName(name: string): string {
  const plain = name.replaceAll(/\s+/g, '-').replaceAll(/[^\p{L}\p{N}._@+-]/gu, '_')
  return plain.slice(0, 80).replace(/^\.|^$/, '_')
}

/** Paths that are told apart also where capitals do not count. */
function distinct(files: readonly FolderFile[]): FolderFile[] {
  const taken = new Set<string>()
  return files.map(({ path, document }) => {
    let own = path
    for (let count = 2; taken.has(own.toLowerCase()); count++) own = `${path}-${count}`
    taken.add(own.toLowerCase())
    return { path: own, document }
  })
}
