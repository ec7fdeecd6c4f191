// The OpenAPI document, from the operations. Schemas with a name are components; others are inline.
import * as z from 'zod'
import { listRolesGranting } from '../kinds/admin-roles.ts'
import {
  type JsonSchema,
  type JsonSchemaOptions,
  namedSchemas,
  toJsonSchemas,
  toReference,
} from '../kinds/json-schema.ts'
import type { BodyForm } from './body.ts'
import { listParameters, type Operation, type Response } from './operation.ts'
import { describePathParameter } from './path-parameters.ts'
import { representationOf } from './representations.ts'
import { EVENT_STREAM, progressEvent } from './server/progress-stream.ts'
import { tags } from './tags.ts'

/** The version of the admin API, as in Keycloak's OpenAPI document. */
const ADMIN_API_VERSION = '1.0'

/** Returns the OpenAPI 3.1 document. `otherPaths` are paths that are not operations of administrators. */
export function openApi(operations: readonly Operation[], otherPaths: Record<string, JsonSchema> = {}): JsonSchema {
  const { schemas, schemaOf } = convertSchemas(operations)
  const paths: Record<string, JsonSchema> = { ...otherPaths }
  for (const operation of operations) {
    paths[operation.path] ??= { parameters: listParameters(operation.path).map(pathParameter(operation.path)) }
    paths[operation.path]![operation.method.toLowerCase()] = operationObject(operation, schemaOf)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Regent admin API',
      version: ADMIN_API_VERSION,
      description:
        'The admin API of Keycloak, and the API of Regent under `/regent/v1`. A change that would lock out the last ' +
        'administrator of every realm is refused, unless the request has the header `Regent-Allow-Lock-Out: true`. The legacy API, ' +
        'of version 1, has its operations under a base path of its own, without `/admin/realms`. Its clients are ApplicationRepresentation.',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    security: [{ bearer: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas,
    },
  }
}

/** Returns the JSON schema of a schema of an operation: a reference if it has a name. */
type SchemaOf = (schema: z.ZodType) => JsonSchema

function operationObject(operation: Operation, schemaOf: SchemaOf): JsonSchema {
  const { operationId, tag, path, summary, description, deprecated, body, responses, yaml = false } = operation
  const queryParameters = listQueryParameters(operation).map((parameter) => queryParameter(parameter, schemaOf))
  const parameters = [...queryParameters, ...listConditionHeaders(operation)]
  return {
    operationId,
    tags: [tag],
    summary,
    description: [
      description,
      operation.reportsProgress && PROGRESS,
      describeAlias(path),
      describePermission(operation),
    ]
      .filter(Boolean)
      .join(' '),
    ...(deprecated && { deprecated }),
    ...(operation.isPublic && { security: [] }),
    ...(parameters.length && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.optional,
        description: body.description,
        content: toContent([getMediaType(body), ...(yaml ? [YAML] : [])], schemaOf(bodySchemaOf(body))),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        responseObject(response, {
          schemaOf,
          tagged: responses[304] !== undefined && ['200', '304'].includes(status),
          yaml: yaml && status === '200',
          progress: operation.reportsProgress === true && status === '200',
        }),
      ]),
    ),
  }
}

const PROGRESS =
  'A caller who accepts `text/event-stream` gets `progress` events, and at the end one event: `outcome`, or `error` with the status and body of the error. What is not committed is rolled back if the caller closes the connection.'

/** Returns a sentence about the legacy path of client scopes; undefined for other paths. */
function describeAlias(path: string): string | undefined {
  return path.includes('/client-templates') ? 'Legacy alias of the path with `client-scopes`.' : undefined
}

/** Describes the permissions that an operation requires. */
function describePermission({ permission, isPublic }: Pick<Operation, 'permission' | 'isPublic'>): string {
  if (isPublic) return 'No access token is needed.'
  if (permission === 'any') return 'Every administrator may call this operation.'
  if (permission === 'every-realm') return 'Requires the role `admin` of the master realm.'
  const needed = [permission].flat().map((name) => listRolesGranting(name).map((role) => `\`${role}\``))
  return `Requires ${needed.map((roles) => (roles.length > 1 ? `one of the roles ${roles.join(', ')}` : `the role ${roles}`)).join(', and ')}.`
}

/** Returns the parameters for headers that the responses of an operation imply. */
function listConditionHeaders({ responses }: Operation): JsonSchema[] {
  const isReported = Object.values(responses).some(({ reported }) => reported)
  return [
    ...(responses[304] ? [IF_NONE_MATCH] : []),
    ...(responses[412] ? [IF_MATCH] : []),
    ...(isReported ? [ALLOW_DRIFT] : []),
  ]
}

const headerParameter = (name: string, description: string): JsonSchema => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})
const IF_NONE_MATCH = headerParameter(
  'If-None-Match',
  'Entity tags that the caller has; `*` matches any. If one matches, the response is 304.',
)
const IF_MATCH = headerParameter('If-Match', 'Entity tags; `*` matches any. If none matches, the response is 412.')
const ALLOW_DRIFT = headerParameter(
  'Regent-Allow-Drift',
  '`true` permits a change that a source refuses. Requires the role `realm-admin`.',
)

function responseObject(
  { description, schema, plain, events, type, located, reported }: Response,
  { schemaOf, tagged, yaml, progress }: { schemaOf: SchemaOf; tagged: boolean; yaml: boolean; progress: boolean },
): JsonSchema {
  const headers = {
    ...(located && { Location: LOCATION }),
    ...(tagged && { ETag: ETAG }),
    ...(reported && { 'Regent-Owned-By': OWNED_BY, 'Regent-Not-Enforced': NOT_ENFORCED }),
  }
  return {
    description,
    ...(Object.keys(headers).length && { headers }),
    ...(schema && {
      content: {
        ...toContent(events ? [EVENT_STREAM] : [getMediaType({ plain }), ...(yaml ? [YAML] : [])], schemaOf(schema)),
        ...(progress && toContent([EVENT_STREAM], schemaOf(progressEvent))),
      },
    }),
    ...(type && { content: { [type]: {} } }),
  }
}

const OWNED_BY = {
  description:
    'Declarations that the call overwrote: a list (RFC 9651) of sources with `object`, `field` and `at` (file and line).',
  schema: { type: 'string' },
}
const NOT_ENFORCED = {
  description:
    'Written values that are not enforced: a list (RFC 9651) of fields with `object`, `effect` and `reason`, and for providers `value`.',
  schema: { type: 'string' },
}
const ETAG = { description: 'Entity tag of the representation.', schema: { type: 'string' } }
const LOCATION = {
  description: 'URL of the created object.',
  required: true,
  schema: { type: 'string', format: 'uri' },
}

const YAML = 'application/yaml'

/** Returns the content of a body with one schema and several media types. */
const toContent = (types: readonly string[], schema: JsonSchema): JsonSchema =>
  Object.fromEntries(types.map((type) => [type, { schema }]))

function getMediaType({ plain, isForm }: { readonly plain?: true | undefined; readonly isForm?: true }): string {
  if (isForm) return 'application/x-www-form-urlencoded'
  return plain ? 'text/plain' : 'application/json'
}

function pathParameter(path: string) {
  return (name: string): JsonSchema => ({
    name,
    in: 'path',
    required: true,
    description: describePathParameter(path, name),
    schema: { type: 'string' },
  })
}

function queryParameter([name, schema]: [string, z.ZodType], schemaOf: SchemaOf): JsonSchema {
  const { description, deprecated, ...rest } = schemaOf(schema)
  return {
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    ...(deprecated !== undefined && { deprecated }),
    schema: rest,
  }
}

/** Returns the schema of a body. That of a kind's representation is the same as in responses. */
function bodySchemaOf({ kind, schema, documented }: BodyForm): z.ZodType {
  if (documented) return documented
  if (!kind) return schema
  return schema instanceof z.ZodArray ? z.array(representationOf(kind)) : representationOf(kind)
}

/** The schemas of a document. */
interface DocumentSchemas {
  /** The schemas with a name. */
  readonly schemas: Record<string, JsonSchema>
  readonly schemaOf: SchemaOf
}

/** Converts all schemas at once: that is faster than one at a time, and each refers to others by name. */
function convertSchemas(operations: readonly Operation[]): DocumentSchemas {
  const used = new Set(operations.flatMap(listSchemas).map(unwrap))
  const unnamed = [...used].filter((schema) => !namedSchemas.has(schema))
  const inlineNames = new Map(unnamed.map((schema, index) => [schema, `inline ${index}`]))
  // Copies have the temporary names, so that no other schema refers to them.
  const copies = [...inlineNames].map(([schema, id]) => schema.clone().register(namedSchemas, { id }))
  const schemas = toJsonSchemas(namedSchemas, toReference, FORM)
  for (const copy of copies) namedSchemas.remove(copy)
  const schemaOf: SchemaOf = (schema) => {
    if (isUnnamedList(schema)) return { type: 'array', items: schemaOf(schema.element) }
    const inner = unwrap(schema)
    const id = namedSchemas.get(inner)?.id
    return id === undefined ? schemas[inlineNames.get(inner)!]! : { $ref: toReference(id) }
  }
  const inline = new Set(inlineNames.values())
  return { schemas: Object.fromEntries(Object.entries(schemas).filter(([id]) => !inline.has(id))), schemaOf }
}

function listQueryParameters({ query }: Operation): [name: string, schema: z.ZodType][] {
  return Object.entries((query?.shape ?? {}) as Record<string, z.ZodType>)
}

function listSchemas(operation: Operation): z.ZodType[] {
  const { body, responses } = operation
  return [
    ...listQueryParameters(operation).map(([, schema]) => schema),
    ...(body ? [bodySchemaOf(body)] : []),
    ...Object.values(responses).flatMap(({ schema }) => schema ?? []),
    ...(operation.reportsProgress ? [progressEvent] : []),
  ]
}

/** Returns the schema of the elements of a list, and the schema with a name of a body that may be absent. */
function unwrap(schema: z.ZodType): z.ZodType {
  if (isUnnamedList(schema)) return unwrap(schema.element)
  const inner = isOptional(schema) ? schema.unwrap() : schema
  return namedSchemas.has(inner) ? inner : schema
}

const isUnnamedList = (schema: z.ZodType): schema is z.ZodArray<z.ZodType> =>
  schema instanceof z.ZodArray && !namedSchemas.has(schema)

const isOptional = (schema: z.ZodType): schema is z.ZodOptional<z.ZodType> => schema instanceof z.ZodOptional

const FORM: JsonSchemaOptions = {
  target: 'draft-2020-12',
  io: 'output',
  // What is read in several forms is written in one: the schema says which.
  override: (schema, _zodSchema, wire) => {
    if (!wire) return
    for (const member of Object.keys(schema))
      if (member !== 'description' && member !== 'deprecated') delete schema[member]
    Object.assign(schema, wire)
  },
}
