// The JSON schema of documents, for editors: made of the table of kinds, as OpenAPI is.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { type JsonSchema, type JsonSchemaForm, jsonSchema } from '../../kinds/json-schema.ts'
import type { Kind } from '../../kinds/kind.ts'
import { objectSchemas } from './object-schemas.ts'
import { KEYCLOAK_IMPORT } from './placeholders.ts'
import { controlFields, placeFields } from './resource-fields.ts'
import { API_VERSION, resourceKinds, resourceNames } from './resource-kinds.ts'

/** The schema of a file: a document, a list of realms, or a resource. JSON schema draft 7, which editors know. */
export function documentSchema(): JsonSchema {
  const described = Object.values(kinds)
  const objects = simplified(objectSchemas(definition, FORM))
  const resources = described.map((kind) => [kind, resource(kind, objects[kind.name]!)] as const)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Realm file',
    description: 'What Regent reads: a realm, a list of realms, or a resource that holds a realm or one object of one.',
    ...choice({ type: 'array' }, { type: 'array', items: ref('document') }, ref('document')),
    definitions: {
      document: choice({ type: 'object', required: ['kind'] }, ref('resource'), ref('realmDocument')),
      realmDocument: { type: 'object', allOf: [ref('realm')], required: [kinds.realm.naturalKey] },
      resource: {
        type: 'object',
        properties: {
          apiVersion: { description: `${API_VERSION} for what is Regent's own.`, type: 'string' },
          kind: {
            description: 'What the resource holds.',
            anyOf: [{ enum: [...resourceKinds.keys(), KEYCLOAK_IMPORT] }, { type: 'string' }],
          },
        },
        allOf: [
          ...resources.map(([kind]) => whereKind(resourceNames(kind), ref(resourceNames(kind)[0]!))),
          whereKind([KEYCLOAK_IMPORT], {
            properties: { spec: { type: 'object', properties: { realm: ref('realmDocument') } } },
          }),
        ],
      },
      ...Object.fromEntries(resources.map(([kind, schema]) => [resourceNames(kind)[0]!, schema])),
      ...objects,
    },
  }
}

const definition = (id: string) => `#/definitions/${id}`
const ref = (id: string): JsonSchema => ({ $ref: definition(id) })

function whereKind(names: readonly string[], schema: JsonSchema): JsonSchema {
  return choice({ properties: { kind: { enum: names } } }, schema)
}

function choice(condition: JsonSchema, one: JsonSchema, other?: JsonSchema): JsonSchema {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  return { if: condition, then: one, ...(other && { else: other }) }
}

/** The resource of a kind: its spec is the object, and says where it belongs. */
function resource(kind: Kind, object: JsonSchema): JsonSchema {
  const properties = Object.keys(object.properties as JsonSchema)
  const own = properties.map((name) => [name, ref(`${kind.name}/properties/${name}`)])
  const besides = jsonSchema(z.strictObject({ ...placeFields(kind), ...controlFields(kind) }), FORM)
  return {
    description: `A ${kind.title} as a resource.`,
    type: 'object',
    properties: {
      apiVersion: { description: 'Version of the form.', const: API_VERSION },
      kind: { description: 'What the resource holds.', enum: resourceNames(kind) },
      metadata: { description: 'Name of the resource; labels and the like are let pass.', type: 'object' },
      spec: {
        description: `The ${kind.title}${kind.name === 'realm' ? '' : ', and where it belongs'}.`,
        type: 'object',
        properties: { ...Object.fromEntries(own), ...(besides.properties as JsonSchema) },
        additionalProperties: false,
      },
      status: { description: 'Written by the cluster; without effect.' },
    },
    required: ['apiVersion', 'kind', 'spec'],
    additionalProperties: false,
  }
}

/** A text with a variable stands for a value of any type. */
const VARIABLE = '\\$\\('
const PATTERNS: Readonly<Record<string, string>> = { boolean: '^(true|false)$', integer: '^-?\\d{1,15}$' }

const FORM: JsonSchemaForm = {
  target: 'draft-7',
  io: 'input',
  change(schema, zodSchema, wire) {
    if (wire?.enum || zodSchema._zod.def.type === 'enum') {
      const { enum: values } = wire ?? schema
      replace(schema, { anyOf: [{ enum: values }, { type: 'string', pattern: VARIABLE }] })
    } else if (wire && PATTERNS[String(wire.type)]) {
      replace(schema, { anyOf: [wire, { type: 'string', pattern: `${PATTERNS[String(wire.type)]}|${VARIABLE}` }] })
    }
  },
}

function replace(schema: JsonSchema, other: JsonSchema): void {
  for (const member of Object.keys(schema)) if (member !== 'description') delete schema[member]
  Object.assign(schema, other)
}

function simplified(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const isSchema = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  return JSON.parse(JSON.stringify(schemas), (_key, value) => (isSchema(value) ? withNull(withoutWidth(value)) : value))
}

/** How wide a number is says OpenAPI; JSON schema knows no such format. */
function withoutWidth({ format, ...schema }: JsonSchema): JsonSchema {
  return format === undefined || format === 'int32' || format === 'int64' ? schema : { format, ...schema }
}

/** A choice between a type and null is a choice of types: messages of editors are clearer then. */
function withNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  const [one, none, ...others] = (anyOf ?? []) as JsonSchema[]
  if (!one || none?.type !== 'null' || others.length) return schema
  if (one.anyOf) return { ...rest, anyOf: [...(one.anyOf as JsonSchema[]), none] }
  return one.type ? { ...rest, ...one, type: [one.type, 'null'].flat() } : schema
}
