// The description of a REST operation. Its route, input validation, OpenAPI and coverage test derive from it.
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import type { EventOperation, EventType } from '../kinds/admin-events.ts'
import type { Cookie } from '../lib/http/cookies.ts'
import type { Caller, Service } from '../service/context/service.ts'
import type { Permission } from '../service/permissions/require-permissions.ts'
import type { BodyForm } from './body.ts'
import type { Tag } from './tags.ts'

/** The HTTP methods of operations. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * The admin event of an operation that changes something: its resource type and, if the method does not imply it, its
 * operation type. `false`: no event, as in Keycloak.
 */
export type EventDescription = EventType | SpecialEvent | false

/** An admin event with more than a resource type. */
export interface SpecialEvent {
  readonly type: EventType
  readonly operation?: EventOperation
  /** The resource path is that of the request, also for a created object. */
  readonly asCalled?: boolean
}

/** An operation of the API: its OpenAPI description and its handler. */
export interface Operation {
  readonly operationId: string
  /** The tag in Keycloak's OpenAPI document, or one of Regent's own. */
  readonly tag: Tag
  readonly method: Method
  /** The path, with parameters in braces. */
  readonly path: string
  readonly summary: string
  /** Further sentences of the description. The required permissions come after them. */
  readonly description?: string
  /** Keycloak: marked as deprecated in its OpenAPI document. */
  readonly deprecated?: true
  /** The required permissions, all of them; `any`: every administrator may call it. The service checks them. */
  readonly permission: Permission | readonly Permission[] | 'any'
  /** No access token is needed. The handler runs as the system. */
  readonly isPublic?: true
  /** Present for every operation that changes something. */
  readonly event?: EventDescription
  readonly query?: z.ZodObject
  readonly body?: BodyForm
  /** Keycloak: the Accept header is ignored. */
  readonly ignoresAccept?: true
  /** Whether bodies may be YAML as well, by Content-Type and Accept. */
  readonly yaml?: true
  /** Whether callers who accept server-sent events get the progress, and may cancel the operation by closing the connection. */
  readonly reportsProgress?: true
  readonly responses: Readonly<Record<number, Response>>
  readonly handle: (call: Call) => Promise<Answer>
  /** The operation in the legacy API, where it differs. */
  readonly legacy?: Omit<Operation, 'tag' | 'legacy'>
}

/** An operation without its tag, which the list of its file adds. */
export type UntaggedOperation = Omit<Operation, 'tag'>

/** Adds a tag to operations. */
export const tagged = (tag: Tag, operations: readonly UntaggedOperation[]): Operation[] =>
  operations.map((operation) => ({ tag, ...operation }))

/** A response of an operation, for OpenAPI and the tests. */
export interface Response {
  readonly description: string
  readonly schema?: z.ZodType
  /** The body is plain text. */
  readonly plain?: true
  /** The body is a stream of server-sent events whose data have the schema. */
  readonly events?: true
  /** The media type of a body of bytes. */
  readonly type?: string
  /** The Location header has the URL of the created object. */
  readonly located?: true
  /** The headers Regent-Owned-By and Regent-Not-Enforced report about the change. */
  readonly reported?: true
}

/** A request whose path and query have been parsed. */
export interface Call {
  readonly operation: Operation
  readonly service: Service
  readonly caller: Caller
  /** Authenticates the caller again. @throws unauthorized if the token is no longer valid. */
  readonly reauthenticate: () => Promise<Caller>
  /** The server's URL as the caller sees it. */
  readonly base: string
  /** Returns the texts of Keycloak's admin console in a locale, by key. Absent: the server has no such console. */
  readonly adminTexts?: (locale: string) => ReadonlyMap<string, string>
  /** The decoded path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  /** The parsed body. @throws HttpError on access if it is invalid. */
  readonly body: unknown
  /** Returns the parts of a multipart body, or undefined for another type. @throws HttpError if it cannot be parsed. */
  readonly parts: () => Promise<FormData | undefined>
}

/** The response to a call. */
export interface Answer {
  readonly status: number
  readonly body?: unknown
  /** The media type of a body that is not JSON: a text or a stream of bytes. Also the header of a response without a body. */
  readonly type?: string
  /** A stream of server-sent events, until the server or the caller closes it. */
  readonly events?: Readable
  /** Last path segment of a created object, whose URL is below that of the request. */
  readonly created?: string
  /** URL of a created object relative to that of the request, if it is not below it. */
  readonly location?: string
  /** Cookies to set. */
  readonly cookies?: readonly Cookie[]
}

/**
 * Returns the body of a call. If it is invalid, `lookUp` runs first: Keycloak looks up the objects of the path before it
 * reads the body, so an error about them takes precedence.
 */
export async function readBodyAfter(call: Pick<Call, 'body'>, lookUp: () => Promise<unknown>): Promise<unknown> {
  try {
    return call.body
  } catch (error) {
    await lookUp()
    throw error
  }
}

/** Returns a path parameter. @throws Error if the operation's path has none of that name. */
export function getParameter({ params }: Call, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`the path has no parameter ${name}`)
  return value
}

/** Derives an operation id: `get` and `/admin/realms/{realm}/client-scopes` give `getClientScopes`. */
export function operationId(verb: string, path: string): string {
  const words = path
    .replace('/admin/realms/{realm}', '')
    .split(/[^A-Za-z]+/)
    .filter(Boolean)
  return verb + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

/** Lists the parameters of a path, in order. */
export function listParameters(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!)
}
