// The media types that callers accept.
import { HttpError } from './errors.ts'
import type { Operation } from './operation.ts'
import { errorSchema } from './responses.ts'

const STATUS = 406
const response = { description: 'The caller does not accept the media type of the response.', schema: errorSchema }

/** Adds the response to callers who do not accept the media type to operations that read. */
export function withAcceptResponses(operations: readonly Operation[]): Operation[] {
  return operations.map((operation) =>
    operation.method === 'GET' && !operation.ignoresAccept
      ? { ...operation, responses: { ...operation.responses, [STATUS]: response } }
      : operation,
  )
}

/** Throws if the operation has this response, and the caller does not accept the media type. */
export function requireAccepted({ responses }: Operation, accept: string | undefined, type: string): void {
  if (responses[STATUS] && !isAccepted(accept, type)) throw new HttpError(STATUS, { error: 'HTTP 406 Not Acceptable' })
}

/** Throws before an operation that returns bytes, if the caller does not accept their media type. */
export function requireBytesAccepted(operation: Operation, accept: string | undefined): void {
  const type = operation.responses[200]?.type
  if (type !== undefined) requireAccepted(operation, accept, type)
}

/** Whether a media type is in an Accept header. RFC 9110, section 12.5.1. Keycloak: weights are ignored. */
function isAccepted(accept: string | undefined, type: string): boolean {
  if (!accept?.trim()) return true
  const ranges = accept.split(',').map((range) => range.split(';')[0]!.trim().toLowerCase())
  return ['*', '*/*', type.replace(/\/.*/, '/*'), type].some((range) => ranges.includes(range))
}
