import { expect, test } from 'vitest'
import { missingOperations, operations } from '../src/http/admin/index.ts'
import { listedOperations, shapeOf } from '../src/http/admin/not-yet.ts'
import { openApi } from '../src/http/openapi.ts'
import { listParameters } from '../src/http/operation.ts'

type Schema = { [key: string]: unknown }

const document = openApi(operations)

test('each operation has a permission, a summary, and a schema for every response with a body', () => {
  const poor = operations.filter(
    ({ permission, summary, responses }) =>
      !permission ||
      !summary ||
      Object.entries(responses).some(([status, { schema }]) => !schema && !['201', '204', '304'].includes(status)),
  )
  expect(poor.map(({ operationId }) => operationId)).toEqual([])
})

test('operation ids are unique', () => {
  const names = operations.map(({ operationId }) => operationId)
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

test('every operation exists in Keycloak, and missing ones are listed', () => {
  const listed = new Set(listedOperations.map(shapeOf))
  const unknown = operations.filter((operation) => !listed.has(shapeOf(operation)))
  expect(unknown.map(({ operationId }) => operationId)).toEqual([])
  expect(operations.length + missingOperations.length).toBe(listed.size - 1)
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
