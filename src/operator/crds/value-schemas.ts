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
import { secretReference } from '../../realm-file/resources/resource-fields.ts'
import { ANY_VALUE, TYPE_TEXT, toStructuralSchema } from './structural-schema.ts'

/** Any value except lists and objects. */
const SCALAR = { ...ANY_VALUE, maxItems: 0, maxProperties: 0 }
const STRING = { ...SCALAR, [TYPE_TEXT]: 'a string' }
/** The schemas of values by their type in OpenAPI. */
const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  string: STRING,
  boolean: { ...SCALAR, pattern: '^(true|false)$', [TYPE_TEXT]: 'true or false' },
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

/** Returns the schema of a kind with secrets that accept references to Kubernetes Secrets. */
export function allowSecretReferences({ fields }: Pick<Kind, 'fields'>, schema: JsonSchema): JsonSchema {
  const secrets = Object.entries(fields).filter(([, { secret, computed }]) => secret && !computed)
  const properties = { ...readJsonSchema(schema.properties) }
  for (const [name, field] of secrets) properties[name] = allowInField(field, readJsonSchema(properties[name]))
  return { ...schema, properties }
}

/** Elements of a list have descriptions of their own, which mark the secrets; in a map, any value may be secret. */
function allowInField({ members }: Field, schema: JsonSchema): JsonSchema {
  return mapSchemas(schema, (part) => {
    if (members && part.properties) return allowSecretReferences({ fields: members }, part)
    return !members && part[TYPE_TEXT] === STRING[TYPE_TEXT] ? SECRET : part
  })
}

const SECRET = {
  ...STRING,
  maxProperties: 1,
  required: ['secretKeyRef'],
  properties: { secretKeyRef: toStructuralSchema(toJsonSchema(secretReference, CRD_SCHEMA_OPTIONS), {}) },
  [TYPE_TEXT]: 'a string, or secretKeyRef with the name and key of a Secret',
}

/** Maps a schema and all schemas within it, innermost first. */
function mapSchemas(schema: JsonSchema, map: (part: JsonSchema) => JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => (isJsonSchema(value) ? map(value) : value))
}
