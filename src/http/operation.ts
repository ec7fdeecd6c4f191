// One REST operation, described once: from it come the route, the checks of its input, OpenAPI and the coverage test.
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import type { Cookie } from '../lib/cookies.ts'
import type { Permission } from '../service/administrators.ts'
import type { Context, WriteContext } from '../service/context.ts'
import type { Caller, RealmRow, Service } from '../service/service.ts'
import type { BodyForm } from './body.ts'
import { type EventFact, recordEvent } from './event.ts'

/** The methods that operations have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

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

/** Answers with what the work reads in the realm of the path. */
export function reading(work: (context: Context, call: Call) => Promise<unknown>): Operation['handle'] {
  return (call) =>
    call.service.read(call.caller, call.realm ?? realmOf(call), async (context) => ({
      status: 200,
      body: await work(context, call),
    }))
}

/** Changes the realm of the path, and answers that it is done. */
export function writing(work: (context: WriteContext, call: Call) => Promise<void>): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, realmOf(call), async (context) => {
      await work(context, call)
      recordEvent(context, call)
      return { status: 204 }
    })
}

/** Makes an object in the realm of the path, and answers with its address. */
export function creating(work: (context: WriteContext, call: Call) => Promise<string>): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, realmOf(call), async (context) => {
      const created = await work(context, call)
      recordEvent(context, call, created)
      return { status: 201, created }
    })
}

/** Makes an object in the realm of the path, or moves one: undefined says that nothing is new. */
export function placing(
  work: (context: WriteContext, call: Call) => Promise<Omit<Answer, 'status'> | undefined>,
): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, realmOf(call), async (context) => {
      const made = await work(context, call)
      recordEvent(context, call, made?.created)
      return made ? { status: 201, ...made } : { status: 204 }
    })
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

function realmOf(call: Call): string {
  return param(call, 'realm')
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
