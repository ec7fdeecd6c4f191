// The operations that send mail: to people, and to test a mail server.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { waitAtMost } from '../../lib/timing/deadline.ts'
import { type ActionEmail, sendActionEmail } from '../../oidc/mail/action-emails.ts'
import { testSmtpConnection } from '../../oidc/mail/test-smtp-connection.ts'
import { users } from '../../service/admin-api/users/users.ts'
import type { WriteContext } from '../../service/context/context.ts'
import type { Service } from '../../service/context/service.ts'
import { type BodyForm, readBody } from '../body.ts'
import { writing } from '../handlers.ts'
import { bodyBehind, type Call, type Operation, param, tagged } from '../operation.ts'
import { queryNumber } from '../query.ts'
import { badRequest, done, refusals } from '../responses.ts'

const { manage } = users
const event = { type: kinds.user.events.type, operation: 'ACTION' } as const

const goal = z.object({
  client_id: z.string().optional().describe('Client id of the application that the person goes on to.'),
  redirect_uri: z.string().optional().describe('Where the person goes on to: an address of that client.'),
})
const timed = goal.extend({
  lifespan: queryNumber.describe('How long the link works, in seconds; otherwise as the realm says.'),
})

const actions: BodyForm = {
  schema: z.array(z.string().nullable()).nullish(),
  description: 'aliases of the required actions',
  optional: true,
}

const settings: BodyForm = {
  schema: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable()).nullish(),
  description: 'the settings of the mail server, as a realm has them',
  formField: 'config',
}

/** How long an answer waits for the mail to leave, in milliseconds. */
const PATIENCE = 5_000

/** Mails with links, and the test of a mail server. */
export const mailOperations: Operation[] = [
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
      responses: { ...done, ...refusals, ...badRequest },
      handle: sending(async (context, errand, call) => {
        const stated = await bodyBehind(call, async () => users.checkAccess?.(context, { id: errand.user }))
        await sendActionEmail(context, errand, 'execute-actions', (stated ?? []) as unknown[])
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
      responses: { ...done, ...refusals },
      handle: sending((context, errand) => sendActionEmail(context, errand, 'verify-email')),
    },
    {
      operationId: 'resetPasswordEmail',
      method: 'PUT',
      path: '/admin/realms/{realm}/users/{user-id}/reset-password-email',
      summary: 'Send a user an email to reset their password',
      permission: manage,
      event,
      query: goal,
      responses: { ...done, ...refusals },
      handle: sending((context, errand) => sendActionEmail(context, errand, 'execute-actions', ['UPDATE_PASSWORD'])),
    },
  ]),
  ...tagged('Realms Admin', [
    {
      operationId: 'testSMTPConnection',
      method: 'POST',
      path: '/admin/realms/{realm}/testSMTPConnection',
      summary: 'Test an SMTP connection by sending an email to the caller',
      permission: 'manage-realm',
      event: false,
      query: z.object({
        config: z
          .string()
          .optional()
          .describe('The settings, where the earlier form of the address has them instead of a body.'),
      }),
      body: settings,
      responses: { ...done, ...refusals, ...badRequest },
      async handle(call) {
        const { config } = call.query as { config?: string }
        const realm = param(call, 'realm')
        const body = {
          get body() {
            return config === undefined ? call.body : readBody(Buffer.from(config), settings)
          },
        }
        const stated = await bodyBehind(body, () => call.service.read(call.caller, realm, async () => {}))
        await testSmtpConnection(call.service, call.caller, realm, (stated ?? {}) as Representation)
        return { status: 204 }
      },
    },
  ]),
]

/** Changes the realm of the path, and answers when what leaves then has left, or its time is over. */
function sending(work: (context: WriteContext, errand: ActionEmail, call: Call) => Promise<void>): Operation['handle'] {
  const write = writing((context, call) => work(context, errandOf(call), call))
  return async (call) => {
    const answer = await write(call)
    await delivered(call.service)
    return answer
  }
}

/** Keycloak: who is answered finds the mail in the mailbox. */
async function delivered({ outboxWorker: outbox }: Service): Promise<void> {
  if (outbox) await waitAtMost(PATIENCE, outbox.whenIdle())
}

function errandOf(call: Call): ActionEmail {
  const { client_id: client, redirect_uri: redirectUri, lifespan } = call.query as z.infer<typeof timed>
  return { user: param(call, 'user-id'), base: call.base, client, redirectUri, lifespan }
}
