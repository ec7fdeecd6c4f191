// Operations that notify clients, and respond with the outcome.
import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'
import { notifyClients } from '../../oidc/mail/client-notifications.ts'
import type { ClientAdminAction } from '../../service/clients/admin-urls.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { describeAdminEvent, hasAdminEvents } from '../../service/journal/admin-events.ts'
import { recordEvent } from '../event.ts'
import { type Call, getParameter, type Operation, type UntaggedOperation } from '../operation.ts'
import { errorResponses } from '../responses.ts'

const addresses = z.array(z.string())

/** The responses of operations that notify clients. */
export const notificationResponses: UntaggedOperation['responses'] = {
  200: {
    description: 'The notified clients.',
    schema: nameSchema(
      'GlobalRequestResult',
      z.object({
        successRequests: addresses.optional().describe('Admin URLs of clients that accepted the notification.'),
        failedRequests: addresses.optional().describe('Admin URLs of clients that refused it or did not respond.'),
      }),
    ),
  },
  ...errorResponses,
}

/** Returns a handler that does the work and notifies all clients, or the one with the id, and responds with the outcome. */
export function notifyingHandler(
  action: ClientAdminAction,
  work: (context: WriteContext, call: Call) => Promise<unknown>,
  id?: (call: Call) => string,
): Operation['handle'] {
  return async (call) => {
    const { service, caller } = call
    const realm = getParameter(call, 'realm')
    const hasEvents = await service.write(caller, realm, async (context) => {
      await work(context, call)
      return hasAdminEvents(context)
    })
    const body = await notifyClients(service, realm, { action, id: id?.(call) })
    // The event has the outcome, and no transaction waits for clients. Keycloak: only if all clients were notified. It is recorded without
    // the token of the caller, which the work may have invalidated.
    if (hasEvents)
      await service.write({ actor: caller.actor }, realm, async (context) => {
        if (!id) describeAdminEvent(context, { representation: body })
        recordEvent(context, call)
      })
    return { status: 200, body }
  }
}
