// A mail server of a test, and what arrives there.
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail that has arrived. */
export interface ArrivedMail {
  readonly to: readonly string[]
  /** Whom the mail server was told that it comes from. */
  readonly sender: string
  /** As the mail says it: a name and an address. */
  readonly from: string
  readonly subject: string
  readonly headers: string
  readonly text: string
  readonly html: string
}

/** A mail server. */
export interface Mailbox {
  readonly port: string
  readonly mails: ArrivedMail[]
  close(): Promise<void>
}

/** Opens a mail server; it asks nobody who they are, unless the options say so. */
export async function openMailbox(options: SMTPServerOptions = {}): Promise<Mailbox> {
  const mails: ArrivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      text(stream).then((raw) => {
        mails.push(read(raw, session))
        done()
      }, done)
    },
    ...options,
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: String((server.server.address() as AddressInfo).port),
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

type Session = Parameters<NonNullable<SMTPServerOptions['onData']>>[1]

function read(raw: string, { envelope }: Session): ArrivedMail {
  const [headers = ''] = raw.split('\r\n\r\n', 1)
  const header = (name: string) => new RegExp(`^${name}: (.*(?:\r\n\\s.*)*)`, 'mi').exec(headers)?.[1] ?? ''
  const part = (type: string) => {
    const [, encoding = '', body = ''] =
      new RegExp(`content-type: ${type}.*\r\n(?:content-transfer-encoding: (\\S+)\r\n)?\r\n([^]*?)\r\n--`, 'i').exec(
        raw,
      ) ?? []
    return decoded(body, encoding)
  }
  return {
    to: envelope.rcptTo.map(({ address }) => address),
    sender: envelope.mailFrom ? envelope.mailFrom.address : '',
    from: header('From'),
    subject: words(header('Subject')),
    headers,
    text: part('text/plain'),
    html: part('text/html'),
  }
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? unquoted(body.replace(/=\r\n/g, '')) : body
}

/** A header in which some words are encoded (RFC 2047). */
function words(value: string): string {
  return value.replace(/=\?UTF-8\?(Q|B)\?(.*?)\?=\s*/gi, (_, way: string, word: string) =>
    way.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : unquoted(word.replaceAll('_', ' ')),
  )
}

function unquoted(text: string): string {
  const bytes = text.replace(/=([\dA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
