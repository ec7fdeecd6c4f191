// What the schema of a kind refuses, in words that say what would be right.
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/json.ts'
import type { Kind } from '../kinds/kind.ts'
import { RENAMED_FROM } from '../kinds/tree.ts'
import { nearest } from '../lib/nearest.ts'
import type { Path } from '../lib/position.ts'
import { anyOf, found, withArticle } from './words.ts'

/** One thing that is wrong in an object, and where in it. */
export interface FieldProblem {
  readonly path: Path
  readonly message: string
  /** A field that the kind does not have: a document can do without it. */
  readonly unknown?: true
}

/** What zod says, as far as it matters here. */
export interface Issue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
  readonly expected?: string
  readonly values?: readonly unknown[]
  readonly errors?: readonly (readonly Issue[])[]
}

/** What the schema says against an object, which is everything about the names and types of its fields. */
export function fieldProblems(kind: Kind, representation: Representation, issues: readonly Issue[]): FieldProblem[] {
  return issues.flatMap((issue) => explain(kind, representation, issue))
}

/** What is wrong with an object's natural key, or that it has none. */
export function nameProblems(kind: Kind, representation: Representation): FieldProblem[] {
  const { naturalKey } = kind
  const name = representation[naturalKey] ?? ''
  // A whole number has one way to be written; 1.10 would become 1.1.
  if (typeof name === 'boolean' || (typeof name === 'number' && !Number.isSafeInteger(name)))
    return [
      {
        path: [naturalKey],
        message: `${kind.title}: ${naturalKey} must be a text, not ${found(name)}: put it in quotes`,
      },
    ]
  if (name !== '' || Object.keys(representation).some((key) => meant(kind, [], key) === naturalKey)) return []
  return [{ path: [], message: `${withArticle(kind.title)} needs a name: add "${naturalKey}: <name>"` }]
}

function explain(kind: Kind, representation: Representation, issue: Issue): FieldProblem[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  if (issue.code === 'unrecognized_keys')
    return (issue.keys ?? []).map((key) => ({
      path: [...path, key],
      message: unknownField(kind, path, key),
      unknown: true,
    }))
  return [fieldProblem(representation, issue)]
}

/** What is wrong with a value, in whatever it stands. */
export function fieldProblem(around: Representation, issue: Issue): FieldProblem {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const value = valueAt(around, path)
  const message = isSecretReference(value) ? SECRET_REFERENCE : expectation(issue, value)
  return { path, message: `${shown(path)} ${message}` }
}

const SECRET_REFERENCE =
  'names a Secret of Kubernetes, which nobody can read here: state the value, as a variable such as $(env:NAME)'

function isSecretReference(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'secretKeyRef'
}

function unknownField(kind: Kind, path: Path, key: string): string {
  const unknown = `unknown field ${shown([...path, key])}`
  const near = meant(kind, path, key)
  if (near !== undefined) return `${unknown}; did you mean ${near}?`
  const owner = Object.values(kinds).find((other) => knownFields(other, []).includes(key))
  if (owner && !path.length)
    return `${unknown}: ${withArticle(owner.title)} has it, ${withArticle(kind.title)} has not; is the indentation right?`
  const known = knownFields(kind, path)
  return known.length > 12 ? `${unknown}: remove it` : `${unknown}: there are ${anyOf(known, 'and')}`
}

/** The field that an unknown one was probably meant to be. */
function meant(kind: Kind, path: Path, key: string): string | undefined {
  return !path.length && Object.hasOwn(kind.fields, key) ? undefined : nearest(key, knownFields(kind, path))
}

function knownFields(kind: Kind, path: Path): string[] {
  const own = kind.fields[String(path[0])]
  const shape = own && (own.members ?? (own.schema as { shape?: object }).shape)
  const fields = path.length
    ? (shape ?? {})
    : { ...kind.fields, ...kind.children, ...kind.forms, [kind.idField]: {}, [RENAMED_FROM]: {} }
  return Object.entries(fields).flatMap(([name, field]) =>
    (field as { computed?: true }).computed && name !== kind.parentField ? [] : [name],
  )
}

/** What would be right, and what is there instead. */
function expectation(issue: Issue, value: unknown): string {
  // The first form of a union is the usual one; the others are read for the sake of clients.
  const usual = issue.code === 'invalid_union' ? issue.errors?.[0]?.[0] : undefined
  if (usual) return expectation(usual, value)
  const right = wanted(issue)
  if (right === undefined) return issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
  if (issue.code === 'invalid_value' && typeof value === 'string') {
    const near = nearest(value, (issue.values ?? []).map(String))
    return `must be ${right}${near === undefined ? '' : `; did you mean ${near}?`}`
  }
  return typeof value === 'number' && right.startsWith('a whole number')
    ? `must be ${right}`
    : `must be ${right}, not ${found(value)}`
}

function wanted({ code, expected, values }: Issue): string | undefined {
  if (code === 'invalid_value') return anyOf((values ?? []).map(String))
  if (code === 'too_big' || code === 'too_small') return 'a whole number of at most 15 digits'
  return code === 'invalid_type' ? types[expected ?? ''] : undefined
}

const types: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a whole number',
  array: 'a list',
  record: 'an object',
  object: 'an object',
}

/** `authenticationExecutions[0].requirement`. */
function shown(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at ? '.' : ''}${step}`)).join('')
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((node, step) => (node as Record<string | number, unknown> | undefined)?.[step], value)
}
