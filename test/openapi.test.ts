import { expect, test } from 'vitest'
import { missingOperations, operations } from '../src/http/admin/index.ts'
import { listedOperations, shapeOf } from '../src/http/admin/not-yet.ts'
import { openApi } from '../src/http/openapi.ts'
import { paramsOf } from '../src/http/operation.ts'

type Schema = { [key: string]: unknown }

const document = openApi(operations)

test('each operation has a permission, a summary, and a schema for every answer with a body', () => {
  const poor = operations.filter(
    ({ permission, summary, responses }) =>
      !permission ||
      !summary ||
      Object.entries(responses).some(([status, { schema }]) => !schema && !['201', '204', '304'].includes(status)),
  )
  expect(poor.map(({ operationId }) => operationId)).toEqual([])
})

test('each operation has a name of its own', () => {
  const names = operations.map(({ operationId }) => operationId)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test('an operation that changes something takes or refuses a body, and one under a realm names the realm', () => {
  const odd = operations.filter(
    ({ method, path, responses, event }) =>
      (method === 'POST' && event !== false && ![200, 201, 204].some((status) => responses[status])) ||
      (path.startsWith('/admin/realms/') && paramsOf(path)[0] !== 'realm'),
  )
  expect(odd).toEqual([])
})

test('each operation that changes something says which admin event it leaves, or that it leaves none', () => {
  const silent = operations.filter(({ method, event }) => method !== 'GET' && event === undefined)
  expect(silent.map(({ operationId }) => operationId)).toEqual([])
})

test('every operation is one of the reference server, and what is missing is listed', () => {
  const known = new Set(listedOperations.map(shapeOf))
  const unknown = operations.filter((operation) => !known.has(shapeOf(operation)))
  expect(unknown.map(({ operationId }) => operationId)).toEqual([])
  expect(operations.length + missingOperations.length).toBe(known.size - 1)
})

test('every schema field is described, however deep it stands', () => {
  expect(Object.keys((document.components as Schema).schemas as Schema)).toContain('ClientRepresentation')
  expect(undescribed(document)).toEqual([])
})

/** Where fields of schemas have no description. What is described elsewhere is referred to. */
function undescribed(value: unknown, place = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { properties, type } = value as Schema
  const fields = type === 'object' ? Object.entries((properties ?? {}) as Record<string, Schema>) : []
  return [
    ...fields.filter(([, { description, $ref }]) => !description && !$ref).map(([name]) => `${place}.${name}`),
    ...Object.entries(value).flatMap(([key, inner]) => undescribed(inner, `${place}/${key}`)),
  ]
}

test('every reference leads to a component', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!)
  const { schemas } = document.components as { schemas: Record<string, Schema> }
  expect(references.length).toBeGreaterThan(10)
  expect([...new Set(references)].filter((one) => !schemas[one.replace('#/components/schemas/', '')])).toEqual([])
})
