// Documents with the positions of their values.
import { createHash } from 'node:crypto'
import { type Json, readObject } from '../../kinds/json.ts'
import type { DocumentPath, SourcePosition } from '../../lib/source-position.ts'
import { memoize } from '../../lib/timing/memoize.ts'
import { isEncryptedText } from '../sops-metadata.ts'
import { hasLiteralDefault } from '../variable-template.ts'
import { type DocumentWarning, getAtPointer, toJsonPointer } from './problem.ts'

/** A document of a file. A document that is a list is one document for each element. */
export interface Document {
  readonly file: string
  /** The content, which is always an object. Large files are parsed again if the value was evicted from memory. */
  readonly value: Json
  /** The fields that identify the document, available without its value. */
  readonly header: DocumentHeader
  /** A digest of the value. */
  readonly digest: string
  readonly start: SourcePosition
  readonly warnings: readonly DocumentWarning[]
  /** For a resource of objects: their paths in the realm around them. Absent: the document declares the whole realm. */
  readonly objectPaths?: readonly DocumentPath[]
  /** The number of its overlay in the environment, from 1. Absent: the document belongs to the base. */
  readonly overlay?: number | undefined
  /**
   * Returns the position of the key or list element at a path, or of its nearest ancestor in the file. What comes from an alias or a
   * merge key has the position where it is written.
   */
  locate(path: DocumentPath): SourcePosition
  /** Whether the text at a path is the value of a variable or was encrypted, so that the file does not contain it. */
  isFromVariable(path: DocumentPath): boolean
  /** Whether the value at a path, or a value in it, was encrypted in the file. */
  isEncrypted(path: DocumentPath): boolean
  /** Returns a line of the file. Lines count from 1. */
  getLine(number: number): string
}

/** A document whose encrypted values were decrypted. */
export interface DecryptedDocument extends Document {
  /** The encrypted values as the file writes them, by JSON pointer. Absent: there are none. */
  readonly encrypted?: ReadonlyMap<string, string>
}

/** The fields that identify a document. */
export interface DocumentHeader {
  readonly realm?: Json
  readonly apiVersion?: Json
  readonly kind?: Json
}

/** Returns a document with another value. `toOriginalPath` maps a path in the new value to the path in the original document. */
export function deriveDocument(
  original: Document,
  value: Json,
  toOriginalPath?: (path: DocumentPath) => DocumentPath,
): Document {
  const toOriginal = toOriginalPath ?? ((path) => path)
  // An unchanged value is not retained, since the original can evict it from memory.
  const changed = value === original.value ? undefined : { value, digest: memoize(() => computeDigest(value)) }
  return {
    file: original.file,
    overlay: original.overlay,
    header: changed ? getHeader(value) : original.header,
    get value() {
      return changed ? changed.value : original.value
    },
    get digest() {
      return changed ? changed.digest() : original.digest
    },
    get start() {
      return toOriginalPath ? original.locate(toOriginalPath([])) : original.start
    },
    locate: (path) => original.locate(toOriginal(path)),
    isFromVariable: (path) => original.isFromVariable(toOriginal(path)),
    isEncrypted: (path) => original.isEncrypted(toOriginal(path)),
    warnings: original.warnings,
    getLine: original.getLine,
  }
}

/**
 * Returns a document with the values of its variables and of its encrypted texts, which are at these JSON pointers. A text with a literal
 * default does not count as coming from a variable, since the document contains it.
 */
export function markVariables(original: Document, value: Json, pointers: Iterable<string>): Document {
  const template = original.value
  const replaced = [...pointers]
  const fromVariables = new Set(replaced.filter((pointer) => !hasLiteralDefault(getAtPointer(template, pointer))))
  const encrypted = new Set(
    replaced.filter((pointer) => isEncryptedText(getAtPointer(template, pointer))).flatMap(listAncestors),
  )
  return Object.assign(deriveDocument(original, value), {
    isFromVariable: (path: DocumentPath) => fromVariables.has(toJsonPointer(path)) || original.isFromVariable(path),
    isEncrypted: (path: DocumentPath) => encrypted.has(toJsonPointer(path)) || original.isEncrypted(path),
  })
}

/** Returns a JSON pointer, and those of the values that contain its value. */
function listAncestors(pointer: string): string[] {
  const steps = pointer.split('/')
  return steps.map((_, at) => steps.slice(0, at + 1).join('/'))
}

/** Returns a document as part of an overlay with this number; undefined for the base. */
export function toOverlayDocument(original: Document, overlay: number | undefined): Document {
  return overlay === undefined ? original : Object.assign(deriveDocument(original, original.value), { overlay })
}

/** Creates a document from a value without a file. Positions are paths below the name, since there are no lines. */
export function createDocument(name: string, value: Json): Document {
  const start = { file: name, line: 1, column: 1 }
  return {
    file: name,
    value,
    header: getHeader(value),
    digest: computeDigest(value),
    start,
    locate: (path) => ({ ...start, file: [name, ...path].join('/') }),
    warnings: [],
    isFromVariable: () => false,
    isEncrypted: () => false,
    getLine: () => '',
  }
}

/** Returns the fields that identify a document. */
export function getHeader(value: Json): DocumentHeader {
  const { realm, apiVersion, kind } = readObject(value)
  return {
    ...(realm !== undefined && { realm }),
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
  }
}

/** Returns the SHA-256 digest of a value's JSON text. The order of keys matters. */
export function computeDigest(value: Json): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
