// Problems with the fields of declared objects, with advice.
import type { ZodType } from 'zod'
import type { Field } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import { isEmpty, isObject, type Json, type Representation, readPath } from '../kinds/json.ts'
import { getPluralTitle, type Kind } from '../kinds/kind.ts'
import { describeObject, RENAMED_FROM, type TreeObject } from '../kinds/tree.ts'
import { findNearestWord } from '../lib/nearest-word.ts'
import type { DocumentPath } from '../lib/source-position.ts'
import { addArticle, describeType, joinWords } from './message-words.ts'
import type { Document } from './yaml/document.ts'
import type { DocumentWarning } from './yaml/problem.ts'

/** A problem in an object, with the path in it. */
export interface FieldProblem {
  readonly path: DocumentPath
  readonly message: string
  /** The kind does not have the field, which can be ignored. */
  readonly isUnknownField?: true
}

/** The part of an issue of zod that is used here. */
export interface SchemaIssue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
  readonly expected?: string
  readonly values?: readonly unknown[]
  readonly errors?: readonly (readonly SchemaIssue[])[]
}

/** Returns the problems with the names and types of an object's fields, from the issues of its schema. */
export function listFieldProblems(
  kind: Kind,
  representation: Representation,
  issues: readonly SchemaIssue[],
): FieldProblem[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [toFieldProblem(representation, issue)]
    const path = toPath(issue)
    return (issue.keys ?? []).map((key) => ({
      path: [...path, key],
      message: describeUnknownField(kind, path, key),
      isUnknownField: true as const,
    }))
  })
}

/** Returns the problem with an object's natural key, if it is missing or not a string. */
export function listNameProblems(kind: Kind, representation: Representation): FieldProblem[] {
  const { naturalKey } = kind
  const name = representation[naturalKey] ?? ''
  // A whole number is accepted, since it has one spelling; 1.10 would become 1.1.
  if (typeof name === 'boolean' || (typeof name === 'number' && !Number.isSafeInteger(name)))
    return [
      {
        path: [naturalKey],
        message: `${kind.title}: ${naturalKey} must be a string, not ${describeType(name)}: put it in quotes`,
      },
    ]
  const placeholder = kind.name === 'realm' ? describePlaceholder(name) : undefined
  if (placeholder) return [{ path: [naturalKey], message: `${kind.title}: ${placeholder}` }]
  const isMisspelt = Object.keys(representation).some((key) => findIntendedField(kind, [], key) === naturalKey)
  if (name !== '' || isMisspelt) return []
  return [{ path: [], message: `${addArticle(kind.title)} needs a name: add "${naturalKey}: <name>"` }]
}

/** Returns the problem with a value of a representation, from an issue of its schema. */
export function toFieldProblem(representation: Representation, issue: SchemaIssue): FieldProblem {
  const path = toPath(issue)
  const value = readPath(representation, path)
  const message = isSecretReference(value) ? SECRET_REFERENCE : describeMismatch(issue, value)
  const placeholder = describePlaceholder(value)
  return { path, message: `${formatPath(path)} ${message}${placeholder === undefined ? '' : `; ${placeholder}`}` }
}

/** Returns advice for a text with a placeholder such as `${NAME}`, which Keycloak's import replaces; undefined for others. */
function describePlaceholder(value: Json | undefined): string | undefined {
  const [placeholder, name] = (typeof value === 'string' && /\$\{(?:env\.)?(\w+)(?::[^}]*)?\}/.exec(value)) || []
  return placeholder && `${placeholder} is not replaced: write $(env:${name})`
}

/**
 * Returns warnings for declared fields that are ignored, since they are from an early version of Keycloak: one for each field, in the
 * order of the file.
 */
export function listIgnoredFieldWarnings(
  document: Pick<Document, 'locate'>,
  objects: readonly TreeObject[],
): DocumentWarning[] {
  const ignored = objects.flatMap(({ kind, key, representation, path }) =>
    Object.entries(representation)
      .filter(([field, value]) => kinds[kind].fields[field]?.legacy && value !== false && !isEmpty(value))
      .map(([field]) => ({ kind, field, name: describeObject(kind, key), path: [...path, field] })),
  )
  const warnings = [...Map.groupBy(ignored, ({ kind, field }) => `${kind} ${field}`).values()].map((group) => {
    const { kind, field, name, path } = group[0]!
    const owner = group.length === 1 ? name : `${group.length} ${getPluralTitle(kinds[kind])}`
    const described = kind === 'realm' ? field : `${field} of ${owner}`
    return {
      position: document.locate(path),
      message: `${described} is from an early version of Keycloak and is ignored`,
      effect: 'dropped' as const,
    }
  })
  return warnings.sort((a, b) => a.position.line - b.position.line)
}

const toPath = ({ path }: SchemaIssue): DocumentPath =>
  path.map((step) => (typeof step === 'symbol' ? String(step) : step))

const SECRET_REFERENCE =
  'refers to a Kubernetes Secret, which is read only in a cluster: declare the value, as a variable such as $(env:NAME)'

function isSecretReference(value: Json | undefined): boolean {
  return isObject(value) && Object.keys(value).join() === 'secretKeyRef'
}

function describeUnknownField(kind: Kind, path: DocumentPath, key: string): string {
  const problem = `unknown field ${formatPath([...path, key])}`
  const intended = findIntendedField(kind, path, key)
  if (intended !== undefined) return `${problem}; did you mean ${intended}?`
  const owner = Object.values(kinds).find((other) => listFieldNames(other, []).includes(key))
  if (owner && !path.length)
    return `${problem}: ${addArticle(owner.title)} has it, but not ${addArticle(kind.title)}; is the indentation right?`
  const names = listFieldNames(kind, path)
  return names.length > 12 ? `${problem}: remove it` : `${problem}: the fields are ${joinWords(names, 'and')}`
}

/** Returns the field with the name most similar to an unknown one. */
function findIntendedField(kind: Kind, path: DocumentPath, key: string): string | undefined {
  return !path.length && Object.hasOwn(kind.fields, key) ? undefined : findNearestWord(key, listFieldNames(kind, path))
}

/** Returns the names of the fields that documents may declare, of the object or of the elements of a field. */
function listFieldNames(kind: Kind, path: DocumentPath): string[] {
  if (path.length) return listMemberNames(kind.fields[String(path[0])])
  const additional = { ...kind.children, ...kind.alternativeFields, [kind.idField]: '', [RENAMED_FROM]: '' }
  return Object.keys({ ...kind.fields, ...additional }).filter(
    (name) => Object.hasOwn(additional, name) || !kind.fields[name]?.computed || name === kind.parentField,
  )
}

function listMemberNames(field: Field | undefined): string[] {
  if (!field) return []
  const members = Object.entries(field.members ?? {})
  if (members.length) return members.filter(([, member]) => !member.computed).map(([name]) => name)
  return Object.keys(getShape(field.schema))
}

const getShape = (schema: ZodType): object =>
  'shape' in schema && typeof schema.shape === 'object' ? (schema.shape ?? {}) : {}

/** Describes the expected value, and the type of the declared one. */
function describeMismatch(issue: SchemaIssue, value: Json | undefined): string {
  // The first alternative of a union is the documented one; the others are accepted for compatibility.
  const documented = issue.code === 'invalid_union' ? issue.errors?.[0]?.[0] : undefined
  if (documented) return describeMismatch(documented, value)
  const expected = describeExpected(issue)
  if (expected === undefined) return issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
  if (issue.code === 'invalid_value' && typeof value === 'string') {
    const intended = findNearestWord(value, (issue.values ?? []).map(String))
    return `must be ${expected}${intended === undefined ? '' : `; did you mean ${intended}?`}`
  }
  return typeof value === 'number' && expected.startsWith('a whole number')
    ? `must be ${expected}`
    : `must be ${expected}, not ${describeType(value)}${adviseValue(expected, value)}`
}

/** Returns the value that was probably meant: YAML 1.2 has neither \`yes\` nor durations. */
function adviseValue(expected: string, value: Json | undefined): string {
  if (typeof value !== 'string') return ''
  if (expected === types.boolean && /^(yes|on|no|off)$/i.test(value))
    return `: write ${/^(yes|on)$/i.test(value)} instead of ${value}`
  const [, count, unit] = /^(\d{1,6})\s*([smhd])$/.exec(value) ?? []
  if (expected.startsWith('a whole number') && unit) return `: in seconds, that is ${Number(count) * SECONDS[unit]!}`
  return expected === types.array ? ': write [ ] around it, or a line for each element that begins with "- "' : ''
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

function describeExpected({ code, expected, values }: SchemaIssue): string | undefined {
  if (code === 'invalid_value') return joinWords((values ?? []).map(String))
  if (code === 'too_big' || code === 'too_small') return 'a whole number of at most 15 digits'
  return code === 'invalid_type' ? types[expected ?? ''] : undefined
}

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a whole number',
  array: 'a list',
  record: 'an object',
  object: 'an object',
}

/** Formats a path: `authenticationExecutions[0].requirement`. */
function formatPath(path: DocumentPath): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at ? '.' : ''}${step}`)).join('')
}
