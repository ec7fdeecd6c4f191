// The OpenAPI document, from the operations. Schemas of kinds are components under Keycloak's names.
import * as z from 'zod'
import { listRolesGranting } from '../kinds/admin-roles.ts'
import { kinds } from '../kinds/index.ts'
import { type JsonSchema, type JsonSchemaOptions, toJsonSchema, toJsonSchemas } from '../kinds/json-schema.ts'
import type { BodyForm } from './body.ts'
import { type Operation, paramsOf, type Response } from './operation.ts'
import { components, representationOf } from './responses.ts'

/** The document: OpenAPI 3.1. `others`: paths that are no operations of administrators, described already. */
export function openApi(operations: readonly Operation[], others: Record<string, JsonSchema> = {}): JsonSchema {
  const paths: Record<string, JsonSchema> = { ...others }
  for (const operation of operations) {
    paths[operation.path] ??= { parameters: paramsOf(operation.path).map(pathParameter) }
    paths[operation.path]![operation.method.toLowerCase()] = operationObject(operation)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Regent admin API',
      version: '1',
      description:
        'Administration of realms, in the form of the admin API of Keycloak. A change of the master realm after which nobody ' +
        'could log in who administers every realm is refused, unless the request has the header `Regent-Allow-Lock-Out: true`.',
    },
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: componentSchemas(),
    },
  }
}

function operationObject(operation: Operation): JsonSchema {
  const { operationId, tag, summary, permission, query, body, responses } = operation
  const parameters = [...Object.entries(query?.shape ?? {}).map(queryParameter), ...conditions(operation)]
  return {
    operationId,
    tags: [tag],
    summary,
    description: needsOf(permission),
    ...(parameters.length && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.optional,
        description: body.description,
        content: contentOf(bodySchemaOf(body), body.plain),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        answer(response, responses[304] !== undefined && ['200', '304'].includes(status)),
      ]),
    ),
  }
}

/** The roles that let somebody call an operation. */
function needsOf(permission: Operation['permission']): string {
  if (permission === 'any') return 'Every administrator may call it.'
  if (permission === 'every-realm')
    return 'Only who administers every realm may call it: with the role `admin` of `master`.'
  const needed = [permission].flat().map((one) => listRolesGranting(one).map((role) => `\`${role}\``))
  return `Needs ${needed.map((roles) => (roles.length > 1 ? `one of the roles ${roles.join(', ')}` : `the role ${roles}`)).join(', and ')}.`
}

/** The conditions that an operation is asked on: its answers tell which. */
function conditions({ responses }: Operation): JsonSchema[] {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  })
  return [
    ...(responses[304]
      ? [header('If-None-Match', 'Tags of what the caller has already; `*`: whatever is there.')]
      : []),
    ...(responses[412] ? [header('If-Match', 'Tags of which it must have one, or 412 is answered; `*`: any.')] : []),
    ...(Object.values(responses).some(({ owned }) => owned)
      ? [
          header(
            'Regent-Allow-Drift',
            '`true`: also where a source refuses it. Whoever says so must administer the realm: `realm-admin`.',
          ),
        ]
      : []),
  ]
}

function answer({ description, schema, plain, events, type, located, owned }: Response, tagged: boolean): JsonSchema {
  const headers = {
    ...(located && { Location: LOCATION }),
    ...(tagged && { ETag: ETAG }),
    ...(owned && { 'Regent-Owned-By': OWNED_BY }),
  }
  return {
    description,
    ...(Object.keys(headers).length && { headers }),
    ...(schema && {
      content: events ? { 'text/event-stream': { schema: schemaOf(schema) } } : contentOf(schemaOf(schema), plain),
    }),
    ...(type && { content: { [type]: {} } }),
  }
}

const OWNED_BY = {
  description:
    'What sources state and the call has changed: a list (RFC 9651) of sources, each with `object`, `field` and `at`.',
  schema: { type: 'string' },
}
const ETAG = { description: 'Changes whenever what is answered does.', schema: { type: 'string' } }
const LOCATION = { description: 'Its address.', required: true, schema: { type: 'string', format: 'uri' } }

function contentOf(schema: JsonSchema, plain?: true): JsonSchema {
  return { [plain ? 'text/plain' : 'application/json']: { schema } }
}

function pathParameter(name: string): JsonSchema {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}

function queryParameter([name, schema]: [string, z.core.$ZodType]): JsonSchema {
  const { description, ...rest } = schemaOf(schema as z.ZodType)
  return { name, in: 'query', ...(description !== undefined && { description }), schema: rest }
}

function bodySchemaOf({ kind, schema }: BodyForm): JsonSchema {
  if (!kind) return schemaOf(schema)
  // What is sent has the form of what is answered.
  const one = schemaOf(representationOf(kind))
  return schema instanceof z.ZodArray ? { type: 'array', items: one } : one
}

function schemaOf(schema: z.ZodType): JsonSchema {
  const id = components.get(schema)?.id
  if (id) return { $ref: uri(id) }
  if (schema instanceof z.ZodArray) return { type: 'array', items: schemaOf(schema.element as z.ZodType) }
  return toJsonSchema(schema, FORM)
}

function componentSchemas(): JsonSchema {
  for (const kind of Object.values(kinds)) representationOf(kind)
  return toJsonSchemas(components, uri, FORM)
}

const uri = (id: string) => `#/components/schemas/${id}`

const FORM: JsonSchemaOptions = {
  target: 'draft-2020-12',
  io: 'output',
  // What is read in several forms is written in one: the schema says which.
  override: (schema, _zodSchema, wire) => {
    if (!wire) return
    for (const member of Object.keys(schema)) if (member !== 'description') delete schema[member]
    Object.assign(schema, wire)
  },
}
