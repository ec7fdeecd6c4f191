// The operations that send emails to users, and the test of an SMTP server.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { waitAtMost } from '../../lib/timing/deadline.ts'
import { type ActionEmail, sendActionEmail } from '../../oidc/mail/action-emails.ts'
import { testSmtpConnection } from '../../oidc/mail/test-smtp-connection.ts'
import { users } from '../../service/admin-api/users/users.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { type BodyForm, readBody } from '../body.ts'
import { writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, readBodyAfter, tagged } from '../operation.ts'
import { queryNumber } from '../query.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'

const { manage } = users
const event = { type: kinds.user.events.type, operation: 'ACTION' } as const

const goal = z.object({
  client_id: z
    .string()
    .optional()
    .describe('Client to which the user is redirected, by client id. Default: the account console.'),
  redirect_uri: z
    .string()
    .optional()
    .describe('Redirect URI, which must be valid for the client. Absent: the page has no link back.'),
})
const timed = goal.extend({
  lifespan: queryNumber.describe(
    'Lifespan of the link, in seconds. Default: `actionTokenGeneratedByAdminLifespan` of the realm.',
  ),
})

const actions: BodyForm = {
  schema: z.array(z.string().nullable()).nullish(),
  description: 'Aliases of the required actions.',
  optional: true,
}

const settings: BodyForm = {
  schema: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable()).nullish(),
  description: 'The SMTP settings, as in `smtpServer` of a realm.',
  formField: 'config',
}

/** Milliseconds that a response waits for the delivery of the email. */
const DELIVERY_WAIT = 5_000

/** The operations that send emails with links, and the test of a mail server. */
export const emailOperations: Operation[] = [
  ...tagged('Users', [
    {
      operationId: 'executeActionsEmail',
      method: 'PUT',
      path: '/admin/realms/{realm}/users/{user-id}/execute-actions-email',
      summary: 'Send a user an email to execute required actions',
      permission: manage,
      event,
      query: timed,
      body: actions,
      responses: { ...noContentResponse, ...errorResponses, ...badRequest },
      handle: emailHandler(async (context, email, call) => {
        const actions = await readBodyAfter(call, async () => users.checkAccess?.(context, { id: email.user }))
        await sendActionEmail(context, 'execute-actions', { ...email, actions: (actions ?? []) as unknown[] })
      }),
    },
    {
      operationId: 'sendVerifyEmail',
      method: 'PUT',
      path: '/admin/realms/{realm}/users/{user-id}/send-verify-email',
      summary: 'Send a user an email to verify their email address',
      permission: manage,
      event,
      query: timed,
      responses: { ...noContentResponse, ...errorResponses },
      handle: emailHandler((context, email) => sendActionEmail(context, 'verify-email', email)),
    },
    {
      operationId: 'resetPasswordEmail',
      method: 'PUT',
      path: '/admin/realms/{realm}/users/{user-id}/reset-password-email',
      summary: 'Send a user an email to update their password',
      description: 'Use `execute-actions-email` with the action UPDATE_PASSWORD instead.',
      deprecated: true,
      permission: manage,
      event,
      query: goal,
      responses: { ...noContentResponse, ...errorResponses },
      handle: emailHandler((context, email) =>
        sendActionEmail(context, 'execute-actions', { ...email, actions: ['UPDATE_PASSWORD'] }),
      ),
    },
  ]),
  ...tagged('Realms Admin', [
    {
      operationId: 'testSMTPConnection',
      method: 'POST',
      path: '/admin/realms/{realm}/testSMTPConnection',
      summary: 'Test an SMTP connection by sending an email to the caller',
      deprecated: true,
      permission: 'manage-realm',
      event: false,
      query: z.object({
        config: z.string().optional().describe('The SMTP settings as JSON, for the legacy API, which has no body.'),
      }),
      body: settings,
      responses: { ...noContentResponse, ...errorResponses, ...badRequest },
      async handle(call) {
        const { config } = call.query as { config?: string }
        const realm = getParameter(call, 'realm')
        const body = {
          get body() {
            return config === undefined ? call.body : readBody(Buffer.from(config), settings)
          },
        }
        const smtpSettings = await readBodyAfter(body, () => call.service.read(call.caller, realm, async () => {}))
        await testSmtpConnection(call.service, call.caller, { realm, settings: (smtpSettings ?? {}) as Representation })
        return { status: 204 }
      },
    },
  ]),
]

/** Returns a handler that queues emails and responds after their delivery, or after a limited wait. */
function emailHandler(
  work: (context: WriteContext, email: ActionEmail, call: Call) => Promise<void>,
): Operation['handle'] {
  return withDelivery(writeHandler((context, call) => work(context, toActionEmail(call), call)))
}

/** Waits for the delivery of the emails of a handler. Keycloak: the email is in the mailbox when the response arrives. */
export function withDelivery(handle: Operation['handle']): Operation['handle'] {
  return async (call) => {
    const response = await handle(call)
    const { outboxWorker: outbox } = call.service
    if (outbox) await waitAtMost(DELIVERY_WAIT, outbox.whenIdle())
    return response
  }
}

function toActionEmail(call: Call): ActionEmail {
  const { client_id: client, redirect_uri: redirectUri, lifespan } = call.query as z.infer<typeof timed>
  return { user: getParameter(call, 'user-id'), base: call.base, client, redirectUri, lifespan }
}
