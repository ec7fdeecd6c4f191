// How what is in the outbox leaves: mails by the mail server of their realm, notices and webhooks by HTTP.
import { sendRequest } from '../../lib/http/http-request.ts'
import { UNRESTRICTED, OutboundRefused } from '../../lib/http/outbound.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { ActionLink } from '../../service/messages/action-tokens.ts'
import type { Email } from '../../service/messages/email-templates.ts'
import { findSmtpSettings, sendOverSmtp } from '../../service/messages/mail-server.ts'
import {
  type Deliverers,
  type Delivery,
  type ApplicationNotification,
  UndeliverableError,
  type WebhookMessage,
} from '../../service/messages/outbox.ts'
import { getSignatureAlgorithm, INTERNAL_ALGORITHM } from '../signature-algorithms.ts'
import { selectLanguage, createTranslator } from '../pages/localize.ts'
import { getIssuer, readOidcRealm, type OidcRealm } from '../oidc-realm.ts'
import { signToken } from '../tokens/tokens.ts'
import { renderEmail } from './render-email.ts'

/** How long an application may take to answer a notice, in milliseconds. */
const PATIENCE = 10_000

/** How messages of each kind are delivered. */
export const deliverers: Deliverers = { mail: deliverMail, notice: deliverNotice, webhook: deliverWebhook }

async function deliverMail({ service, realm: name, message: mail, id }: Delivery<Email>): Promise<void> {
  const { realm, language, text } = await service.read(SYSTEM, name, async (context) => {
    const realm = await readOidcRealm(context)
    const language = selectLanguage(realm.settings, [mail.locale])
    return { realm, language, text: await createTranslator(context, realm.settings, language) }
  })
  const server = findSmtpSettings(service.vault, realm.settings)
  if (!server) throw new UndeliverableError('the realm has no mail server')
  const link = mail.link && (await addressOf(service, realm, mail.link))
  const called = String(realm.settings.displayName || realm.name)
  await sendOverSmtp(service.outbound, server, {
    to: mail.to,
    id,
    ...renderEmail(mail, { language, text, realm: called, ...(link && { link }) }),
  })
}

/** The address of a link, its token signed. */
async function addressOf(service: Service, realm: OidcRealm, { base, token, query }: ActionLink): Promise<string> {
  const issuer = getIssuer(base, realm.name)
  const claims = { ...token, rqac: token.rqac && [...token.rqac], iss: issuer, aud: issuer }
  const key = await signToken(service, realm, { claims, algorithm: INTERNAL_ALGORITHM })
  return `${issuer}/login-actions/action-token?${new URLSearchParams({ key, ...query })}`
}

async function signed(
  service: Service,
  name: string,
  { type, algorithm, base, claims }: NonNullable<ApplicationNotification['token']>,
): Promise<string> {
  const realm = await service.read(SYSTEM, name, readOidcRealm)
  const signature = algorithm ?? getSignatureAlgorithm(realm.settings, {}, 'id')
  const issued = { ...claims, iss: getIssuer(base, realm.name) }
  return signToken(service, realm, { claims: issued, algorithm: signature, type })
}

async function deliverNotice({ service, realm, message }: Delivery<ApplicationNotification>): Promise<void> {
  const { url, token } = message
  const form = { ...message.form, ...(token && { [token.name]: await signed(service, realm, token) }) }
  const request = { method: 'POST', body: new URLSearchParams(form), timeout: PATIENCE, limit: 0 } as const
  const answer = await sendRequest(service.outbound, url, request).catch((error: Error) => {
    throw error instanceof OutboundRefused ? new UndeliverableError(error.message) : error
  })
  if (answer.ok) return
  const said = `${new URL(url).origin} answered ${answer.status}`
  // What the application has understood and refused it will refuse again.
  throw answer.status < 500 ? new UndeliverableError(said) : new Error(said)
}

/** Whatever is answered but success may be put right: it is tried again. */
async function deliverWebhook({ message: { url, event, body, signature }, id }: Delivery<WebhookMessage>): Promise<void> {
  // The address is one of the server's own settings.
  const answer = await sendRequest(UNRESTRICTED, url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-regent-event': event,
      'x-regent-delivery': id,
      ...(signature && { 'x-hub-signature-256': signature }),
    },
    body,
    timeout: PATIENCE,
    limit: 0,
  })
  if (!answer.ok) throw new Error(`${new URL(url).origin} answered ${answer.status}`)
}
