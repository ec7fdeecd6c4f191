// Links that people get by mail on the way of a log-in.
import { type ActionTokenType, newActionToken, userLifespan } from '../../service/messages/action-tokens.ts'
import type { Template } from '../../service/messages/mail.ts'
import { mailServerOf } from '../../service/messages/mail-server.ts'
import { send } from '../../service/messages/outbox.ts'
import { recordUserEvent } from '../../service/messages/user-events.ts'
import { type Login, noting, type Person } from './login.ts'
import { LoginError } from './login-error.ts'

const templates = {
  'verify-email': 'emailVerification',
  'reset-credentials': 'passwordReset',
} as const satisfies Partial<Record<ActionTokenType, Template>>
const events = { 'verify-email': 'SEND_VERIFY_EMAIL', 'reset-credentials': 'SEND_RESET_PASSWORD' } as const

/** Throws unless the realm can send mail: whoever it is, they are told the same. */
export function demandMailServer({ service, realm }: Login): void {
  if (!mailServerOf(service.vault, realm.settings)) {
    throw new LoginError('emailSendErrorMessage', 'email_send_failed', [], 500)
  }
}

/** Sends a person a link that goes on with this log-in, and gives the id of its token. Throws where the realm cannot send mail. */
export async function sendLinkTo(
  login: Login,
  { live: { id, representation } }: Person,
  typ: keyof typeof templates,
  query: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { request, realm, client, state, tab } = login
  demandMailServer(login)
  const eml = String(representation.email)
  const { locale } = (representation.attributes ?? {}) as Record<string, string[]>
  return noting(login, async (context) => {
    const token = newActionToken(context, userLifespan(realm.settings, typ), {
      typ,
      sub: id,
      eml,
      azp: client.key[0]!,
      reduri: state.parameters.redirectUri,
    })
    await send(context, {
      kind: 'mail',
      to: eml,
      template: templates[typ],
      locale: state.locale ?? locale?.[0],
      link: { base: request.base, token, query: { ...query, client_id: client.key[0]!, tab_id: tab } },
      until: token.exp,
    })
    recordUserEvent(context, {
      type: events[typ],
      client: client.key[0],
      user: id,
      details: { email: eml, auth_method: 'openid-connect', redirect_uri: state.parameters.redirectUri },
    })
    return token.jti
  })
}
