// Emails with a link that continues a login.
import { type ActionTokenType, createActionToken, getUserActionLifespan } from '../../service/messages/action-tokens.ts'
import type { EmailTemplate } from '../../service/messages/email-templates.ts'
import { enqueueMessages } from '../../service/messages/outbox.ts'
import { findSmtpSettings } from '../../service/messages/smtp.ts'
import { recordUserEvent } from '../../service/messages/user-events.ts'
import { getLoginUser, type Login, writeRuntime } from './login.ts'
import { LoginError } from './login-error.ts'

const templates = {
  'verify-email': 'emailVerification',
  'reset-credentials': 'passwordReset',
} as const satisfies Partial<Record<ActionTokenType, EmailTemplate>>
const events = { 'verify-email': 'SEND_VERIFY_EMAIL', 'reset-credentials': 'SEND_RESET_PASSWORD' } as const

/** Throws LoginError unless the realm has a mail server. It is checked before the user, so that the error reveals no accounts. */
export function requireMailServer({ service, realm }: Login): void {
  if (!findSmtpSettings(service.vault, realm.settings)) {
    throw new LoginError('emailSendErrorMessage', 'email_send_failed', { status: 500 })
  }
}

/**
 * Sends the user an email with a link that continues the login, and returns the id of its action token. `query` has
 * further parameters of the link. Throws LoginError where the realm has no mail server.
 */
export async function sendActionLink(
  login: Login,
  typ: keyof typeof templates,
  query: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { request, realm, client, state, tab } = login
  requireMailServer(login)
  const { id, fields } = getLoginUser(login)
  const email = String(fields.email)
  const { redirectUri } = state.parameters
  return writeRuntime(login, async (context) => {
    const token = createActionToken(context, getUserActionLifespan(realm.settings, typ), {
      typ,
      sub: id,
      eml: email,
      azp: client.key[0]!,
      reduri: redirectUri,
    })
    await enqueueMessages(context, {
      kind: 'mail',
      to: email,
      template: templates[typ],
      locale: state.locale ?? fields.attributes?.locale?.[0],
      link: { base: request.base, token, query: { ...query, client_id: client.key[0]!, tab_id: tab } },
      until: token.exp,
    })
    recordUserEvent(context, {
      type: events[typ],
      client: client.key[0],
      user: id,
      details: { email, auth_method: 'openid-connect', redirect_uri: redirectUri },
    })
    return token.jti
  })
}
