// Creates handlers that read, change or create something in the realm of the path.
import type { Context, WriteContext } from '../service/context/context.ts'
import { recordEvent } from './event.ts'
import { type Answer, type Call, getParameter, type Operation } from './operation.ts'

/** Returns a handler that responds with the result of a read. */
export function readHandler(work: (context: Context, call: Call) => Promise<unknown>): Operation['handle'] {
  return (call) =>
    call.service.read(call.caller, realmName(call), async (context) => ({
      status: 200,
      body: await work(context, call),
    }))
}

/** Returns a handler that changes the realm and responds with 204. */
export function writeHandler(work: (context: WriteContext, call: Call) => Promise<void>): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, realmName(call), async (context) => {
      await work(context, call)
      recordEvent(context, call)
      return { status: 204 }
    })
}

/** Returns a handler that changes the realm and responds with the result of the change. */
export function changeHandler(work: (context: WriteContext, call: Call) => Promise<Answer>): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, realmName(call), async (context) => {
      const response = await work(context, call)
      recordEvent(context, call)
      return response
    })
}

/** Returns a handler that creates an object and responds with its URL. `work` returns the last path segment. */
export function createHandler(work: (context: WriteContext, call: Call) => Promise<string>): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, realmName(call), async (context) => {
      const created = await work(context, call)
      recordEvent(context, call, created)
      return { status: 201, created }
    })
}

/** Returns a handler that creates or moves an object. `work` returns undefined if it created none; `withoutBody` is the rest of that response. */
export function createOrMoveHandler(
  work: (context: WriteContext, call: Call) => Promise<Omit<Answer, 'status'> | undefined>,
  withoutBody: Pick<Answer, 'type'> = {},
): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, realmName(call), async (context) => {
      const creation = await work(context, call)
      recordEvent(context, call, creation?.created)
      return creation ? { status: 201, ...creation } : { status: 204, ...withoutBody }
    })
}

function realmName(call: Call): string {
  return getParameter(call, 'realm')
}
