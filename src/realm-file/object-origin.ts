// The positions of declared objects in their documents.
import { kinds } from '../kinds/index.ts'
import { type Json, readPath } from '../kinds/json.ts'
import type { Key, Kind } from '../kinds/kind.ts'
import type { DocumentPath, SourcePosition } from '../lib/source-position.ts'
import { getSplitDocument } from './split-document.ts'
import type { Document } from './yaml/document.ts'

/**
 * The origin of a declared object. It stores only the position of the object, since realms may have many users. Positions of fields are
 * looked up in the document, which may be parsed again.
 */
export class ObjectOrigin {
  readonly #document: Document
  readonly #index: number
  readonly #line: number
  readonly #column: number

  /** The index is the object's among those that the document declares, and the position its own. */
  constructor(document: Document, index: number, { line, column }: SourcePosition) {
    this.#document = document
    this.#index = index
    this.#line = line
    this.#column = column
  }

  get position(): SourcePosition {
    return { file: this.#document.file, line: this.#line, column: this.#column }
  }

  /** The position with the path to the object, if its document has no lines. Looked up in the document. */
  get place(): SourcePosition {
    return this.#locate([])
  }

  /** The position of the parent's name; without a parent field, of the object itself. */
  get parentPosition(): SourcePosition {
    const { parentField } = kinds[this.#object.kind]
    return this.#locate(parentField === undefined ? [] : [parentField])
  }

  /** Returns the position of a field, or of the key in the value of a relation. */
  locate(path: string, key?: Key): SourcePosition {
    const { kind, representation } = this.#object
    const fieldPath = toFieldPath(kinds[kind], path)
    if (!key) return this.#locate(fieldPath)
    const groupPath = [...fieldPath, ...getGroupPath(kinds[kind], fieldPath, key)]
    return this.#locate([...groupPath, ...(findText(readPath(representation, groupPath), key.at(-1)!) ?? [])])
  }

  /** Returns a line of the file. Lines count from 1. */
  getLine(number: number): string {
    return this.#document.getLine(number)
  }

  get #object() {
    return getSplitDocument(this.#document).declared[this.#index]!
  }

  #locate(path: DocumentPath): SourcePosition {
    return getSplitDocument(this.#document).converted.locate([...this.#object.path, ...path])
  }
}

/** Converts the path of a flat field to the path in the representation. */
export function toFieldPath(kind: Kind, path: string): DocumentPath {
  const dot = path.indexOf('.')
  return dot < 0 || !kind.fields[path.slice(0, dot)] ? [path] : [path.slice(0, dot), path.slice(dot + 1)]
}

/** Returns the path from a relation to the list with a key. */
function getGroupPath(kind: Kind, [name]: DocumentPath, key: Key): DocumentPath {
  const field = kind.fields[String(name)]
  if (!field?.relation || field.type === 'set') return []
  return key.length === 1 ? ['realm'] : key.slice(0, -1)
}

function findText(value: Json | undefined, text: string): DocumentPath | undefined {
  if (value === undefined || value === null || typeof value !== 'object') return String(value) === text ? [] : undefined
  for (const [step, member] of Object.entries(value)) {
    const rest = findText(member, text)
    if (rest) return [step, ...rest]
  }
  return undefined
}
