// From what a language says in mails to the texts that mails are made of, by the names that realms know them by.
import { type EmailTemplate, emailTemplates } from '../../service/messages/email-templates.ts'

/** A mail that asks to follow a link. */
interface LinkEmailTexts {
  readonly subject: string
  readonly request: string
  readonly link: string
}

/** A mail that only tells something. */
interface InfoEmailTexts {
  readonly subject: string
  readonly what: string
}

/** What a language says in mails. */
export interface EmailTexts {
  readonly asking: Readonly<Record<'emailVerification' | 'passwordReset' | 'executeActions', LinkEmailTexts>>
  readonly telling: Readonly<Record<Exclude<EmailTemplate, keyof EmailTexts['asking']>, InfoEmailTexts>>
  /** How long a link works. */
  readonly end: (time: string) => string
  /** What to do with a link that one has not asked for. */
  readonly ignore: string
  /** What to do about something that happened to one's account. */
  readonly beware: string
  /** Names of required actions and of units of time. */
  readonly names: Readonly<Record<string, string>>
}

/** The texts by name, in the form of lib/keycloak/message-format.ts. */
export function buildEmailTexts({ asking, telling, end, ignore, beware, names }: EmailTexts): Readonly<Record<string, string>> {
  const asked = Object.entries(asking).map(([name, { subject, request, link }]) => {
    const places: readonly string[] = emailTemplates[name as EmailTemplate]
    const time = end(`{${places.indexOf('expiration')}}`)
    return {
      [`${name}Subject`]: subject,
      [`${name}Body`]: `${request}\n\n{0}\n\n${time}\n\n${ignore}`,
      [getHtmlKey(name)]: `<p>${request}</p><p><a href="{0}">${link}</a></p><p>${time}</p><p>${ignore}</p>`,
    }
  })
  const told = Object.entries(telling).map(([name, { subject, what }]) => {
    const said = name.startsWith('event') ? `${what} ${beware}` : what
    return { [`${name}Subject`]: subject, [`${name}Body`]: said, [getHtmlKey(name)]: `<p>${said}</p>` }
  })
  return Object.assign({}, names, ...asked, ...told)
}

/** The name of the HTML of a mail. Keycloak: where it says "Lockout", it does not say "Body". */
export function getHtmlKey(name: string): string {
  return name.endsWith('Lockout') ? `${name}Html` : `${name}BodyHtml`
}
