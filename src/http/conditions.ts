// Conditional requests (RFC 9110, section 13). A resource with PUT has an entity tag, the digest of its representation. A
// caller who sends the tag in If-Match does not overwrite the changes of others (decision 0037).
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Service } from '../service/context/service.ts'
import { HttpError } from './errors.ts'
import type { Operation } from './operation.ts'
import { notModifiedResponse, preconditionFailedResponse } from './responses.ts'

/** Returns the GET operations whose path also has PUT, by path. Their responses have an entity tag. */
export function findTaggedReads(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  const replaced = new Set(operations.filter(({ method }) => method === 'PUT').map(({ path }) => path))
  const reads = operations.filter(({ method, path }) => method === 'GET' && replaced.has(path))
  return new Map(reads.map((operation) => [operation.path, operation]))
}

/** Adds the responses to conditions, 304 and 412, to operations. */
export function withConditionResponses(operations: readonly Operation[]): Operation[] {
  const paths = findTaggedReads(operations)
  return operations.map((operation) => {
    if (!paths.has(operation.path)) return operation
    const further =
      operation.method === 'GET'
        ? { ...notModifiedResponse, ...preconditionFailedResponse }
        : preconditionFailedResponse
    return { ...operation, responses: { ...operation.responses, ...further } }
  })
}

/** Returns the entity tag of a JSON body. */
function createTag(json: string): string {
  return `"${hash('sha256', json, 'hex').slice(0, 32)}"`
}

/** Returns the entity tag of a JSON body. @throws HttpError 412 unless it meets If-Match, where the request has it */
export function requireTag(json: string, condition: string | undefined): string {
  const tag = createTag(json)
  if (condition !== undefined) checkCondition(condition, tag)
  return tag
}

/** Returns the entity tag of the compressed body: other bytes need another tag. */
export function toGzipTag(tag: string): string {
  return tag.replace(/"$/, '-gzip"')
}

/** Returns the entity tag of the body in YAML. */
export function toYamlTag(tag: string): string {
  return tag.replace(/"$/, '-yaml"')
}

/** @throws HttpError 412 unless If-Match has the tag, in any format and in gzip or not, or `*`. Weak tags never match. */
function checkCondition(condition: string, tag: string): void {
  const tags = [tag, toYamlTag(tag)]
  if (includesTag(condition, [...tags, ...tags.map(toGzipTag)])) return
  throw new HttpError(412, {
    errorMessage: 'The resource has changed: its entity tag is not in If-Match. Read it again.',
  })
}

/** Returns the error for If-Match on a resource without entity tag: ignoring the condition could lose an update. */
export function noTagError(): HttpError {
  return new HttpError(412, { errorMessage: 'This resource has no entity tag. Send the request without If-Match.' })
}

/**
 * Returns a service whose writes check the condition first, in their transaction and under the realm's lock. `look` returns the JSON of
 * the resource, read with a given service.
 */
export function withCondition(
  service: Service,
  condition: string,
  look: (within: Service) => Promise<string>,
): Service {
  return {
    ...service,
    write: (caller, target, work) =>
      service.write(caller, target, async (context) => {
        const json = await look({ ...service, read: (_caller, _realm, read) => read(context) })
        requireTag(json, condition)
        return work(context)
      }),
  }
}

/** An onSend hook that answers 304 if If-None-Match has the tag. It runs after compression, which changes the tag. */
export async function omitUnchangedBody(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const condition = request.headers['if-none-match']
  const tag = reply.getHeader('etag')
  if (condition === undefined || typeof tag !== 'string' || !includesTag(condition.replaceAll('W/', ''), [tag]))
    return payload
  reply.code(304)
  for (const name of ['content-type', 'content-encoding']) reply.removeHeader(name)
  return ''
}

function includesTag(condition: string, tags: readonly string[]): boolean {
  if (condition.trim() === '*') return true
  return (condition.match(/(W\/)?"[^"]*"/g) ?? []).some((tag) => tags.includes(tag))
}
