// The mail servers of realms: what their settings mean, and sending by them.
import { isIP } from 'node:net'
import type { Representation } from '../../kinds/json.ts'
import { parseJsonOrNull, sendRequest } from '../../lib/http/http-request.ts'
import { type Outbound, OutboundRefused } from '../../lib/http/outbound.ts'
import type { Vault } from '../context/vault.ts'
import { UndeliverableError } from './outbox.ts'

/** The settings of a mail server, secrets in the clear. Keycloak: all of them are texts. */
export type SmtpSettings = Readonly<Record<string, string>>

/** What a mail says. */
export interface EmailContent {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** A letter to somebody. `id`: whoever gets it twice can know it by that. */
export interface OutgoingEmail extends EmailContent {
  readonly to: string
  readonly id: string
}

/** How long each step of talking to a mail server may take, in milliseconds: together less than the lease of a message. */
const PATIENCE = 15_000
/** Bytes that the answer of a server that gives access tokens may have. */
const LONGEST_TOKEN = 64 * 1024

/** The mail server of a realm; undefined when it has none. */
export function findSmtpSettings(vault: Vault, { smtpServer }: Representation): SmtpSettings | undefined {
  const settings = Object.entries((smtpServer ?? {}) as Representation)
  return settings.length
    ? Object.fromEntries(settings.map(([name, value]) => [name, vault.open(String(value))]))
    : undefined
}

/** Gives a letter to the mail server. Throws, in words for administrators, what keeps it from being taken. */
export async function sendOverSmtp(outbound: Outbound, server: SmtpSettings, letter: OutgoingEmail): Promise<void> {
  // What only sends mail now and then does not load what sends it.
  const { createTransport } = await import('nodemailer')
  const host = server.host || 'localhost'
  const transport = createTransport({
    host: await addressToConnect(outbound, host),
    // The certificate is that of the name, also where the connection is made by address.
    ...(!isIP(host) && { servername: host }),
    port: portOf(server),
    secure: server.ssl === 'true',
    requireTLS: server.starttls === 'true',
    ignoreTLS: server.starttls !== 'true',
    dnsTimeout: PATIENCE,
    connectionTimeout: PATIENCE,
    greetingTimeout: PATIENCE,
    socketTimeout: PATIENCE,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(server.auth === 'true' && { auth: await authenticationOf(outbound, server) }),
  })
  const envelope = { from: server.envelopeFrom || server.from || '', to: letter.to }
  try {
    await transport.sendMail({ envelope, raw: await composed(server, letter) })
  } catch (error) {
    throw explained(error as SmtpError)
  }
}

/** The address of the mail server that was checked: nothing is looked up after that. Throws what refuses it. */
async function addressToConnect(outbound: Outbound, host: string): Promise<string> {
  try {
    return await outbound.resolve(host)
  } catch (error) {
    throw error instanceof OutboundRefused ? error : new Error('the mail server does not answer', { cause: error })
  }
}

/** A name that stands before an address as it is. */
const PLAIN = /^[\w!#$%&'*+/=?^`{|}~-]+( [\w!#$%&'*+/=?^`{|}~-]+)*$/

/** A letter as it goes over the wire. */
async function composed(server: SmtpSettings, { to, id, subject, text, html }: OutgoingEmail): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const { from = '', fromDisplayName = '', replyTo, replyToDisplayName } = server
  // Keycloak: a name is in quotes only where it must be, and mail readers may have rules for it. Nodemailer quotes more.
  const plain = PLAIN.test(fromDisplayName) && /^[!-~]+$/.test(from)
  const mail = new MailComposer({
    ...(!plain && { from: addressOf(from, fromDisplayName) }),
    to: addressOf(to),
    ...(replyTo && { replyTo: addressOf(replyTo, replyToDisplayName) }),
    messageId: `<${id}@${from.split('@').at(-1)}>`,
    subject,
    text,
    html,
  })
  const bytes = await mail.compile().build()
  return plain ? Buffer.concat([Buffer.from(`From: ${fromDisplayName} <${from}>\r\n`), bytes]) : bytes
}

function portOf({ port, ssl }: SmtpSettings): number {
  const number = Number(port || (ssl === 'true' ? 465 : 25))
  // Without this, whoever sends the mail would take a port of its own.
  if (!Number.isInteger(number)) throw new Error('the port of the mail server is no number')
  return number
}

const addressOf = (address: string, name = '') => ({ address, name })

/** Keycloak: `basic` is a password, `token` an access token that another server gives for it. */
async function authenticationOf(outbound: Outbound, server: SmtpSettings) {
  const { authType = 'basic', user = '', password = '' } = server
  if (authType === 'basic') return { user, pass: password }
  if (authType === 'token') return { type: 'OAuth2', user, accessToken: await accessToken(outbound, server) }
  throw new Error(`the mail server is to be asked with ${authType}, which Regent does not know`)
}

async function accessToken(outbound: Outbound, server: SmtpSettings): Promise<string> {
  const { authTokenUrl = '', authTokenScope, authTokenClientId = '', authTokenClientSecret = '' } = server
  const failed = (cause?: unknown) => new Error('there is no access token for the mail server', { cause })
  const form = {
    grant_type: 'client_credentials',
    client_id: authTokenClientId,
    client_secret: authTokenClientSecret,
    ...(authTokenScope && { scope: authTokenScope }),
  }
  const request = { method: 'POST', body: new URLSearchParams(form), timeout: PATIENCE, limit: LONGEST_TOKEN } as const
  const answer = await sendRequest(outbound, authTokenUrl, request).catch((error: unknown) => {
    throw error instanceof OutboundRefused ? error : failed(error)
  })
  const token = (parseJsonOrNull(answer.text) as { access_token?: unknown } | null)?.access_token
  if (!answer.ok || typeof token !== 'string') throw failed(`the answer was ${answer.status}`)
  return token
}

/** What nodemailer throws: its own code, which call of the system failed, and what the server answered. */
interface SmtpError extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly responseCode?: number
}

const reasons: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not accept the user and the password',
  ETLS: 'there is no secure connection to the mail server',
  EENVELOPE: 'the mail server refuses the sender or the recipient',
  EMESSAGE: 'the mail server refuses the mail',
}

function explained(error: SmtpError): Error {
  const unsafe = error.code === 'ESOCKET' && error.syscall === undefined
  const reason = reasons[unsafe ? 'ETLS' : (error.code ?? '')] ?? 'the mail server does not answer'
  const forGood = (error.code === 'EENVELOPE' || error.code === 'EMESSAGE') && (error.responseCode ?? 0) >= 500
  return new (forGood ? UndeliverableError : Error)(reason, { cause: error })
}
