// Conditional requests (RFC 9110, section 13). What can be replaced at its own address has a tag, made from what is answered
// there; who sends it back in If-Match changes nothing that somebody else has changed meanwhile (0037).
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Service } from '../service/context/service.ts'
import { HttpError } from './errors.ts'
import type { Answer, Operation } from './operation.ts'
import { unchanged, unmatched } from './responses.ts'

/** What shows at each address at which it can be replaced, by path: that has a tag. */
export function replaceable(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  const replaced = new Set(operations.filter(({ method }) => method === 'PUT').map(({ path }) => path))
  const shown = operations.filter(({ method, path }) => method === 'GET' && replaced.has(path))
  return new Map(shown.map((operation) => [operation.path, operation]))
}

/** The operations with what they answer to conditions. */
export function conditional(operations: readonly Operation[]): Operation[] {
  const paths = replaceable(operations)
  return operations.map((operation) => {
    if (!paths.has(operation.path)) return operation
    const further = operation.method === 'GET' ? { ...unchanged, ...unmatched } : unmatched
    return { ...operation, responses: { ...operation.responses, ...further } }
  })
}

/** The tag of what is answered, given as JSON. */
export function tagOf(json: string): string {
  return `"${hash('sha256', json, 'hex').slice(0, 32)}"`
}

/** The tag of an answer that is compressed: other bytes, another tag. */
export function tagInGzip(tag: string): string {
  return tag.replace(/"$/, '-gzip"')
}

/** Throws HttpError unless the condition names the tag, in gzip or not; `*` names whatever is there. A weak tag names nothing. */
export function demandMatch(condition: string, tag: string): void {
  if (listed(condition, [tag, tagInGzip(tag)])) return
  throw new HttpError(412, { errorMessage: 'It has changed meanwhile: If-Match does not name the tag that it has' })
}

/** What has no tag is not changed on a condition either: to change it all the same would break what the caller relies on. */
export function untagged(): HttpError {
  return new HttpError(412, { errorMessage: 'What is at this address has no tag that If-Match could name' })
}

/**
 * The service of a call with a condition: a write compares first, in its own transaction and under the realm's lock, so that
 * nobody comes in between. `look`: answers what the address shows, as a service reads it.
 */
export function unlessChanged(
  service: Service,
  condition: string,
  look: (within: Service) => Promise<Answer>,
): Service {
  return {
    ...service,
    write: (caller, target, work) =>
      service.write(caller, target, async (context) => {
        const { body } = await look({ ...service, read: (_caller, _realm, read) => read(context) })
        demandMatch(condition, tagOf(JSON.stringify(body)))
        return work(context)
      }),
  }
}

/** A hook that leaves out what the caller has already: after what compresses, which changes the tag. */
export async function leftOut(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const condition = request.headers['if-none-match']
  const tag = reply.getHeader('etag')
  if (condition === undefined || typeof tag !== 'string' || !listed(condition.replaceAll('W/', ''), [tag]))
    return payload
  reply.code(304)
  for (const name of ['content-type', 'content-encoding']) reply.removeHeader(name)
  return ''
}

function listed(condition: string, tags: readonly string[]): boolean {
  if (condition.trim() === '*') return true
  return (condition.match(/(W\/)?"[^"]*"/g) ?? []).some((one) => tags.includes(one))
}
