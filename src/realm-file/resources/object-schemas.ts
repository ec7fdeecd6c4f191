// Schemas of objects as documents write them: made of the table of kinds.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { type JsonSchema, type JsonSchemaForm, jsonSchemas } from '../../kinds/json-schema.ts'
import type { Kind } from '../../kinds/kind.ts'
import { nestedShape } from '../../kinds/nested.ts'
import { RENAMED_FROM } from '../../kinds/tree.ts'
import { shapeOf } from '../reshape.ts'

/** The JSON schemas of all kinds, by name; they refer to each other by what `definition` makes of the name. */
export function objectSchemas(definition: (kind: string) => string, form: JsonSchemaForm): Record<string, JsonSchema> {
  const described = Object.values(kinds)
  const schemas = jsonSchemas(registered(described), definition, form)
  // A resource may have the name of its realm for it.
  const named = described.filter(({ name, naturalKey, nameField }) => name !== 'realm' && nameField === naturalKey)
  for (const { name, nameField } of named) schemas[name]!.required = [nameField]
  return schemas
}

const former = {
  [RENAMED_FROM]: z
    .string()
    .min(1)
    .optional()
    .describe('What it was called before: it is renamed, where it is there under that name.'),
}

/** Of each kind the representation with its children, no other fields allowed. */
function registered(described: readonly Kind[]): z.core.$ZodRegistry<{ id: string }> {
  const registry = z.registry<{ id: string }>()
  const known = new Map<Kind, z.ZodType>()
  function schemaOf(kind: Kind): z.ZodType {
    const before = known.get(kind)
    if (before) return before
    const usual = { ...nestedShape(kind, schemaOf), ...statedElsewhere(kind) }
    const shape = Object.entries(shapeOf(kind.name, (name) => z.lazy(() => schemaOf(kinds[name]))))
    const special = shape.map(([name, one]) => [
      name,
      one.nullish().describe(one.description ?? descriptionOf(usual[name])),
    ])
    const schema = z
      .strictObject({ ...usual, ...Object.fromEntries(special), ...former })
      .describe(`A ${kind.title}.`)
      .register(registry, { id: kind.name })
    known.set(kind, schema)
    return schema
  }
  for (const kind of described) schemaOf(kind)
  return registry
}

/** Fields that representations do not have on the wire, and documents may. */
function statedElsewhere({ fields, schema }: Kind): z.ZodRawShape {
  return Object.fromEntries(Object.entries(schema.shape).filter(([name]) => fields[name]?.elsewhere))
}

function descriptionOf(schema: unknown): string {
  return (schema as z.ZodType).description ?? ''
}
