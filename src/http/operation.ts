// One REST operation, described once: from it come the route, the checks of its input, OpenAPI and the coverage test.
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import type { EventOperation, EventType } from '../kinds/admin-events.ts'
import type { Cookie } from '../lib/http/cookies.ts'
import type { Caller, Service } from '../service/context/service.ts'
import type { RealmRow } from '../service/context/store-types.ts'
import type { Permission } from '../service/permissions/require-permissions.ts'
import type { BodyForm } from './body.ts'

/** The methods that operations have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * What an operation that changes something leaves in the realm's admin events: what it is about, and what was done where its
 * method does not say so. `false`: nothing, as the reference server has it.
 */
export type EventFact = EventType | SpecialEvent | false

/** An event that says more than its type. */
export interface SpecialEvent {
  readonly type: EventType
  readonly operation?: EventOperation
  /** The path of a creation is that of the request, without the new object. */
  readonly asCalled?: boolean
}

/** One operation. */
export interface Operation {
  readonly operationId: string
  /** Keycloak: the group of operations that it belongs to. */
  readonly tag: string
  readonly method: Method
  /** Literal, with parameters in braces. */
  readonly path: string
  readonly summary: string
  /** What it needs, all of it; `any`: every administrator may call it. The service demands it. */
  readonly permission: Permission | readonly Permission[] | 'any'
  /** Every operation that changes something says which admin event it leaves. */
  readonly event?: EventFact
  readonly query?: z.ZodObject
  readonly body?: BodyForm
  /** Bodies are YAML too, where that is sent or asked for. */
  readonly yaml?: true
  readonly responses: Readonly<Record<number, Response>>
  readonly handle: (call: Call) => Promise<Answer>
}

/** An operation before its file says which group it belongs to. */
export type Untagged = Omit<Operation, 'tag'>

/** The operations of one group. */
export const tagged = (tag: string, operations: readonly Untagged[]): Operation[] =>
  operations.map((operation) => ({ tag, ...operation }))

/** What an operation answers, for OpenAPI and the tests. */
export interface Response {
  readonly description: string
  readonly schema?: z.ZodType
  /** The answer is no JSON, but the text itself. */
  readonly plain?: true
  /** The answer is a stream of events that the server sends, each with a value of the schema, or of one that the description names. */
  readonly events?: true
  /** The answer is bytes of this type. */
  readonly type?: string
  /** The header Location has the address of what was made. */
  readonly located?: true
  /** The header Regent-Owned-By tells what sources state of what was changed. */
  readonly owned?: true
}

/** A request that was understood. */
export interface Call {
  readonly operation: Operation
  readonly service: Service
  readonly caller: Caller
  /** Who calls as it is now. Throws unauthorized when the token counts no more. */
  readonly stillCaller: () => Promise<Caller>
  /** The realm of the path, as it was a moment ago; absent where it was not looked up, or is not there. */
  readonly realm?: RealmRow | undefined
  /** The server's own address, as the caller sees it. */
  readonly base: string
  /** By name of the parameter in the path; decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  /** As the form of the operation's body has it. Throws HttpError when it is read and wrong. */
  readonly body: unknown
  /** The parts of a body that is a form with files; undefined where it is none. Throws HttpError when it cannot be read. */
  readonly parts: () => Promise<FormData | undefined>
}

/** What is answered. */
export interface Answer {
  readonly status: number
  readonly body?: unknown
  /** The body is no JSON, but a text of this type, or a stream of bytes. */
  readonly type?: string
  /** The answer is a stream of events that the server sends, which ends when it or the caller closes. */
  readonly events?: Readable
  /** Name of the object that was made: its address is that of the request, followed by this. */
  readonly created?: string
  /** The address of what was made, relative to that of the request, where it is not below it. */
  readonly location?: string
  /** What the caller's browser is to keep. */
  readonly cookies?: readonly Cookie[]
}

/**
 * The body of a call whose address leads through something: Keycloak looks that up before it reads the body, so what
 * `reach` throws is told instead of what is wrong with the body.
 */
export async function bodyBehind(call: Pick<Call, 'body'>, reach: () => Promise<unknown>): Promise<unknown> {
  try {
    return call.body
  } catch (error) {
    await reach()
    throw error
  }
}

/** The parameter of the path. Throws when the operation's path has none of that name. */
export function param({ params }: Call, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`the path has no parameter ${name}`)
  return value
}

/** A name for the operation on the path: `get`, `/admin/realms/{realm}/client-scopes` → `getClientScopes`. */
export function operationId(verb: string, path: string): string {
  const words = path
    .replace('/admin/realms/{realm}', '')
    .split(/[^A-Za-z]+/)
    .filter(Boolean)
  return verb + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

/** The names of the parameters of a path, in order. */
export function paramsOf(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!)
}
