// The schemas of values that Regent accepts in several forms or from Secrets, since structural schemas have no choice of types.
import type { Field } from '../../kinds/fields.ts'
import {
  isJsonSchema,
  type JsonSchema,
  type JsonSchemaOptions,
  readJsonSchema,
  toJsonSchema,
} from '../../kinds/json-schema.ts'
import type { Kind } from '../../kinds/kind.ts'
import { textFormats } from '../../kinds/text-formats.ts'
import { secretReference } from '../../realm-file/resources/resource-fields.ts'
import { ANY_VALUE, TYPE_TEXT, toStructuralSchema } from './structural-schema.ts'

/** A text in a map, which may be a number or boolean: the API server could only refuse a list or object with a misleading message. */
const STRING = { ...ANY_VALUE, [TYPE_TEXT]: 'a string' }
/** A text or whole number. The API server names the type of any other value. */
const TEXT = { 'x-kubernetes-int-or-string': true, [TYPE_TEXT]: STRING[TYPE_TEXT] }
/** The schemas of values by their type in OpenAPI. */
const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  string: STRING,
  boolean: { ...ANY_VALUE, pattern: '^(true|false)$', [TYPE_TEXT]: 'true or false' },
  integer: { 'x-kubernetes-int-or-string': true, pattern: '^-?[0-9]{1,15}$', [TYPE_TEXT]: 'an integer' },
  array: { ...ANY_VALUE, [TYPE_TEXT]: 'a list of strings, or one string' },
}

/** Options for schemas that accept each form of a value that documents may contain, such as a number in place of a string. */
export const CRD_SCHEMA_OPTIONS: JsonSchemaOptions = {
  target: 'draft-7',
  io: 'input',
  override(schema, _zodSchema, wire) {
    // For an enum, zod lists all values, including those of the legacy API.
    if (!wire || wire.enum) return
    for (const member of Object.keys(schema)) if (member !== 'description') delete schema[member]
    Object.assign(schema, wire.format === 'date-time' ? wire : SCHEMAS[String(wire.type)])
  },
}

/** Returns the schema of a kind with the restrictions of its fields, and with secrets that accept references to Kubernetes Secrets. */
export function addFieldFacts({ fields }: Pick<Kind, 'fields'>, schema: JsonSchema): JsonSchema {
  const properties = { ...readJsonSchema(schema.properties) }
  for (const [name, field] of Object.entries(fields))
    if (name in properties) properties[name] = addFactsOfField(field, readJsonSchema(properties[name]))
  return { ...schema, properties }
}

/** Elements of a list have descriptions of their own. In a map, any value may be secret. */
function addFactsOfField(field: Field, schema: JsonSchema): JsonSchema {
  const { members, secret, computed } = field
  return mapSchemas(schema, (part) => {
    if (members) return part.properties ? addFieldFacts({ fields: members }, part) : part
    if (part[TYPE_TEXT] !== STRING[TYPE_TEXT]) return part
    return secret && !computed ? SECRET : toTextSchema(field)
  })
}

/** Returns the schema of a text in a field. */
function toTextSchema({ type, format, values }: Field): JsonSchema {
  if (type === 'map' || type === 'json') return STRING
  if (values) return toChoice(values)
  if (!format) return TEXT
  const { title, pattern } = textFormats[format]
  return { ...TEXT, pattern: pattern.source, [TYPE_TEXT]: title }
}

/** Returns the schema of a text with one of the values. */
const toChoice = (values: readonly string[]): JsonSchema => ({
  type: 'string',
  pattern: `^(${values.join('|')})$`,
  [TYPE_TEXT]: `one of ${values.join(', ')}`,
})

const SECRET = {
  ...ANY_VALUE,
  required: ['secretKeyRef'],
  properties: { secretKeyRef: toStructuralSchema(toJsonSchema(secretReference, CRD_SCHEMA_OPTIONS), {}) },
  [TYPE_TEXT]: 'a string, or secretKeyRef with the name and key of a Secret',
}

/** Returns a schema that keeps unknown fields in all of its objects. */
export const keepUnknownFields = (schema: JsonSchema): JsonSchema =>
  mapSchemas(schema, (part) => (part.type === 'object' && part.properties ? { ...part, ...ANY_VALUE } : part))

/** Maps a schema and all schemas within it, innermost first. */
function mapSchemas(schema: JsonSchema, map: (part: JsonSchema) => JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => (isJsonSchema(value) ? map(value) : value))
}
