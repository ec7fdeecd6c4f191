// Checks responses against the descriptions of the operations: status, schema of the body, and Location header.
import { load } from 'js-yaml'
import * as z from 'zod'
import { operations } from '../../src/http/admin/index.ts'
import type { TestResponse } from './server.ts'

// Sorted as the router matches: literal segments come before parameters, since `{` sorts after all letters.
const patterns = operations
  .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  .map((operation) => ({
    ...operation,
    pattern: new RegExp(`^${operation.path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
  }))

/** Returns the operation with the address. */
export function findOperation(method: string, address: string) {
  const path = address.split('?')[0]!.replace(/\/$/, '')
  return patterns.find((pattern) => pattern.method === method && pattern.pattern.test(path))
}

/** Throws if a response does not conform to the description of its operation. */
export function expectDescribedResponse(
  method: string,
  address: string,
  { status, headers, body }: TestResponse,
): void {
  const operation = findOperation(method, address)
  if (!operation?.responses) return
  const response = operation.responses[status]
  if (!response) throw new Error(`${operation.operationId} returned the undescribed status ${status}.`)
  if (response.located && !headers.location)
    throw new Error(`${operation.operationId} returned ${status} without Location.`)
  // Tests parse the text of a plain response, which may be JSON too.
  const described = response.plain && typeof body === 'object' ? JSON.stringify(body) : readYaml(headers, body)
  const problem = toStrictSchema(response.schema)?.safeParse(described).error
  if (problem) throw new Error(`${operation.operationId} returned ${status}: ${z.prettifyError(problem)}`)
}

/** Returns the value of a text in YAML, and any other body as it is. */
const readYaml = (headers: TestResponse['headers'], body: unknown): unknown =>
  String(headers['content-type']).startsWith('application/yaml') ? load(String(body)) : body

/** Returns the schema, changed to refuse unknown fields, except where it describes them: protocol mappers add any claims to tokens. */
function toStrictSchema(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) return z.array(toStrictSchema(schema.element as z.ZodType)!)
  return schema instanceof z.ZodObject && !schema.def.catchall ? schema.strict() : schema
}
