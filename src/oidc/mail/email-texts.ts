// Builds the texts of emails, by key, from the sentences of a language.
import { getEmailTextKeys } from '../../kinds/localization.ts'
import { emailTemplates } from '../../service/messages/email-templates.ts'

/** The sentences of an email with a link. */
interface LinkEmailTexts {
  readonly subject: string
  readonly request: string
  /** The label of the link. */
  readonly link: string
  /** The advice for a user who does not follow the link. Default: `notRequested`. */
  readonly advice?: string
}

/** The sentences of an email without a link. */
interface InfoEmailTexts {
  readonly subject: string
  readonly message: string
}

type LinkEmailTemplate = 'emailVerification' | 'passwordReset' | 'executeActions' | 'orgInvite'
type InfoEmailTemplate = Exclude<keyof typeof emailTemplates, LinkEmailTemplate | 'orgInvitePersonalized'>

/** The sentences of emails in a language. */
export interface EmailTexts {
  readonly linkEmails: Readonly<Record<LinkEmailTemplate, LinkEmailTexts>>
  readonly infoEmails: Readonly<Record<InfoEmailTemplate, InfoEmailTexts>>
  /** The greeting of a personalized email. */
  readonly greeting: string
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
  const { linkEmails, infoEmails, greeting, notExpected, names } = texts
  const links = objectEntries(linkEmails).map(([name, email]) => buildLinkEmail(texts, name, { email }))
  const personalized = buildLinkEmail(texts, 'orgInvitePersonalized', { email: linkEmails.orgInvite, greeting })
  const infos = objectEntries(infoEmails).map(([name, { subject, message }]) => {
    const body = name.startsWith('event') ? `${message} ${notExpected}` : message
    const keys = getEmailTextKeys(name)
    return { [keys.subject]: subject, [keys.body]: body, [keys.html]: `<p>${body}</p>` }
  })
  return Object.assign({}, names, ...links, personalized, ...infos)
}

/** Builds the texts of an email with a link, by key. */
function buildLinkEmail(
  { expiration, notRequested }: EmailTexts,
  template: keyof typeof emailTemplates,
  { email, greeting }: { readonly email: LinkEmailTexts; readonly greeting?: string },
): Record<string, string> {
  const { subject, request, link, advice = notRequested } = email
  const keys = getEmailTextKeys(template)
  const placeholders: readonly string[] = emailTemplates[template]
  const lifespan = expiration(`{${placeholders.indexOf('expiration')}}`)
  const before = [greeting, request].filter((text) => text !== undefined)
  const after = [lifespan, advice]
  const toHtml = (paragraphs: readonly string[]) => paragraphs.map((text) => `<p>${text}</p>`).join('')
  return {
    [keys.subject]: subject,
    [keys.body]: [...before, '{0}', ...after].join('\n\n'),
    [keys.html]: `${toHtml(before)}<p><a href="{0}">${link}</a></p>${toHtml(after)}`,
  }
}

/** Returns the entries of an object whose keys are known. */
const objectEntries = <Key extends string, Value>(object: Readonly<Record<Key, Value>>) =>
  Object.entries(object) as [Key, Value][]
