// Builds the texts of emails, by key, from the sentences of a language.
import { emailTemplates } from '../../service/messages/email-templates.ts'

/** The sentences of an email with a link. */
interface LinkEmailTexts {
  readonly subject: string
  readonly request: string
  /** The label of the link. */
  readonly link: string
}

/** The sentences of an email without a link. */
interface InfoEmailTexts {
  readonly subject: string
  readonly message: string
}

type LinkEmailTemplate = 'emailVerification' | 'passwordReset' | 'executeActions'

/** The sentences of emails in a language. */
export interface EmailTexts {
  readonly linkEmails: Readonly<Record<LinkEmailTemplate, LinkEmailTexts>>
  readonly infoEmails: Readonly<Record<Exclude<keyof typeof emailTemplates, LinkEmailTemplate>, InfoEmailTexts>>
  /** The sentence about the lifespan of a link. */
  readonly expiration: (lifespan: string) => string
  /** The advice for a user who did not request a link. */
  readonly notRequested: string
  /** The advice for a user who did not cause an event. */
  readonly notExpected: string
  /** The names of required actions and of units of time, by key. */
  readonly names: Readonly<Record<string, string>>
}

/** Builds the texts by key, in the format of lib/keycloak/message-format.ts. */
export function buildEmailTexts(texts: EmailTexts): Readonly<Record<string, string>> {
  const { linkEmails, infoEmails, expiration, notRequested, notExpected, names } = texts
  const links = objectEntries(linkEmails).map(([name, { subject, request, link }]) => {
    const placeholders: readonly string[] = emailTemplates[name]
    const lifespan = expiration(`{${placeholders.indexOf('expiration')}}`)
    return {
      [`${name}Subject`]: subject,
      [`${name}Body`]: `${request}\n\n{0}\n\n${lifespan}\n\n${notRequested}`,
      [getHtmlKey(name)]: `<p>${request}</p><p><a href="{0}">${link}</a></p><p>${lifespan}</p><p>${notRequested}</p>`,
    }
  })
  const infos = objectEntries(infoEmails).map(([name, { subject, message }]) => {
    const body = name.startsWith('event') ? `${message} ${notExpected}` : message
    return { [`${name}Subject`]: subject, [`${name}Body`]: body, [getHtmlKey(name)]: `<p>${body}</p>` }
  })
  return Object.assign({}, names, ...links, ...infos)
}

/** Returns the key of the HTML text of an email. Keycloak: it has no "Body" after "Lockout". */
export function getHtmlKey(name: string): string {
  return name.endsWith('Lockout') ? `${name}Html` : `${name}BodyHtml`
}

/** Returns the entries of an object whose keys are known. */
const objectEntries = <Key extends string, Value>(object: Readonly<Record<Key, Value>>) =>
  Object.entries(object) as [Key, Value][]
