// Schemas of kinds as JSON schema: for OpenAPI, and for editors of documents.
import * as z from 'zod'

/** A JSON schema. */
export type JsonSchema = { [member: string]: unknown }

/** How a JSON schema is written. */
export interface JsonSchemaForm {
  readonly target: 'draft-2020-12' | 'draft-7'
  /** What is read in several forms is said in this one; given what the wire has, where that is one of them. */
  readonly io: 'input' | 'output'
  /** Changes what is said of one value. `wire`: what OpenAPI says of a value that is read in several forms. */
  readonly change: (jsonSchema: JsonSchema, zodSchema: z.core.$ZodTypes, wire: JsonSchema | undefined) => void
}

/** The JSON schema of one schema. */
export function jsonSchema(schema: z.ZodType, form: JsonSchemaForm): JsonSchema {
  return clean(z.toJSONSchema(schema, options(form)) as JsonSchema)
}

/** The JSON schemas of a registry, by id; they refer to each other by `uri`. */
export function jsonSchemas(
  registry: z.core.$ZodRegistry<{ id: string }>,
  uri: (id: string) => string,
  form: JsonSchemaForm,
): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, { ...options(form), uri })
  const named = Object.entries(schemas).filter(([id]) => id !== '__shared')
  return Object.fromEntries(named.map(([id, schema]) => [id, clean(schema as JsonSchema)]))
}

function options({ target, io, change }: JsonSchemaForm) {
  return {
    target,
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }) => {
      const wire = z.globalRegistry.get(zodSchema)?.wire as JsonSchema | undefined
      delete jsonSchema.wire
      change(jsonSchema, zodSchema, wire)
    },
  } as const
}

/** Any JSON value refers to itself, which zod writes as a schema of its own: nothing is said of it instead. */
function clean({ $schema: _, $id: __, ...schema }: JsonSchema): JsonSchema {
  const ofZod = /__shared#|__schema/
  const text = JSON.stringify(schema, (_key, value: JsonSchema) => {
    if (typeof value?.$ref === 'string' && ofZod.test(value.$ref)) return { ...value, $ref: undefined }
    return value
  })
  const { $defs: ___, definitions: ____, ...cleaned } = JSON.parse(text) as JsonSchema
  return cleaned
}
