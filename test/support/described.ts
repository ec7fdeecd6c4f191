// Whether answers are what the operations say of themselves: each status is listed, each body fits its schema, and what
// was made has an address where that is said.
import * as z from 'zod'
import { missingOperations, operations } from '../../src/http/admin/index.ts'
import type { TestResponse } from './server.ts'

// As the router finds them, what a path says in words comes before a parameter, which sorts after all letters.
const patterns = [
  ...operations,
  ...missingOperations.map((operation) => ({ ...operation, operationId: '', responses: undefined })),
]
  .sort((a, b) => (a.path < b.path ? -1 : 1))
  .map((operation) => ({
    ...operation,
    pattern: new RegExp(`^${operation.path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
  }))

/** The operation that has the address, be it there yet or not. */
export function findOperation(method: string, address: string) {
  const path = address.split('?')[0]!.replace(/\/$/, '')
  return patterns.find((one) => one.method === method && one.pattern.test(path))
}

/** Throws when an operation answers what its description does not say. */
export function expectDescribedResponse(method: string, address: string, { status, headers, body }: TestResponse): void {
  const operation = findOperation(method, address)
  if (!operation?.responses) return
  const response = operation.responses[status]
  if (!response) throw new Error(`${operation.operationId} answers ${status}, and does not say so`)
  if (response.located && !headers.location)
    throw new Error(`${operation.operationId} answers ${status} without Location`)
  const problem = toStrictSchema(response.schema)?.safeParse(body).error
  if (problem) throw new Error(`${operation.operationId} answers ${status}: ${z.prettifyError(problem)}`)
}

/** The schema, with fields that it does not name refused. */
function toStrictSchema(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) return z.array(toStrictSchema(schema.element as z.ZodType)!)
  return schema instanceof z.ZodObject ? schema.strict() : schema
}
