// JSON schemas of objects in documents, from the table of kinds.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { type JsonSchema, type JsonSchemaOptions, toJsonSchemas } from '../../kinds/json-schema.ts'
import type { Kind } from '../../kinds/kind.ts'
import { nestedShape } from '../../kinds/nested-schema.ts'
import { RENAMED_FROM } from '../../kinds/tree.ts'
import { getDocumentSchemas } from '../convert-formats.ts'

/** Returns the JSON schemas of all kinds by name. `toReference` returns the reference to the schema of a kind. */
export function createObjectSchemas(
  toReference: (kind: string) => string,
  options: JsonSchemaOptions,
): Record<string, JsonSchema> {
  const schemas = toJsonSchemas(registerSchemas(), toReference, options)
  // A resource of a realm may omit its name, since the name of the resource is the default.
  const kindsWithNameField = Object.values(kinds).filter(
    ({ name, naturalKey, nameField }) => name !== 'realm' && nameField === naturalKey,
  )
  for (const { name, nameField } of kindsWithNameField) schemas[name]!.required = [nameField]
  return schemas
}

const renamedFrom = {
  [RENAMED_FROM]: z
    .string()
    .min(1)
    .optional()
    .describe('Former name. A live object with this name is renamed; afterwards the field has no effect.'),
}

/** Registers a schema for each kind: its representation with children, without other fields. */
function registerSchemas(): z.core.$ZodRegistry<{ id: string }> {
  const registry = z.registry<{ id: string }>()
  const registered = new Map<Kind, z.ZodType>()
  function getSchema(kind: Kind): z.ZodType {
    const existing = registered.get(kind)
    if (existing) return existing
    const shape = { ...nestedShape(kind, getSchema), ...getSeparateFields(kind) }
    const documentSchemas = Object.entries(
      getDocumentSchemas(kind.name, (name) => z.lazy(() => getSchema(kinds[name]))),
    )
    const documentShape = documentSchemas.map(([name, schema]) => [
      name,
      schema.nullish().describe(schema.description ?? getDescription(shape[name])),
    ])
    const schema = z
      .strictObject({ ...shape, ...Object.fromEntries(documentShape), ...renamedFrom })
      .describe(`A ${kind.title}.`)
      .register(registry, { id: kind.name })
    registered.set(kind, schema)
    return schema
  }
  for (const kind of Object.values(kinds)) getSchema(kind)
  return registry
}

/** Returns the fields that documents have, but not representations in REST. */
function getSeparateFields({ fields, schema }: Kind): z.ZodRawShape {
  return Object.fromEntries(Object.entries(schema.shape).filter(([name]) => fields[name]?.isSeparate))
}

const getDescription = (schema: unknown): string => (schema instanceof z.ZodType ? (schema.description ?? '') : '')
