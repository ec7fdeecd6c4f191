// Converts schemas of zod to JSON schemas, for OpenAPI, CRDs and editors.
import * as z from 'zod'
import type { Json } from './json.ts'

/** A JSON schema, or an object with schemas by name. */
export type JsonSchema = { [member: string]: unknown }

/** The schemas with a name in OpenAPI. Keycloak: the names in its OpenAPI document. */
export const namedSchemas = z.registry<{ id: string }>()

const names = new Set<string>()

/** Gives a schema its name in OpenAPI. */
export function nameSchema<S extends z.ZodType>(id: string, schema: S): S {
  names.add(id)
  namedSchemas.add(schema as z.ZodType, { id })
  return schema
}

/** Whether a schema has the name in OpenAPI. */
export const isSchemaName = (id: string): boolean => names.has(id)

/** Returns the reference to a schema with a name in OpenAPI. */
export const toReference = (name: string): string => `#/components/schemas/${name}`

/** Returns a schema that accepts any JSON value. In OpenAPI, it refers to a schema with a name. */
export function anyRepresentation(name: string): z.ZodType<Json> {
  return z.any().meta({ wire: { $ref: toReference(name) } })
}

/** Returns a schema that accepts any JSON value. In OpenAPI, it is a list of elements with a schema of that name. */
export function anyRepresentations(name: string): z.ZodType<Json> {
  return z.any().meta({ wire: { type: 'array', items: { $ref: toReference(name) } } })
}

/** A schema that accepts any JSON value. In OpenAPI, it is an object with any fields. */
export const anyObject: z.ZodType<Json> = z.any().meta({ wire: { type: 'object', additionalProperties: {} } })

/** Options for the conversion to JSON schemas. */
export interface JsonSchemaOptions {
  readonly target: 'draft-2020-12' | 'draft-7'
  /** Whether a value that is accepted in several forms is described as it is accepted, or as it is returned. */
  readonly io: 'input' | 'output'
  /** Changes the JSON schema of one value. `wire` is its schema in OpenAPI, for a value that is accepted in several forms. */
  readonly override: (jsonSchema: JsonSchema, zodSchema: z.core.$ZodTypes, wire: JsonSchema | undefined) => void
}

/** Whether a value is an object, and thus may be a JSON schema. */
export const isJsonSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the JSON schema, or an empty one for any other value. */
export const readJsonSchema = (value: unknown): JsonSchema => (isJsonSchema(value) ? value : {})

/** Converts a zod schema to a JSON schema. */
export function toJsonSchema(schema: z.ZodType, options: JsonSchemaOptions): JsonSchema {
  return removeInternals(z.toJSONSchema(schema, toZodOptions(options)))
}

/** Converts the schemas of a registry, by id. `uri` returns the reference to the schema with an id. */
export function toJsonSchemas(
  registry: z.core.$ZodRegistry<{ id: string }>,
  uri: (id: string) => string,
  options: JsonSchemaOptions,
): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, { ...toZodOptions(options), uri })
  const registered = Object.entries(schemas).filter(([id]) => id !== '__shared')
  return Object.fromEntries(registered.map(([id, schema]) => [id, removeInternals(schema)]))
}

function toZodOptions({ target, io, override }: JsonSchemaOptions) {
  return {
    target,
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }) => {
      const wire = z.globalRegistry.get(zodSchema)?.wire
      delete jsonSchema.wire
      // The keyword is newer than draft 7.
      if (target === 'draft-7') delete jsonSchema.deprecated
      override(jsonSchema, zodSchema, isJsonSchema(wire) ? wire : undefined)
    },
  } as const
}

/** Removes what zod adds: its own id, and references to its own schema of JSON values, which become a schema without restrictions. */
function removeInternals({ $schema: _, $id: __, ...schema }: JsonSchema): JsonSchema {
  const internal = /__shared#|__schema/
  const text = JSON.stringify(schema, (_key, value: unknown) =>
    isJsonSchema(value) && typeof value.$ref === 'string' && internal.test(value.$ref)
      ? { ...value, $ref: undefined }
      : value,
  )
  const { $defs: ___, definitions: ____, ...cleaned }: JsonSchema = JSON.parse(text)
  return cleaned
}
