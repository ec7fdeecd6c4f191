// Delivers the messages of the outbox: emails over the mail server of the realm, notifications and webhooks over HTTP.
import { sendRequest } from '../../lib/http/http-request.ts'
import { OutboundRefused, UNRESTRICTED } from '../../lib/http/outbound.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { type ActionLink, INVITATION_TOKEN } from '../../service/messages/action-tokens.ts'
import type { Email } from '../../service/messages/email-templates.ts'
import {
  type AdminNotification,
  type ApplicationNotification,
  type Deliverers,
  type Delivery,
  UndeliverableError,
  type WebhookMessage,
} from '../../service/messages/outbox.ts'
import { findSmtpSettings, sendOverSmtp } from '../../service/messages/smtp.ts'
import { getIssuer, type OidcRealm, readOidcRealm } from '../oidc-realm.ts'
import { createTranslator, selectLanguage } from '../pages/localize.ts'
import { getSignatureAlgorithm, INTERNAL_ALGORITHM } from '../signature-algorithms.ts'
import { signToken } from '../tokens/tokens.ts'
import { createAdminRequest, signClaims } from './client-notifications.ts'
import { renderEmail } from './render-email.ts'

/** The time for a response, in milliseconds. */
const TIMEOUT = 10_000

/** The functions that deliver messages, by kind. */
export const deliverers: Deliverers = {
  mail: deliverEmail,
  notice: deliverNotification,
  admin: deliverAdminNotification,
  webhook: deliverWebhook,
}

async function deliverEmail({ service, realm: name, message: email, id }: Delivery<Email>): Promise<void> {
  const { realm, language, text } = await service.read(SYSTEM, name, async (context) => {
    const realm = await readOidcRealm(context)
    const language = selectLanguage(realm.settings, [email.locale])
    return { realm, language, text: await createTranslator(context, realm.settings, language) }
  })
  const settings = findSmtpSettings(service.vault, realm.settings)
  if (!settings) throw new UndeliverableError('the realm has no mail server')
  const link = email.link && (await buildLinkUrl(service, realm, email.link))
  const content = renderEmail(email, {
    language,
    text,
    realm: realm.settings.displayName || realm.name,
    ...(link && { link }),
  })
  await sendOverSmtp(service, { realm: realm.name, settings }, { to: email.to, id, ...content })
}

/** Returns the address of a link, with its signed action token. */
async function buildLinkUrl(service: Service, realm: OidcRealm, { base, token, query }: ActionLink): Promise<string> {
  const issuer = getIssuer(base, realm)
  const claims = { ...token, ...('rqac' in token && { rqac: [...token.rqac] }), iss: issuer, aud: issuer }
  const key = await signToken(service, realm, { claims, algorithm: INTERNAL_ALGORITHM })
  if (token.typ !== INVITATION_TOKEN || token.sub !== undefined)
    return `${issuer}/login-actions/action-token?${new URLSearchParams({ key, ...query })}`
  const registration = new URLSearchParams({ response_type: 'code', client_id: token.azp, token: key })
  return `${issuer}/protocol/openid-connect/registrations?${registration}`
}

async function signNotification(
  service: Service,
  realmName: string,
  { type, algorithm, base, claims }: NonNullable<ApplicationNotification['token']>,
): Promise<string> {
  const realm = await service.read(SYSTEM, realmName, readOidcRealm)
  return signToken(service, realm, {
    claims: { ...claims, iss: getIssuer(base, realm) },
    algorithm: algorithm ?? getSignatureAlgorithm(realm.settings, {}, 'id'),
    type,
  })
}

async function deliverNotification({ service, realm, message }: Delivery<ApplicationNotification>): Promise<void> {
  const { url, token } = message
  const form = { ...message.form, ...(token && { [token.name]: await signNotification(service, realm, token) }) }
  await post(service, url, { method: 'POST', body: new URLSearchParams(form), timeout: TIMEOUT, limit: 0 })
}

async function deliverAdminNotification({ service, realm: name, message }: Delivery<AdminNotification>): Promise<void> {
  const realm = await service.read(SYSTEM, name, readOidcRealm)
  const token = await signClaims(service, realm, message.claims)
  await post(service, message.url, createAdminRequest(token))
}

/** Sends a request to an application. Throws UndeliverableError where another attempt would fail as well. */
async function post(service: Service, url: string, request: Parameters<typeof sendRequest>[2]): Promise<void> {
  const response = await sendRequest(service.outbound, url, request).catch((error: Error) => {
    throw error instanceof OutboundRefused ? new UndeliverableError(error.message) : error
  })
  if (response.ok) return
  const problem = describeStatus(url, response.status)
  // A client error is final: the application would refuse the notification again.
  throw response.status < 500 ? new UndeliverableError(problem) : new Error(problem)
}

/** A webhook to deliver, and the id of the delivery. */
type WebhookDelivery = Pick<Delivery, 'id'> & {
  readonly message: Omit<WebhookMessage, 'kind'>
}

/** Delivers a webhook. Every failure is retried, since the receiver may be fixed. */
export async function deliverWebhook({ message: { url, event, body, signature }, id }: WebhookDelivery): Promise<void> {
  // The address comes from the settings of the server, so that it is trusted.
  const response = await sendRequest(UNRESTRICTED, url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-regent-event': event,
      'x-regent-delivery': id,
      ...(signature && { 'x-hub-signature-256': signature }),
    },
    body,
    timeout: TIMEOUT,
    limit: 0,
  })
  if (!response.ok) throw new Error(describeStatus(url, response.status))
}

const describeStatus = (url: string, status: number) => `${new URL(url).origin} responded with status ${status}`
