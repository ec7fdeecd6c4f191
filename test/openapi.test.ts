import { expect, test } from 'vitest'
import { operations } from '../src/http/admin/index.ts'
import { openApi } from '../src/http/openapi.ts'
import { listParameters } from '../src/http/operation.ts'
import { description } from '../src/http/server.ts'
import { tags } from '../src/http/tags.ts'
import keycloak from './support/keycloak-openapi.json' with { type: 'json' }
import { listedOperations, shapeOf } from './support/listed-operations.ts'

type Schema = { [key: string]: unknown }

const document = openApi(operations)

interface Parameter {
  readonly name: string
  readonly description?: string
  readonly deprecated?: true
}

interface DescribedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly deprecated?: true
  readonly parameters: readonly Parameter[]
}

type Properties = Record<string, { readonly deprecated?: true; readonly description?: string }>

const served = JSON.parse(JSON.stringify(description())) as {
  info: { version: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Omit<DescribedOperation, 'method' | 'path'>> & { parameters?: Parameter[] }>
  components: { schemas: Record<string, { deprecated?: true; properties?: Properties }> }
}
const { schemas } = served.components
const methods = ['get', 'post', 'put', 'delete']

const describedOperations = Object.entries(served.paths).flatMap(([path, { parameters: ofPath = [], ...byMethod }]) =>
  Object.entries(byMethod)
    .filter(([method]) => methods.includes(method))
    .map(([method, operation]) => {
      const { parameters = [] } = operation
      return { ...operation, method: method.toUpperCase(), path, parameters: [...ofPath, ...parameters] }
    }),
)

test('each operation has a permission, a summary, and a schema or media type for every response with a body', () => {
  const poor = operations.filter(
    ({ permission, summary, responses }) =>
      !permission ||
      !summary ||
      Object.entries(responses).some(
        ([status, { schema, type }]) => !schema && !type && !['201', '204', '304'].includes(status),
      ),
  )
  expect(poor.map(({ operationId }) => operationId)).toEqual([])
})

test('operation ids are unique', () => {
  const names = describedOperations.map(({ operationId }) => operationId)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test('an operation that changes something takes or refuses a body, and one under a realm names the realm', () => {
  const violations = operations.filter(
    ({ method, path, responses, event }) =>
      (method === 'POST' && event !== false && ![200, 201, 204].some((status) => responses[status])) ||
      (path.startsWith('/admin/realms/') && listParameters(path)[0] !== 'realm'),
  )
  expect(violations).toEqual([])
})

test('each write operation declares its admin event, or that it has none', () => {
  const undeclared = operations.filter(({ method, event }) => method !== 'GET' && event === undefined)
  expect(undeclared.map(({ operationId }) => operationId)).toEqual([])
})

test('the operations are those of Keycloak', () => {
  const listed = new Set(listedOperations.map(shapeOf))
  const unknown = operations.filter((operation) => !listed.has(shapeOf(operation)))
  expect(unknown.map(({ operationId }) => operationId)).toEqual([])
  // One of them is the legacy address of the server information.
  expect(operations.length).toBe(listed.size - 1)
})

test('every schema field is described, at any depth', () => {
  expect(Object.keys((document.components as Schema).schemas as Schema)).toContain('ClientRepresentation')
  expect(findUndescribed(document)).toEqual([])
})

/** Returns the paths of schema fields without a description. References need none. */
function findUndescribed(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { properties, type } = value as Schema
  const fields = type === 'object' ? Object.entries((properties ?? {}) as Record<string, Schema>) : []
  return [
    ...fields.filter(([, { description, $ref }]) => !description && !$ref).map(([name]) => `${path}.${name}`),
    ...Object.entries(value).flatMap(([key, inner]) => findUndescribed(inner, `${path}/${key}`)),
  ]
}

test('every reference resolves to a component', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!)
  const { schemas } = document.components as { schemas: Record<string, Schema> }
  expect(references.length).toBeGreaterThan(10)
  expect(
    [...new Set(references)].filter((reference) => !schemas[reference.replace('#/components/schemas/', '')]),
  ).toEqual([])
})

test('each representation of the specification has a schema of that name, except those of missing operations', () => {
  const missing = keycloak.representations.filter((name) => !Object.hasOwn(schemas, name))
  expect(missing.sort()).toEqual(Object.keys(keycloak.missing).sort())
})

test('no operation has an inline schema of more than 1.5 KB', () => {
  const sizes = Object.entries(served.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      findSchemas(operation).map((schema) => `${method} ${path}: ${JSON.stringify(schema).length > 1500}`),
    ),
  )
  expect(sizes.length).toBeGreaterThan(1000)
  expect(sizes.filter((size) => size.endsWith('true'))).toEqual([])
})

function findSchemas(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === 'schema' ? [inner] : findSchemas(inner)))
}

test('operations, parameters, schemas and fields are deprecated exactly where the document of Keycloak marks them', () => {
  const deprecated = describedOperations.filter((operation) => operation.deprecated)
  expect(deprecated.map(toShape).sort()).toEqual(keycloak.deprecated.operations.map(removeNames).sort())
  const parameters = describedOperations.flatMap((operation) =>
    operation.parameters.filter(({ deprecated }) => deprecated).map(({ name }) => `${toShape(operation)} ${name}`),
  )
  expect(parameters).toEqual(keycloak.deprecated.parameters.map(removeNames))
  const names = Object.keys(schemas).filter((name) => schemas[name]!.deprecated)
  expect(names.sort()).toEqual(keycloak.deprecated.schemas.toSorted())
  expect(listDeprecatedFields().filter((field) => !IGNORED_FIELDS.includes(field))).toEqual(
    Object.entries(keycloak.deprecated.fields)
      .flatMap(([name, fields]) => fields.filter((field) => hasField(name, field)).map((field) => `${name}.${field}`))
      .sort(),
  )
})

/** The fields that Regent ignores, and that are not deprecated in Keycloak. */
const IGNORED_FIELDS = [
  'MemberRepresentation.self',
  'RealmRepresentation.federatedUsers',
  'RealmRepresentation.protocolMappers',
  'UserRepresentation.self',
]

function listDeprecatedFields(): string[] {
  return Object.entries(schemas)
    .flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, { deprecated }]) => (deprecated ? [`${name}.${field}`] : [])),
    )
    .sort()
}

function hasField(schema: string, field: string): boolean {
  return Object.hasOwn(schemas[schema]?.properties ?? {}, field)
}

const removeNames = (address: string) => address.replaceAll(/\{[^}]+\}/g, '{}')
const toShape = ({ method, path }: { method: string; path: string }) => removeNames(`${method} ${path}`)

test('tags are those of the specification, or of the API of Regent, and each is used and described', () => {
  const used = new Set(describedOperations.flatMap((operation) => operation.tags))
  expect(served.tags.map(({ name }) => name)).toEqual(Object.keys(tags))
  expect([...used].sort()).toEqual(Object.keys(tags).sort())
  expect(served.tags.filter(({ description }) => !description)).toEqual([])
  const byPath = new Map(listedOperations.map((listed) => [shapeOf(listed), listed.tag]))
  expect(operations.filter((operation) => byPath.get(shapeOf(operation)) !== operation.tag)).toEqual([])
  const regentOperations = describedOperations.filter(({ path }) => path.startsWith('/regent/'))
  expect(regentOperations.flatMap((operation) => operation.tags).filter((tag) => keycloak.tags.includes(tag))).toEqual(
    [],
  )
})

test('bodies of workflows are described as JSON and as YAML', () => {
  const { get, put } = served.paths['/admin/realms/{realm}/workflows/{id}'] as unknown as Record<
    string,
    { requestBody?: { content: object }; responses: Record<string, { content: object }> }
  >
  const types = ['application/json', 'application/yaml']
  expect(Object.keys(get!.responses[200]!.content)).toEqual(types)
  expect(Object.keys(put!.requestBody!.content)).toEqual(types)
})

test('the version is that of the admin API', () => {
  expect(served.info.version).toBe(keycloak.version)
})

test('each operation has a summary and a description, and each parameter a description', () => {
  const poor = describedOperations.filter(
    ({ summary, description, parameters }) =>
      !summary || !description || parameters.some((parameter) => !parameter.description),
  )
  expect(poor.map(toShape)).toEqual([])
  expect(describedOperations.filter(({ summary }) => !/^[A-Z][a-z]+ /.test(summary)).map(toShape)).toEqual([])
})
