// An SMTP server for tests that stores received emails.
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Address } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A received email. */
export interface ReceivedEmail {
  readonly to: readonly string[]
  /** The address of MAIL FROM. */
  readonly sender: string
  /** The From header. */
  readonly from: string
  /** The Reply-To header. */
  readonly replyTo: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** An SMTP server. */
export interface Mailbox {
  readonly port: string
  readonly emails: ReceivedEmail[]
  close(): Promise<void>
}

/** Starts an SMTP server without authentication, unless the options require it. */
export async function openMailbox(options: SMTPServerOptions = {}): Promise<Mailbox> {
  const emails: ReceivedEmail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const arrive = async () => {
        emails.push(await parseEmail(await buffer(stream), session))
      }
      arrive().then(() => done(), done)
    },
    ...options,
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: String((server.server.address() as AddressInfo).port),
    emails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

type Session = Parameters<NonNullable<SMTPServerOptions['onData']>>[1]

async function parseEmail(raw: Buffer, { envelope }: Session): Promise<ReceivedEmail> {
  const { from, replyTo, subject = '', text = '', html = '' } = await PostalMime.parse(raw)
  return {
    to: envelope.rcptTo.map(({ address }) => address),
    sender: envelope.mailFrom ? envelope.mailFrom.address : '',
    from: formatEmailAddress(from),
    replyTo: formatEmailAddress(replyTo?.[0]),
    subject,
    text,
    html,
  }
}

/** Returns an address as in a header. */
function formatEmailAddress(from: Address | undefined): string {
  if (!from?.address) return ''
  return from.name ? `${from.name} <${from.address}>` : from.address
}
