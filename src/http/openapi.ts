// The OpenAPI document, from the operations. Schemas of kinds are components under Keycloak's names.
import * as z from 'zod'
import { listRolesGranting } from '../kinds/admin-roles.ts'
import { kinds } from '../kinds/index.ts'
import { type JsonSchema, type JsonSchemaOptions, toJsonSchema, toJsonSchemas } from '../kinds/json-schema.ts'
import type { BodyForm } from './body.ts'
import { listParameters, type Operation, type Response } from './operation.ts'
import { components, representationOf } from './responses.ts'

/** Returns the OpenAPI 3.1 document. `otherPaths` are paths that are not operations of administrators. */
export function openApi(operations: readonly Operation[], otherPaths: Record<string, JsonSchema> = {}): JsonSchema {
  const paths: Record<string, JsonSchema> = { ...otherPaths }
  for (const operation of operations) {
    paths[operation.path] ??= { parameters: listParameters(operation.path).map(pathParameter) }
    paths[operation.path]![operation.method.toLowerCase()] = operationObject(operation)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Regent admin API',
      version: '1',
      description:
        'The admin API of Keycloak, and the API of Regent under `/regent/v1`. A change that would lock out the last ' +
        'administrator of every realm is refused, unless the request has the header `Regent-Allow-Lock-Out: true`.',
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
  const parameters = [...Object.entries(query?.shape ?? {}).map(queryParameter), ...listConditionHeaders(operation)]
  return {
    operationId,
    tags: [tag],
    summary,
    description: describePermission(permission),
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
        responseObject(response, responses[304] !== undefined && ['200', '304'].includes(status)),
      ]),
    ),
  }
}

/** Describes the permissions that an operation requires. */
function describePermission(permission: Operation['permission']): string {
  if (permission === 'any') return 'Every administrator may call this operation.'
  if (permission === 'every-realm') return 'Requires the role `admin` of the master realm.'
  const needed = [permission].flat().map((name) => listRolesGranting(name).map((role) => `\`${role}\``))
  return `Requires ${needed.map((roles) => (roles.length > 1 ? `one of the roles ${roles.join(', ')}` : `the role ${roles}`)).join(', and ')}.`
}

/** Returns the parameters for headers that the responses of an operation imply. */
function listConditionHeaders({ responses }: Operation): JsonSchema[] {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  })
  return [
    ...(responses[304]
      ? [
          header(
            'If-None-Match',
            'Entity tags that the caller has; `*` matches any. If one matches, the response is 304.',
          ),
        ]
      : []),
    ...(responses[412]
      ? [header('If-Match', 'Entity tags; `*` matches any. If none matches, the response is 412.')]
      : []),
    ...(Object.values(responses).some(({ owned }) => owned)
      ? [
          header(
            'Regent-Allow-Drift',
            '`true` permits a change that a source refuses. Requires the role `realm-admin`.',
          ),
        ]
      : []),
  ]
}

function responseObject(
  { description, schema, plain, events, type, located, owned }: Response,
  tagged: boolean,
): JsonSchema {
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
    'Declarations that the call overwrote: a list (RFC 9651) of sources with `object`, `field` and `at` (file and line).',
  schema: { type: 'string' },
}
const ETAG = { description: 'Entity tag of the representation.', schema: { type: 'string' } }
const LOCATION = {
  description: 'URL of the created object.',
  required: true,
  schema: { type: 'string', format: 'uri' },
}

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
  // The schema of a representation is the same in requests and responses.
  const element = schemaOf(representationOf(kind))
  return schema instanceof z.ZodArray ? { type: 'array', items: element } : element
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
