// Sends emails through the SMTP server of a realm.
import { isIP } from 'node:net'
import { type Representation, readObject } from '../../kinds/json.ts'
import { parseJsonOrNull, sendRequest } from '../../lib/http/http-request.ts'
import { type Outbound, OutboundRefused } from '../../lib/http/outbound.ts'
import type { Service } from '../context/service.ts'
import type { Vault } from '../context/vault.ts'
import { resolveSecret } from '../context/vault-directory.ts'
import { UndeliverableError } from './outbox.ts'

/** The `smtpServer` of a realm, secrets in plain text, or as references to the vault. Keycloak: all values are texts. */
export type SmtpSettings = Readonly<Record<string, string>>

/** The SMTP server of a realm. */
export interface SmtpServer {
  readonly realm: string
  readonly settings: SmtpSettings
}

/** The parts of the service that connections to SMTP servers need. */
type SmtpService = Pick<Service, 'outbound' | 'vaultDirectory'>

/** The content of an email. */
export interface EmailContent {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** An email to send. `id`: identifies it if it is delivered twice. */
export interface OutgoingEmail extends EmailContent {
  readonly to: string
  readonly id: string
}

/** Timeout of each step of the conversation with the server, in milliseconds: together less than the lease of a message. */
const TIMEOUT_MS = 15_000
/** Maximum size of the response of a token endpoint, in bytes. */
const MAX_TOKEN_RESPONSE = 64 * 1024

/** Returns the SMTP settings of a realm; undefined if it has none. */
export function findSmtpSettings(vault: Vault, { smtpServer }: Representation): SmtpSettings | undefined {
  const settings = Object.entries(readObject(smtpServer))
  return settings.length
    ? Object.fromEntries(settings.map(([name, value]) => [name, vault.open(String(value))]))
    : undefined
}

/** Sends an email. Throws an error with a message for administrators if the server does not accept it. */
export async function sendOverSmtp(service: SmtpService, server: SmtpServer, email: OutgoingEmail): Promise<void> {
  // Loaded on demand, since few processes send email.
  const { createTransport } = await import('nodemailer')
  const { settings } = server
  const host = settings.host || 'localhost'
  const transport = createTransport({
    host: await resolveHost(service.outbound, host),
    // The connection is made by address, while the certificate has the name.
    ...(!isIP(host) && { servername: host }),
    port: readPort(settings),
    secure: settings.ssl === 'true',
    requireTLS: settings.starttls === 'true',
    ignoreTLS: settings.starttls !== 'true',
    dnsTimeout: TIMEOUT_MS,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(settings.auth === 'true' && { auth: await createAuthentication(service, server) }),
  })
  const envelope = { from: settings.envelopeFrom || settings.from || '', to: email.to }
  try {
    await transport.sendMail({ envelope, raw: await composeMessage(settings, email) })
  } catch (error) {
    throw toDeliveryError(error)
  }
}

/** Returns the address of the server after the outbound guard has checked it, so that it is not resolved again. */
async function resolveHost(outbound: Outbound, host: string): Promise<string> {
  try {
    return await outbound.resolve(host)
  } catch (error) {
    throw error instanceof OutboundRefused ? error : new Error(NO_RESPONSE, { cause: error })
  }
}

/** A display name that needs no quotes. */
const UNQUOTED_NAME = /^[\w!#$%&'*+/=?^`{|}~-]+( [\w!#$%&'*+/=?^`{|}~-]+)*$/

/** Returns the message as it is sent: headers and body. */
async function composeMessage(settings: SmtpSettings, { to, id, subject, text, html }: OutgoingEmail): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const { from = '', fromDisplayName = '', replyTo, replyToDisplayName } = settings
  // Keycloak: quotes a name only if it must be, and filters of recipients may depend on that. Nodemailer quotes more.
  const isUnquoted = UNQUOTED_NAME.test(fromDisplayName) && /^[!-~]+$/.test(from)
  const composer = new MailComposer({
    ...(!isUnquoted && { from: toMailbox(from, fromDisplayName) }),
    to: toMailbox(to),
    ...(replyTo && { replyTo: toMailbox(replyTo, replyToDisplayName) }),
    messageId: `<${id}@${from.split('@').at(-1)}>`,
    subject,
    text,
    html,
  })
  const message = await composer.compile().build()
  return isUnquoted ? Buffer.concat([Buffer.from(`From: ${fromDisplayName} <${from}>\r\n`), message]) : message
}

function readPort({ port, ssl }: SmtpSettings): number {
  const number = Number(port || (ssl === 'true' ? 465 : 25))
  // Nodemailer would use a default port instead.
  if (!Number.isInteger(number)) throw new Error('the port of the mail server is not a number')
  return number
}

const toMailbox = (address: string, name = '') => ({ address, name })

/** Keycloak: `basic` is a password, `token` an access token of an OAuth server. */
async function createAuthentication(service: SmtpService, server: SmtpServer) {
  const { authType = 'basic', user = '', password = '' } = server.settings
  if (authType === 'basic') return { user, pass: await resolveSecret(service.vaultDirectory, server.realm, password) }
  if (authType === 'token') return { type: 'OAuth2', user, accessToken: await requestAccessToken(service, server) }
  throw new Error(`the authentication type ${authType} of the mail server is not supported: use basic or token`)
}

async function requestAccessToken(
  { outbound, vaultDirectory }: SmtpService,
  { realm, settings }: SmtpServer,
): Promise<string> {
  const { authTokenUrl = '', authTokenScope, authTokenClientId = '', authTokenClientSecret = '' } = settings
  const toError = (cause?: unknown) => new Error('could not get an access token for the mail server', { cause })
  const form = {
    grant_type: 'client_credentials',
    client_id: authTokenClientId,
    client_secret: await resolveSecret(vaultDirectory, realm, authTokenClientSecret),
    ...(authTokenScope && { scope: authTokenScope }),
  }
  const request = {
    method: 'POST',
    body: new URLSearchParams(form),
    timeout: TIMEOUT_MS,
    limit: MAX_TOKEN_RESPONSE,
  } as const
  const response = await sendRequest(outbound, authTokenUrl, request).catch((error: unknown) => {
    throw error instanceof OutboundRefused ? error : toError(error)
  })
  const token = readAccessToken(parseJsonOrNull(response.text))
  if (!response.ok || token === undefined) throw toError(`the token endpoint returned ${response.status}`)
  return token
}

function readAccessToken(body: unknown): string | undefined {
  const hasToken = typeof body === 'object' && body !== null && 'access_token' in body
  return hasToken && typeof body.access_token === 'string' ? body.access_token : undefined
}

/** An error of nodemailer: its own code, the failed system call, and the reply code of the server. */
interface SmtpError extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly responseCode?: number
}

const isSmtpError = (error: unknown): error is SmtpError => error instanceof Error

const NO_RESPONSE = 'the mail server does not respond'

const reasons: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not accept the user and the password',
  ETLS: 'there is no secure connection to the mail server',
  EENVELOPE: 'the mail server refuses the sender or the recipient',
  EMESSAGE: 'the mail server refuses the email',
}

/** Returns an error with a message for administrators; UndeliverableError if another attempt would fail as well. */
function toDeliveryError(error: unknown): Error {
  const smtpError: Partial<SmtpError> = isSmtpError(error) ? error : {}
  const { code = '', syscall, responseCode = 0 } = smtpError
  const isTlsFailure = code === 'ESOCKET' && syscall === undefined
  const reason = reasons[isTlsFailure ? 'ETLS' : code] ?? NO_RESPONSE
  const isPermanent = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500
  return new (isPermanent ? UndeliverableError : Error)(reason, { cause: error })
}
