// Bodies of requests: JSON as Jackson reads it, and its words for what is wrong.
import * as z from 'zod'
import { kinds } from '../kinds/index.ts'
import type { Kind } from '../kinds/kind.ts'
import { laterRealmFields } from '../kinds/realm.ts'
import { locate, scalarEnd } from '../lib/json-position.ts'
import { HttpError } from './errors.ts'

/** What the body of an operation must look like. */
export interface BodyForm {
  readonly schema: z.ZodType
  readonly description: string
  /** The kind of the object, or of the elements of the list, that the body is: errors name it. */
  readonly kind?: Kind
  /** What is said of whatever is wrong, where one sentence serves for everything. */
  readonly refusal?: string
}

/** The form of a body that is one object of the kind. */
export function objectBody(kind: Kind): BodyForm {
  return { schema: bodySchema(kind), description: `${kind.title}, as it shall be`, kind }
}

/** The form of a body that is a list of objects of the kind. */
export function listBody(kind: Kind): BodyForm {
  return { schema: z.array(bodySchema(kind)), description: `each ${kind.title}, as it shall be`, kind }
}

const schemas = new Map<Kind, z.ZodObject>()

/** The schema of a representation on input: its fields, its id, and its children. */
export function bodySchema(kind: Kind): z.ZodObject {
  const known = schemas.get(kind)
  if (known) return known
  const children = Object.entries(kind.children).map(([field, child]) => [
    field,
    childrenOf(kinds[child], bodySchema(kinds[child]))
      .nullish()
      .describe(`Each ${kinds[child].title} of the ${kind.title}.`),
  ])
  const later = Object.entries(kind.name === 'realm' ? laterRealmFields : {}).map(([field, description]) => [
    field,
    z.json().optional().describe(`Not managed yet: ${description}.`),
  ])
  const shape = {
    id: z.string().nullish().describe(`Id of the ${kind.title}; on creation a wish, otherwise without effect.`),
    ...kind.schema.shape,
    ...Object.fromEntries([...children, ...later]),
  } as z.ZodRawShape
  const schema = kind.lenient ? z.object(shape) : z.strictObject(shape)
  schemas.set(kind, schema)
  return schema
}

/** Children as they stand in a representation: a list; where they may also belong to another parent, lists by parent. */
export function childrenOf(child: Kind, one: z.ZodType): z.ZodType {
  if (!child.parentOptional) return z.array(one)
  const groups = child.parents.map((parent) => [
    parent,
    z.record(z.string(), z.array(one)).nullish().describe(`Lists by ${kinds[parent].title}.`),
  ])
  return z.strictObject({
    realm: z.array(one).nullish().describe('Those of the realm itself.'),
    ...Object.fromEntries(groups),
  })
}

/** The body as its form has it. Throws HttpError: the first thing that is wrong, in the order of the text. */
export function readBody(bytes: Buffer | undefined, form: BodyForm): unknown {
  const text = bytes?.toString('utf8') ?? ''
  const value = parse(text, form)
  const result = form.schema.safeParse(value)
  if (result.success) return result.data
  if (form.refusal) throw new HttpError(400, { errorMessage: form.refusal })
  const problems = result.error.issues.flatMap((issue) => positioned(text, issue))
  const first = problems.sort((a, b) => a.offset - b.offset)[0]!
  if (first.key === undefined) throw cannotParse('unknown_error')
  const name = kindAt(form.kind, first.path)?.representation ?? 'object'
  const where = `line ${lineOf(text, first.offset)} column ${columnOf(text, first.offset)}`
  throw new HttpError(400, {
    error: `Invalid json representation for ${name}. Unrecognized field "${first.key}" at ${where}.`,
  })
}

type Path = readonly (string | number)[]

function parse(text: string, form: BodyForm): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw form.refusal ? new HttpError(400, { errorMessage: form.refusal }) : cannotParse('invalid_request')
  }
}

function cannotParse(error: string): HttpError {
  return new HttpError(400, { error, error_description: 'Cannot parse the JSON' })
}

/** Keycloak: the position is where its parser stood: behind the bracket or quote that opens a value, or behind a scalar. */
function positioned(text: string, issue: z.core.$ZodIssue): { offset: number; path: Path; key?: string }[] {
  const path = issue.path as Path
  if (issue.code !== 'unrecognized_keys') return [{ offset: locate(text, path), path }]
  return issue.keys.map((key) => {
    const start = locate(text, [...path, key])
    const opens = /["[{]/.test(text[start] ?? '')
    return { offset: opens ? start + 1 : scalarEnd(text, start), path, key }
  })
}

function kindAt(kind: Kind | undefined, path: Path): Kind | undefined {
  const fields = path.filter((step) => typeof step === 'string')
  return fields.reduce<Kind | undefined>((at, field) => at && kinds[at.children[field]!], kind)
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** Keycloak: columns count bytes. */
function columnOf(text: string, offset: number): number {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return Buffer.byteLength(line) + 1
}
