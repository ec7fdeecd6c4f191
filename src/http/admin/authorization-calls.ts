// Handlers of the operations on authorization services of clients, whose statuses and bodies differ from those of others.
import type { Representation } from '../../kinds/json.ts'
import { getResourceServer } from '../../service/admin-api/authorization/resource-servers.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { ServiceError } from '../../service/context/errors.ts'
import { awaitWrites } from '../../service/context/send-write.ts'
import { HttpError } from '../errors.ts'
import { recordEvent } from '../event.ts'
import { type Answer, type Call, getParameter, type Operation, readBodyAfter } from '../operation.ts'

/** The path of the authorization services of a client. */
export const BASE = '/admin/realms/{realm}/clients/{client-uuid}/authz/resource-server'

/** Returns the id of the client in the path. */
export const clientOf = (call: Call): string => getParameter(call, 'client-uuid')

/** Returns the body. Keycloak: errors about objects of the path take precedence over errors in the body. */
export async function bodyOf(context: Context, call: Call, lookUp: PathLookup = toServer): Promise<Representation> {
  return (await readBodyAfter(call, () => lookUp(context, call))) as Representation
}

/** Looks up the objects in the path of a call. @throws not_found if one does not exist */
export type PathLookup = (context: Context, call: Call) => Promise<unknown>

const toServer: PathLookup = (context, call) => getResourceServer(context, clientOf(call), 'manage-authorization')

/** Returns a handler that responds with the result, or with 204 if there is none. */
export function readingOrNothing(work: (context: Context, call: Call) => Promise<unknown>): Operation['handle'] {
  return (call) =>
    call.service.read(call.caller, getParameter(call, 'realm'), async (context) => {
      const body = await work(context, call)
      return body === undefined ? { status: 204 } : { status: 200, body }
    })
}

/** Returns a handler that finds an object by the query parameter `name`. Keycloak: without it, 400 and no body. */
export function searching(
  find: (context: Context, client: string, name: string) => Promise<Representation | undefined>,
  lookUp?: PathLookup,
): Operation['handle'] {
  return (call) =>
    call.service.read(call.caller, getParameter(call, 'realm'), async (context): Promise<Answer> => {
      await lookUp?.(context, call)
      const { name } = call.query
      if (typeof name !== 'string') {
        await getResourceServer(context, clientOf(call), 'view-authorization')
        return { status: 400 }
      }
      const body = await find(context, clientOf(call), name)
      return body ? { status: 200, body } : { status: 204 }
    })
}

/** Returns a handler that creates an object and responds with it. `conflictBody` is the body of 409 if its name is in use. */
export function making(
  idField: string,
  work: (context: WriteContext, call: Call, body: Representation) => Promise<Representation>,
  { conflictBody, lookUp }: { conflictBody?: (message: string) => object; lookUp?: PathLookup } = {},
): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, getParameter(call, 'realm'), async (context) => {
      const representation = await bodyOf(context, call, lookUp)
      try {
        const body = await awaitWrites(context, () => work(context, call, representation))
        recordEvent(context, call, String(body[idField]))
        return { status: 201, body }
      } catch (error) {
        if (!conflictBody || !(error instanceof ServiceError) || error.code !== 'conflict' || error.form) throw error
        throw new HttpError(409, conflictBody(error.message))
      }
    })
}
