// Request bodies: JSON that is validated by a schema, texts and forms.
import * as z from 'zod'
import { isStorable } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import { getPluralTitle, type Kind, type KindName } from '../kinds/kind.ts'
import { nestedShape } from '../kinds/nested-schema.ts'
import { getDocumentSchemas } from '../realm-file/convert-formats.ts'
import { HttpError } from './errors.ts'
import { isStorableJson } from './storable.ts'

/** The description of an operation's request body. */
export interface BodyForm {
  readonly schema: z.ZodType
  readonly description: string
  /** The kind of the object, or of the elements of a list. Errors name it. */
  readonly kind?: Kind
  /** The schema in OpenAPI, if it differs from the one that validates the body. */
  readonly documented?: z.ZodType
  /** The name of the representation in errors, if the body has no kind. */
  readonly representation?: string | ((path: Path) => string)
  /** The body is one text, with or without quotes. Keycloak: its media type is ignored. */
  readonly text?: true
  /** The body is of type text/plain. */
  readonly plain?: true
  /** Other media types that are accepted for a plain text. */
  readonly types?: readonly string[]
  /** The only media type that is accepted. */
  readonly onlyType?: string
  /** The body is a form with text fields. Keycloak: a body of another type has no fields. */
  readonly isForm?: true
  /** The body may also be a form that has the JSON in this field. */
  readonly formField?: string
  /** The body may also be a form with the members of the JSON as fields. */
  readonly acceptsForm?: true
  /** The body may be absent. */
  readonly optional?: true
  /** Errors name the wrong field, which Keycloak's do not. */
  readonly namesFields?: true
  /** The message of every error, if one serves for all. */
  readonly refusal?: string
}

/** Describes a body that is one object of the kind. */
export function objectBody(kind: Kind): BodyForm {
  return { schema: bodySchema(kind), description: `The ${kind.title}.`, kind }
}

/** Describes a body that is a list of objects of the kind. */
export function listBody(kind: Kind): BodyForm {
  return { schema: z.array(bodySchema(kind)), description: `The ${getPluralTitle(kind)}.`, kind }
}

const schemas = new Map<Kind, z.ZodObject>()

/** Returns the schema of a representation on input: its fields, its id, and its children. */
export function bodySchema(kind: Kind): z.ZodObject {
  const cached = schemas.get(kind)
  if (cached) return cached
  const nested = nestedShape(kind, bodySchema)
  const shape = kind.name === 'realm' ? { ...nested, ...listNestedChildSchemas() } : nested
  const schema = kind.ignoresUnknownFields ? z.object(shape) : z.strictObject(shape)
  schemas.set(kind, schema)
  return schema
}

/** Returns the schemas of `getChildSchemas`, also for children within them. */
function listNestedChildSchemas(): z.ZodRawShape {
  const schemaOf = (name: KindName): z.ZodType =>
    z.lazy(() => z.strictObject({ ...bodySchema(kinds[name]).shape, ...optional(getDocumentSchemas(name, schemaOf)) }))
  return optional(getChildSchemas(schemaOf))
}

/** Returns the schemas of the fields with children of a realm that are not plain lists of one kind, such as `roles`, by field. */
export function getChildSchemas(schemaOf: (kind: KindName) => z.ZodType): Record<string, z.ZodType> {
  const shapes = Object.entries(getDocumentSchemas('realm', schemaOf))
  return Object.fromEntries(shapes.filter(([field]) => Object.hasOwn(kinds.realm.children, field)))
}

function optional(shapes: Record<string, z.ZodType>): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shapes).map(([field, schema]) => [field, schema.nullish()]))
}

/** Parses a body. @throws HttpError 400; an unknown field is reported before other problems. */
export function readBody(bytes: Buffer | undefined, form: BodyForm): unknown {
  // Keycloak: a byte order mark, which some clients send, is ignored.
  const text = (bytes?.toString('utf8') ?? '').replace(/^\ufeff/, '')
  if (text === '' && form.optional) return undefined
  if (form.text) return text.trim().replace(/^"(.*)"$/s, '$1')
  const value = form.plain ? text : parse(text, form)
  if (form.plain && !isStorable(text)) throw parseError('unknown_error')
  const result = form.schema.safeParse(value)
  if (result.success) return result.data
  if (form.refusal) throw new HttpError(400, { errorMessage: form.refusal })
  const unknown = result.error.issues.find((issue) => issue.code === 'unrecognized_keys')
  if (!unknown) throw form.namesFields ? fieldError(result.error.issues[0]!, value) : parseError('unknown_error')
  const owner = unknown.path as Path
  const { representation = 'object' } = form
  const representationName = typeof representation === 'string' ? representation : representation(owner)
  const name = findKind(form.kind, owner)?.representation ?? representationName
  const [field] = unknown.keys
  const position = locateField(text, [...owner, field!])
  throw new HttpError(400, {
    error: `Invalid json representation for ${name}. Unrecognized field "${field}"${position}.`,
  })
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Returns the words for the position of a field's value in valid JSON. Keycloak: its parser stops after a number, true, false or null, and after the
 * first character of any other value.
 */
function locateField(text: string, path: Path): string {
  const levels: { readonly isList: boolean; step: string | number }[] = []
  let isKeyNext = false
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const level = levels.at(-1)
    if (token === '}' || token === ']') levels.pop()
    else if (token === ':') isKeyNext = false
    else if (token === ',' && level) {
      isKeyNext = !level.isList
      if (typeof level.step === 'number') level.step++
    } else if (isKeyNext && level) level.step = String(JSON.parse(token))
    else {
      if (levels.length === path.length && levels.every(({ step }, at) => step === path[at]))
        return describePosition(text, index + (/^["{[]/.test(token) ? 1 : token.length))
      if (token === '{' || token === '[') levels.push({ isList: token === '[', step: token === '[' ? 0 : '' })
      isKeyNext = token === '{'
    }
  }
  return ''
}

function describePosition(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n')
  return ` at line ${lines.length} column ${lines.at(-1)!.length + 1}`
}

function fieldError({ path, message }: z.core.$ZodIssue, body: unknown): HttpError {
  const field = path.join('.')
  const isMissing = path.reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown>)[step], body) === undefined
  const problem = isMissing ? 'is missing' : `is not valid (${message.replace('Invalid input: ', '')})`
  const error_description = field
    ? `The field ${field} of the request body ${problem}.`
    : `The request body ${problem}.`
  return new HttpError(400, { error: 'invalid_request', error_description })
}

type Path = readonly (string | number)[]

/** Parses JSON. @throws HttpError 400, also for texts that the store cannot hold, in values and keys. */
function parse(text: string, form: BodyForm): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw form.refusal ? new HttpError(400, { errorMessage: form.refusal }) : parseError('invalid_request')
  }
  // The validation of the body would drop this name.
  if (/"__proto__"\s*:/.test(text)) throw new HttpError(400, { error: 'The name "__proto__" is not supported.' })
  if (isStorableJson(text)) return value
  throw form.refusal ? new HttpError(400, { errorMessage: form.refusal }) : parseError('unknown_error')
}

function parseError(error: string): HttpError {
  return new HttpError(400, { error, error_description: 'Cannot parse the JSON' })
}

function findKind(kind: Kind | undefined, path: Path): Kind | undefined {
  const fields = path.filter((step) => typeof step === 'string')
  return fields.reduce<Kind | undefined>((at, field) => at && kinds[at.children[field]!], kind)
}
