// Handlers of the usual forms: they read, change or create something in the realm of the path.
import type { Context, WriteContext } from '../service/context/context.ts'
import { recordEvent } from './event.ts'
import { type Answer, type Call, type Operation, param } from './operation.ts'

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

function realmOf(call: Call): string {
  return param(call, 'realm')
}
