// Operations that tell applications something, and answer how that went.
import * as z from 'zod'
import { type ClientAdminAction, notifyClients } from '../../oidc/mail/client-notifications.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { describeAdminEvent, hasAdminEvents } from '../../service/journal/admin-events.ts'
import { recordEvent } from '../event.ts'
import { type Call, type Operation, param, type Untagged } from '../operation.ts'
import { refusals } from '../responses.ts'

const addresses = z.array(z.string())

/** What such an operation answers. */
export const told: Untagged['responses'] = {
  200: {
    description: 'Which applications took it.',
    schema: z.object({
      successRequests: addresses.optional().describe('Administration addresses of clients that took it.'),
      failedRequests: addresses.optional().describe('Those of clients that refused it or did not answer.'),
    }),
  },
  ...refusals,
}

/** Does the work, tells the clients, or the one of that id, and answers which of them took it. */
export function telling(
  action: ClientAdminAction,
  work: (context: WriteContext, call: Call) => Promise<unknown>,
  id?: (call: Call) => string,
): Operation['handle'] {
  return async (call) => {
    const { service, caller } = call
    const realm = param(call, 'realm')
    const kept = await service.write(caller, realm, async (context) => {
      await work(context, call)
      return hasAdminEvents(context)
    })
    const body = await notifyClients(service, realm, action, id?.(call))
    // What was answered is told by the event, too, and no transaction waits for answers. Keycloak: only where all were asked.
    if (kept)
      await service.write(caller, realm, async (context) => {
        if (!id) describeAdminEvent(context, { representation: body })
        recordEvent(context, call)
      })
    return { status: 200, body }
  }
}
