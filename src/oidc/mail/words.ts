// From what a language says in mails to the texts that mails are made of, by the names that realms know them by.
import { type Template, templates } from '../../service/messages/mail.ts'

/** A mail that asks to follow a link. */
interface Asking {
  readonly subject: string
  readonly request: string
  readonly link: string
}

/** A mail that only tells something. */
interface Telling {
  readonly subject: string
  readonly what: string
}

/** What a language says in mails. */
export interface Words {
  readonly asking: Readonly<Record<'emailVerification' | 'passwordReset' | 'executeActions', Asking>>
  readonly telling: Readonly<Record<Exclude<Template, keyof Words['asking']>, Telling>>
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
export function textsOf({ asking, telling, end, ignore, beware, names }: Words): Readonly<Record<string, string>> {
  const asked = Object.entries(asking).map(([name, { subject, request, link }]) => {
    const places: readonly string[] = templates[name as Template]
    const time = end(`{${places.indexOf('expiration')}}`)
    return {
      [`${name}Subject`]: subject,
      [`${name}Body`]: `${request}\n\n{0}\n\n${time}\n\n${ignore}`,
      [htmlOf(name)]: `<p>${request}</p><p><a href="{0}">${link}</a></p><p>${time}</p><p>${ignore}</p>`,
    }
  })
  const told = Object.entries(telling).map(([name, { subject, what }]) => {
    const said = name.startsWith('event') ? `${what} ${beware}` : what
    return { [`${name}Subject`]: subject, [`${name}Body`]: said, [htmlOf(name)]: `<p>${said}</p>` }
  })
  return Object.assign({}, names, ...asked, ...told)
}

/** The name of the HTML of a mail. Keycloak: where it says "Lockout", it does not say "Body". */
export function htmlOf(name: string): string {
  return name.endsWith('Lockout') ? `${name}Html` : `${name}BodyHtml`
}
