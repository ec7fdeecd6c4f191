// How values are described that Regent reads in several forms, or that stand elsewhere: Kubernetes knows no choice of types.
import type { Field } from '../../kinds/fields.ts'
import { type JsonSchema, type JsonSchemaOptions, toJsonSchema } from '../../kinds/json-schema.ts'
import type { Kind } from '../../kinds/kind.ts'
import { secretReference } from '../../realm-file/resources/resource-fields.ts'
import { ANYTHING, structural, WORDS } from './structural.ts'

/** One value, and neither a list nor an object. */
const SCALAR = { ...ANYTHING, maxItems: 0, maxProperties: 0 }
const TEXT = { ...SCALAR, [WORDS]: 'a text' }
const FORMS: Readonly<Record<string, JsonSchema>> = {
  string: TEXT,
  boolean: { ...SCALAR, pattern: '^(true|false)$', [WORDS]: 'true or false' },
  integer: { 'x-kubernetes-int-or-string': true, pattern: '^-?[0-9]{1,15}$', [WORDS]: 'a whole number' },
  array: { ...ANYTHING, [WORDS]: 'a list of texts, or one of them' },
}

/** JSON schemas that let pass what documents may say. Whoever types a text as a number is understood, as in any document. */
export const VALUES: JsonSchemaOptions = {
  target: 'draft-7',
  io: 'input',
  override(schema, _zodSchema, wire) {
    // Of choices zod says all, also those of earlier forms.
    if (!wire || wire.enum) return
    for (const member of Object.keys(schema)) if (member !== 'description') delete schema[member]
    Object.assign(schema, wire.format === 'date-time' ? wire : FORMS[String(wire.type)])
  },
}

/** The schema of a kind, whose secrets may stand in Secrets of Kubernetes. */
export function withSecrets({ fields }: Pick<Kind, 'fields'>, schema: JsonSchema): JsonSchema {
  const secrets = Object.entries(fields).filter(([, { secret, computed }]) => secret && !computed)
  const properties = { ...(schema.properties as Record<string, JsonSchema>) }
  for (const [name, field] of secrets) properties[name] = secretIn(field, properties[name]!)
  return { ...schema, properties }
}

/** A list says of its members which of them are secret; of a map, it depends on the key. */
function secretIn({ members }: Field, schema: JsonSchema): JsonSchema {
  return changed(schema, (one) => {
    if (members && one.properties) return withSecrets({ fields: members }, one)
    return !members && one[WORDS] === TEXT[WORDS] ? SECRET : one
  })
}

const SECRET = {
  ...TEXT,
  maxProperties: 1,
  required: ['secretKeyRef'],
  properties: { secretKeyRef: structural(toJsonSchema(secretReference, VALUES), {}) },
  [WORDS]: 'a text, or secretKeyRef with name and key of a Secret',
}

/** The schema with each schema in it changed. */
function changed(schema: JsonSchema, change: (one: JsonSchema) => JsonSchema): JsonSchema {
  const isSchema = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  return JSON.parse(JSON.stringify(schema), (_key, value) => (isSchema(value) ? change(value) : value))
}
