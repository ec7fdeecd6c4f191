// The JSON schema of documents, for editors, from the table of kinds.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import {
  isJsonSchema,
  type JsonSchema,
  type JsonSchemaOptions,
  readJsonSchema,
  toJsonSchema,
} from '../../kinds/json-schema.ts'
import type { Kind } from '../../kinds/kind.ts'
import { API_VERSION, listResourceNames, resourceKinds } from '../../kinds/resource-kinds.ts'
import { KEYCLOAK_IMPORT } from './keycloak-import.ts'
import { createObjectSchemas } from './object-schemas.ts'
import { kubernetesFields, locationFields } from './resource-fields.ts'

/** Returns the schema of a file: a document, a list of documents, or a resource. In draft 7, which editors support. */
export function createDocumentSchema(): JsonSchema {
  const objects = simplifySchemas(createObjectSchemas(toReference, OPTIONS))
  const resources = Object.values(kinds).map((kind) => ({
    names: listResourceNames(kind),
    schema: createResourceSchema(kind, objects[kind.name]!),
  }))
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Realm file',
    description: 'A realm, a list of realms, or a resource with a realm or one object of a realm.',
    ...createCondition({ type: 'array' }, { type: 'array', items: reference('document') }, reference('document')),
    definitions: {
      document: createCondition(
        { type: 'object', required: ['kind'] },
        reference('resource'),
        reference('realmDocument'),
      ),
      realmDocument: { type: 'object', allOf: [reference('realm')], required: [kinds.realm.naturalKey] },
      resource: {
        type: 'object',
        properties: {
          apiVersion: { description: `API version. ${API_VERSION} for Regent's own resources.`, type: 'string' },
          kind: {
            description: 'Kind of the resource.',
            anyOf: [{ enum: [...resourceKinds.keys(), KEYCLOAK_IMPORT] }, { type: 'string' }],
          },
        },
        allOf: [
          ...resources.map(({ names }) => createKindCondition(names, reference(names[0]!))),
          createKindCondition([KEYCLOAK_IMPORT], {
            properties: { spec: { type: 'object', properties: { realm: reference('realmDocument') } } },
          }),
        ],
      },
      ...Object.fromEntries(resources.map(({ names, schema }) => [names[0]!, schema])),
      ...objects,
    },
  }
}

const toReference = (id: string) => `#/definitions/${id}`
const reference = (id: string): JsonSchema => ({ $ref: toReference(id) })

function createKindCondition(names: readonly string[], schema: JsonSchema): JsonSchema {
  return createCondition({ properties: { kind: { enum: names } } }, schema)
}

function createCondition(condition: JsonSchema, schema: JsonSchema, otherwise?: JsonSchema): JsonSchema {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  return { if: condition, then: schema, ...(otherwise && { else: otherwise }) }
}

/** Returns the schema of the resource for a kind. Its spec has the fields of the object and of the resource. */
function createResourceSchema(kind: Kind, object: JsonSchema): JsonSchema {
  const names = Object.keys(readJsonSchema(object.properties))
  const objectFields = names.map((name) => [name, reference(`${kind.name}/properties/${name}`)])
  const fields = toJsonSchema(z.strictObject({ ...locationFields(kind), ...kubernetesFields(kind) }), OPTIONS)
  return {
    description: `A ${kind.title} as a resource.`,
    type: 'object',
    properties: {
      apiVersion: { description: 'API version.', const: API_VERSION },
      kind: { description: 'Kind of the resource.', enum: listResourceNames(kind) },
      metadata: {
        description: 'Metadata of the resource: its name, namespace, labels and annotations.',
        type: 'object',
      },
      spec: {
        description: `The ${kind.title}${kind.name === 'realm' ? '' : ', and the realm that it belongs to'}.`,
        type: 'object',
        properties: { ...Object.fromEntries(objectFields), ...readJsonSchema(fields.properties) },
        additionalProperties: false,
      },
      status: { description: 'Status, written by the operator. Ignored in files.' },
    },
    required: ['apiVersion', 'kind', 'spec'],
    additionalProperties: false,
  }
}

/** A string with a variable is accepted in place of a value of any type. */
const VARIABLE = '\\$\\('
const PATTERNS: Readonly<Record<string, string>> = { boolean: '^(true|false)$', integer: '^-?\\d{1,15}$' }

const OPTIONS: JsonSchemaOptions = {
  target: 'draft-7',
  io: 'input',
  override(schema, zodSchema, wire) {
    if (wire?.enum || zodSchema._zod.def.type === 'enum') {
      const { enum: values } = wire ?? schema
      replaceSchema(schema, { anyOf: [{ enum: values }, { type: 'string', pattern: VARIABLE }] })
    } else if (wire && PATTERNS[String(wire.type)]) {
      const pattern = `${PATTERNS[String(wire.type)]}|${VARIABLE}`
      replaceSchema(schema, { anyOf: [wire, { type: 'string', pattern }] })
    }
  },
}

function replaceSchema(schema: JsonSchema, replacement: JsonSchema): void {
  for (const member of Object.keys(schema)) if (member !== 'description') delete schema[member]
  Object.assign(schema, replacement)
}

function simplifySchemas(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return JSON.parse(JSON.stringify(schemas), (_key, value: unknown) =>
    isJsonSchema(value) ? mergeNullType(removeIntegerFormat(value)) : value,
  )
}

/** Removes the formats of integers, which are OpenAPI's. */
function removeIntegerFormat({ format, ...schema }: JsonSchema): JsonSchema {
  return format === undefined || format === 'int32' || format === 'int64' ? schema : { format, ...schema }
}

/** Replaces a choice between a schema and null with a choice of types, for clearer messages in editors. */
function mergeNullType(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  const alternatives = Array.isArray(anyOf) ? anyOf.filter(isJsonSchema) : []
  const [first, second] = alternatives
  if (!first || second?.type !== 'null' || alternatives.length > 2) return schema
  if (Array.isArray(first.anyOf)) return { ...rest, anyOf: [...first.anyOf, second] }
  return first.type ? { ...rest, ...first, type: [first.type, 'null'].flat() } : schema
}
