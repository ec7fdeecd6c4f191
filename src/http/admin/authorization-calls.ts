// How the operations on clients that decide permissions answer, where they do so in a way of their own.
import type { Representation } from '../../kinds/json.ts'
import { getResourceServer } from '../../service/admin-api/authorization/resource-servers.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { ServiceError } from '../../service/context/errors.ts'
import { HttpError } from '../errors.ts'
import { recordEvent } from '../event.ts'
import { type Answer, bodyBehind, type Call, type Operation, param } from '../operation.ts'

/** The path of what a client decides permissions by. */
export const BASE = '/admin/realms/{realm}/clients/{client-uuid}/authz/resource-server'

/** The id of the client in the address. */
export const clientOf = (call: Call): string => param(call, 'client-uuid')

/** The body; Keycloak: looked at when the client is found, and what else the address leads through. */
export async function bodyOf(context: Context, call: Call, reach: Reach = toServer): Promise<Representation> {
  return (await bodyBehind(call, () => reach(context, call))) as Representation
}

/** Throws not_found unless what an address leads through is there. */
export type Reach = (context: Context, call: Call) => Promise<unknown>

const toServer: Reach = (context, call) => getResourceServer(context, clientOf(call), 'manage-authorization')

/** Reads; where there is nothing, the status says so without a word. */
export function readingOrNothing(work: (context: Context, call: Call) => Promise<unknown>): Operation['handle'] {
  return (call) =>
    call.service.read(call.caller, param(call, 'realm'), async (context) => {
      const body = await work(context, call)
      return body === undefined ? { status: 204 } : { status: 200, body }
    })
}

/** Looks for one by the name of the query. Keycloak: without a name the request is wrong, without a word. */
export function searching(
  find: (context: Context, client: string, name: string) => Promise<Representation | undefined>,
): Operation['handle'] {
  return (call) =>
    call.service.read(call.caller, param(call, 'realm'), async (context): Promise<Answer> => {
      const { name } = call.query
      if (typeof name !== 'string') {
        await getResourceServer(context, clientOf(call), 'view-authorization')
        return { status: 400 }
      }
      const body = await find(context, clientOf(call), name)
      return body ? { status: 200, body } : { status: 204 }
    })
}

/** Makes something and answers with it. `taken`: the answer where its name is. */
export function making(
  idField: string,
  work: (context: WriteContext, call: Call, body: Representation) => Promise<Representation>,
  { taken, reach }: { taken?: (message: string) => object; reach?: Reach } = {},
): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, param(call, 'realm'), async (context) => {
      const stated = await bodyOf(context, call, reach)
      try {
        const body = await work(context, call, stated)
        recordEvent(context, call, String(body[idField]))
        return { status: 201, body }
      } catch (error) {
        if (!taken || !(error instanceof ServiceError) || error.code !== 'conflict' || error.form)
          throw error
        throw new HttpError(409, taken(error.message))
      }
    })
}
