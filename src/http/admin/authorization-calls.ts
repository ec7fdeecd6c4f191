// How the operations on clients that decide permissions answer, where they do so in a way of their own.
import type { Representation } from '../../kinds/kind.ts'
import type { Context, WriteContext } from '../../service/context.ts'
import { ServiceError } from '../../service/errors.ts'
import { getServer } from '../../service/resources/resource-servers.ts'
import { HttpError } from '../errors.ts'
import { recordEvent } from '../event.ts'
import { type Answer, bodyBehind, type Call, type Operation, operationId, param, type Untagged } from '../operation.ts'
import { refusals } from '../responses.ts'
import { silently } from './authorization-schemas.ts'

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

const toServer: Reach = (context, call) => getServer(context, clientOf(call), 'manage-authorization')

/** Reads; where there is nothing, the status says so without a word. */
export function readingOr(
  absent: 204 | 404,
  work: (context: Context, call: Call) => Promise<unknown>,
): Operation['handle'] {
  return (call) =>
    call.service.read(call.caller, param(call, 'realm'), async (context) => {
      const body = await work(context, call)
      return body === undefined ? { status: absent } : { status: 200, body }
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
        await getServer(context, clientOf(call), 'view-authorization')
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
        if (!taken || !(error instanceof ServiceError) || error.code !== 'conflict') throw error
        throw new HttpError(409, taken(error.message))
      }
    })
}

/** Changes something. Where it is not there, nothing but the status says so. */
export function changing(
  work: (context: WriteContext, call: Call) => Promise<unknown>,
  status = 204,
): Operation['handle'] {
  return (call) =>
    call.service.write(call.caller, param(call, 'realm'), async (context): Promise<Answer> => {
      if ((await work(context, call)) === false) return { status: 404 }
      recordEvent(context, call)
      return { status }
    })
}

/** What belongs to one object. */
export function part(
  item: string,
  field: string,
  answer: Untagged['responses'][number],
  summary: string,
  parameter: string,
  read: (context: Context, client: string, id: string) => Promise<unknown>,
): Untagged {
  return {
    permission: 'view-authorization',
    operationId: operationId('list', `${item}/${field}`),
    method: 'GET',
    path: `${item}/${field}`,
    summary,
    responses: { 200: answer, ...refusals, ...silently.missing },
    handle: readingOr(404, (context, call) => read(context, clientOf(call), param(call, parameter))),
  }
}
