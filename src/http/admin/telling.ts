// Operations that tell applications something, and answer how that went.
import * as z from 'zod'
import { type AdminAction, tellClients } from '../../oidc/admin-notices.ts'
import type { WriteContext } from '../../service/context.ts'
import { type Call, type Operation, param, type Untagged, writing } from '../operation.ts'
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
  action: AdminAction,
  work: (context: WriteContext, call: Call) => Promise<void>,
  id?: (call: Call) => string,
): Operation['handle'] {
  return async (call) => {
    await writing(work)(call)
    return { status: 200, body: await tellClients(call.service, param(call, 'realm'), action, id?.(call)) }
  }
}
