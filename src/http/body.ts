// Bodies of requests: JSON that its schema checks, texts and forms.
import * as z from 'zod'
import { isStorable } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Kind, KindName } from '../kinds/kind.ts'
import { nestedShape } from '../kinds/nested-schema.ts'
import { getDocumentSchemas } from '../realm-file/convert-formats.ts'
import { HttpError } from './errors.ts'
import { isStorableJson } from './storable.ts'

/** What the body of an operation must look like. */
export interface BodyForm {
  readonly schema: z.ZodType
  readonly description: string
  /** The kind of the object, or of the elements of the list, that the body is: errors name it. */
  readonly kind?: Kind
  /** What errors name it by, where it is of no kind. */
  readonly representation?: string | ((path: Path) => string)
  /** The body is one text, in quotes or without. Keycloak: whatever its type says. */
  readonly text?: true
  /** The body is a plain text, and its type says so. */
  readonly plain?: true
  /** Other types that a plain text may have. */
  readonly types?: readonly string[]
  /** The body may also be a form, with the JSON in this field. */
  readonly formField?: string
  /** There may be no body. */
  readonly optional?: true
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
  const usual = nestedShape(kind, bodySchema)
  const shape = kind.name === 'realm' ? { ...usual, ...listed() } : usual
  const schema = kind.ignoresUnknownFields ? z.object(shape) : z.strictObject(shape)
  schemas.set(kind, schema)
  return schema
}

/** The children of a realm that documents list otherwise than one after the other, and those within them. */
function listed(): z.ZodRawShape {
  const whole = (name: KindName): z.ZodType =>
    z.lazy(() => z.strictObject({ ...bodySchema(kinds[name]).shape, ...optional(getDocumentSchemas(name, whole)) }))
  return optional(childShapes(whole))
}

/** How documents write children of a realm, where that is no list of them. */
export function childShapes(schemaOf: (kind: KindName) => z.ZodType): Record<string, z.ZodType> {
  const shapes = Object.entries(getDocumentSchemas('realm', schemaOf))
  return Object.fromEntries(shapes.filter(([field]) => Object.hasOwn(kinds.realm.children, field)))
}

function optional(shapes: Record<string, z.ZodType>): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shapes).map(([field, one]) => [field, one.nullish()]))
}

/** Returns the body as its form has it. Throws HttpError: a field that does not exist is named before other problems. */
export function readBody(bytes: Buffer | undefined, form: BodyForm): unknown {
  const text = bytes?.toString('utf8') ?? ''
  if (text === '' && form.optional) return undefined
  if (form.text) return text.trim().replace(/^"(.*)"$/s, '$1')
  const value = form.plain ? text : parse(text, form)
  if (form.plain && !isStorable(text)) throw cannotParse('unknown_error')
  const result = form.schema.safeParse(value)
  if (result.success) return result.data
  if (form.refusal) throw new HttpError(400, { errorMessage: form.refusal })
  const unknown = result.error.issues.find((issue) => issue.code === 'unrecognized_keys')
  if (!unknown) throw cannotParse('unknown_error')
  const owner = unknown.path as Path
  const { representation = 'object' } = form
  const named = typeof representation === 'string' ? representation : representation(owner)
  const name = kindAt(form.kind, owner)?.representation ?? named
  throw new HttpError(400, {
    error: `Unrecognized field "${unknown.keys[0]}" in ${name}. Remove it, or correct its name.`,
  })
}

type Path = readonly (string | number)[]

/** What cannot be kept is refused here, wherever it stands: in values, keys of maps and names of fields. */
function parse(text: string, form: BodyForm): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw form.refusal ? new HttpError(400, { errorMessage: form.refusal }) : cannotParse('invalid_request')
  }
  if (isStorableJson(text)) return value
  throw form.refusal ? new HttpError(400, { errorMessage: form.refusal }) : cannotParse('unknown_error')
}

function cannotParse(error: string): HttpError {
  return new HttpError(400, { error, error_description: 'Cannot parse the JSON' })
}

function kindAt(kind: Kind | undefined, path: Path): Kind | undefined {
  const fields = path.filter((step) => typeof step === 'string')
  return fields.reduce<Kind | undefined>((at, field) => at && kinds[at.children[field]!], kind)
}
