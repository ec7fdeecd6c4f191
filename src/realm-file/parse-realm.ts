// Parses a document into the objects that it declares.
import { type FlatFields, flatten, isMasked, readKeys, subtractKeys } from '../kinds/compare.ts'
import { isStorable } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import { isList, isObject, type Json, type Representation } from '../kinds/json.ts'
import type { Key, Kind, KindName } from '../kinds/kind.ts'
import { describeObject, formatAddress, type TreeObject } from '../kinds/tree.ts'
import { type DocumentPath, formatPosition, type SourcePosition } from '../lib/source-position.ts'
import type { ReportProblem } from './check-structure.ts'
import type { DeclaredList } from './declared-lists.ts'
import { requireDecrypted } from './decrypt-documents.ts'
import { type FieldProblem, listFieldProblems, listIgnoredFieldWarnings, listNameProblems } from './field-problems.ts'
import { listEncryptedFields, listLiteralSecrets } from './literal-secrets.ts'
import { describeDeclaredObject } from './message-words.ts'
import { ObjectOrigin, toFieldPath } from './object-origin.ts'
import { type ObjectPatch, readPatch } from './overlay-patch.ts'
import { isDeclaredAt, splitDocument } from './split-document.ts'
import { containsText, transformTextsByPath } from './substitute-variables.ts'
import type { Document } from './yaml/document.ts'
import { DocumentError, type DocumentProblem, type DocumentWarning, toJsonPointer } from './yaml/problem.ts'

/** An object that a document declares. */
export interface DeclaredObject extends Pick<ObjectPatch, 'removesObject' | 'removedFields'> {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  /** The former natural key of a renamed object. */
  readonly renamedFrom: string | undefined
  /** The declared fields, normalised; null declares that there is no value. Secrets are in plain text. */
  readonly fields: FlatFields
  /** The paths of secrets that are declared as a mask, which keeps the current value. */
  readonly maskedSecrets: readonly string[]
  /** The paths of secrets that the document contains in plain text. */
  readonly literalSecrets: readonly string[]
  /** The paths of fields that are no secrets, and whose values are encrypted in the file. */
  readonly encryptedFields: readonly string[]
  /** The document only refers to the object, which does not create it. */
  readonly isReferenceOnly: boolean
  readonly origin: ObjectOrigin
}

/** A realm that a document declares. */
export interface DeclaredRealm {
  readonly name: string
  /** The number of the overlay that the document belongs to. */
  readonly overlay: number | undefined
  readonly objects: readonly DeclaredObject[]
  /** Ignored fields, and others that do not prevent an apply. */
  readonly warnings: readonly DocumentWarning[]
  /** The position of the realm's name, in a document that declares only an object of the realm. */
  readonly referencePosition: SourcePosition | undefined
  /** The declared lists of objects, also empty ones. */
  readonly lists: readonly DeclaredList[]
}

/** Whether unknown fields are an error, or ignored with a warning. */
export type UnknownFieldPolicy = 'error' | 'warn'

/** Returns the warning for an unknown field that is ignored. */
export function toUnknownFieldWarning({ position, message }: DocumentProblem): DocumentWarning {
  return { position, message: `${message} (ignored)`, effect: 'dropped' }
}

/**
 * Parses the realm that a document declares. Absent fields get no defaults, since they are unmanaged.
 * @throws DocumentError with all problems of the document.
 */
export function parseRealm(document: Document, unknownFields: UnknownFieldPolicy = 'error'): DeclaredRealm {
  requireDecrypted(document)
  const problems: DocumentProblem[] = []
  const unknownFieldWarnings: DocumentWarning[] = []
  const report: ReportProblem = (path, message, isUnknownField) => {
    const position = document.locate(path)
    if (isUnknownField && unknownFields === 'warn')
      unknownFieldWarnings.push(toUnknownFieldWarning({ position, message }))
    else problems.push({ position, message, path: toJsonPointer(path) })
  }
  const { converted, tree, declared, warnings, lists } = splitDocument(document, report)
  const objects = declared.map((object, index): DeclaredObject => {
    const { path } = object
    const reportInObject: ReportProblem = (subpath, ...rest) =>
      report(converted.toDocumentPath([...path, ...subpath]), ...rest)
    const { representation, ...patch } = readPatch(object, document.overlay !== undefined, reportInObject)
    const fields = parseFields({ ...object, representation }, reportInObject)
    const maskedSecrets = Object.keys(fields).filter((field) => isMasked(kinds[object.kind], field, fields[field]!))
    // A reference declares neither the object nor its name.
    const isReferenceOnly = converted.isReferenceOnly(path)
    const omitted = maskedSecrets.concat(isReferenceOnly ? kinds[object.kind].naturalKey : [])
    const declaredFields = Object.fromEntries(Object.entries(fields).filter(([field]) => !omitted.includes(field)))
    return {
      kind: object.kind,
      key: object.key,
      id: object.id,
      renamedFrom: object.renamedFrom,
      fields: declaredFields,
      ...patch,
      maskedSecrets,
      literalSecrets: listLiteralSecrets(kinds[object.kind], declaredFields, (subpath) =>
        document.isFromVariable(converted.toDocumentPath([...path, ...subpath])),
      ),
      encryptedFields: listEncryptedFields(kinds[object.kind], declaredFields, (subpath) =>
        document.isEncrypted(converted.toDocumentPath([...path, ...subpath])),
      ),
      isReferenceOnly,
      origin: new ObjectOrigin(document, index, converted.locate(path)),
    }
  })
  problems.push(...listDuplicateObjects(objects))
  if (problems.length) throw new DocumentError(problems)
  return {
    name: tree[0]!.key[0]!,
    overlay: document.overlay,
    objects,
    warnings: [
      ...warnings,
      ...unknownFieldWarnings,
      ...listIgnoredFieldWarnings(converted, declared),
      ...listLiteralPlaceholders(document),
    ],
    referencePosition: isDeclaredAt(document, []) ? undefined : document.locate([kinds.realm.naturalKey]),
    lists,
  }
}

/** Returns a warning for each text such as `${NAME}`, which other tools replace. */
function listLiteralPlaceholders(document: Document): DocumentWarning[] {
  const warnings: DocumentWarning[] = []
  if (!containsText(document.value, '${')) return warnings
  transformTextsByPath(document.value, (text, path) => {
    const name = /^\$\{(?:env[.:])?([A-Z][A-Z0-9_]*)\}$/.exec(text)?.[1]
    if (name !== undefined && !document.isFromVariable(path))
      warnings.push({
        position: document.locate(path),
        message: `\${${name}} is no variable here, and is used literally. For a variable, write $(env:${name})`,
      })
    return text
  })
  return warnings
}

/** Parses the fields of an object, and reports their problems with paths in it. Without its unknown fields, if they are the only problem. */
function parseFields({ kind: kindName, key, representation }: TreeObject, report: ReportProblem): FlatFields {
  const kind = kinds[kindName]
  const result = kind.schema.safeParse(representation)
  const problems = result.success ? [] : listFieldProblems(kind, representation, result.error.issues)
  const unknownFields = problems.filter(({ isUnknownField }) => isUnknownField).map(({ path }) => path)
  const withoutUnknown = unknownFields.length
    ? kind.schema.safeParse(unknownFields.reduce<Json>(removePath, representation))
    : result
  const fields = withoutUnknown.success ? flatten(kind, toRepresentation(withoutUnknown.data)) : {}
  for (const path of Object.keys(fields).filter((field) => !isStorable(field)))
    problems.push({ path: toFieldPath(kind, path), message: 'a key must not contain NUL or a lone surrogate' })
  problems.push(...listExclusiveElements(kind, fields))
  const name = describeDeclaredObject(kindName, key)
  for (const { path, message, isUnknownField } of problems) report(path, `${name}: ${message}`, isUnknownField)
  for (const { path, message } of listNameProblems(kind, representation)) report(path, message)
  return fields
}

/** Returns a problem for each element that is in two relations that exclude each other, at the first of them. */
function listExclusiveElements(kind: Kind, fields: FlatFields): FieldProblem[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const other = kind.fields[name]?.exclusiveWith
    if (other === undefined || name > other) return []
    const otherKeys = readKeys(fields[other])
    const inBoth = readKeys(value).filter((key) => subtractKeys([key], otherKeys).length === 0)
    return inBoth.map((key) => ({
      path: [name],
      message: `${key.at(-1)} is in ${name} and in ${other}: keep it in one of them`,
    }))
  })
}

/** Returns a problem for each object that the document declares again. Declarations within one document are never merged. */
function listDuplicateObjects(objects: readonly DeclaredObject[]): DocumentProblem[] {
  const firstByAddress = new Map<string, DeclaredObject>()
  return objects
    .filter(({ key }) => !key.includes(''))
    .flatMap((object) => {
      const address = formatAddress(object.kind, object.key)
      const first = firstByAddress.get(address)
      if (!first) {
        firstByAddress.set(address, object)
        return []
      }
      const { place, position } = first.origin
      const firstPlace = place.file === position.file ? `${place.line}:${place.column}` : formatPosition(place)
      const name = describeObject(object.kind, object.key)
      return [
        {
          position: object.origin.place,
          message: `${name} is declared twice, first at ${firstPlace}: keep one of them`,
        },
      ]
    })
}

function removePath(value: Json, [step, ...rest]: DocumentPath): Json {
  if (isList(value)) return value.map((element, at) => (at === step ? removePath(element, rest) : element))
  if (!isObject(value)) return value
  const members = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    if (name !== step) return [[name, member]]
    return rest.length ? [[name, removePath(member, rest)]] : []
  })
  return Object.fromEntries(members)
}

/** Returns the output of a kind's schema, which has undefined for absent fields, as a representation. */
function toRepresentation(output: Readonly<Record<string, unknown>>): Representation {
  return Object.fromEntries(Object.entries(output).filter((entry): entry is [string, Json] => entry[1] !== undefined))
}
