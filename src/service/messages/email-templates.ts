// Mails to people: what is said to whom. How it is worded is decided when the mail leaves.
import type { emailsWithLink } from '../../kinds/localization.ts'
import type { ActionLink } from './action-tokens.ts'

/** A mail in the outbox. */
export interface Email {
  readonly kind: 'mail'
  readonly to: string
  readonly template: EmailTemplate
  /** The language that the person wishes for, such as de or pt-BR. Absent: the realm's. */
  readonly locale?: string | undefined
  /** What the template has places for, besides the realm and what follows. A date as ISO 8601 has it. */
  readonly values?: Readonly<Partial<Record<EmailValue, string>>>
  /** What the person is asked to do: aliases of required actions. */
  readonly actions?: readonly string[]
  /** Leads to something that the person is asked to do. */
  readonly link?: ActionLink
  /** Seconds since 1970: nobody needs it later. */
  readonly until?: number
}

/** What stands in places of templates. */
export type EmailValue = 'link' | 'minutes' | 'realm' | 'expiration' | 'actions' | 'date' | 'address' | 'credential'

/** Keycloak: the mails that there are, by the names of their texts, and what stands in the places of their bodies. */
export const emailTemplates = {
  emailTest: [],
  emailVerification: ['link', 'minutes', 'realm', 'expiration'],
  passwordReset: ['link', 'minutes', 'realm', 'expiration'],
  executeActions: ['link', 'minutes', 'realm', 'actions', 'expiration'],
  eventLoginError: ['date', 'address'],
  eventRemoveTotp: ['date', 'address'],
  eventUpdatePassword: ['date', 'address'],
  eventUpdateTotp: ['date', 'address'],
  eventUpdateCredential: ['credential', 'date', 'address'],
  eventRemoveCredential: ['credential', 'date', 'address'],
  eventUserDisabledByTemporaryLockout: ['date'],
  eventUserDisabledByPermanentLockout: ['date'],
} as const satisfies Record<string, readonly EmailValue[]> &
  Record<(typeof emailsWithLink)[number], readonly ['link', ...EmailValue[]]>

/** The name of a mail. */
export type EmailTemplate = keyof typeof emailTemplates
