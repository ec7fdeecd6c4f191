// Emails to users, as templates with values. They are rendered when they are sent.
import type { emailsWithLink } from '../../kinds/localization.ts'
import type { ActionLink } from './action-tokens.ts'

/** An email in the outbox. */
export interface Email {
  readonly kind: 'mail'
  readonly to: string
  readonly template: EmailTemplate
  /** The preferred language of the user, such as `de` or `pt-BR`. Absent: the default of the realm. */
  readonly locale?: string | undefined
  /** Values of the template, besides the realm, the actions and the link. Dates in ISO 8601. */
  readonly values?: Readonly<Partial<Record<EmailValue, string>>>
  /** Aliases of the required actions for the user to perform. */
  readonly actions?: readonly string[]
  /** The link in the email. */
  readonly link?: ActionLink
  /** The content of a notification by a workflow. */
  readonly notification?: WorkflowNotification
  /** The time after which the email is not sent any more, in seconds since 1970. */
  readonly until?: number
}

/** Keycloak: the content of an email of the step `notify-user`. */
export interface WorkflowNotification {
  /** The subject, or the key of a text. Absent: that of the template. */
  readonly subject?: string | undefined
  /** HTML with placeholders such as `${user.firstName}`. Absent: the text of the template. */
  readonly message?: string | undefined
  /** The values of the placeholders that have one. */
  readonly placeholders: Readonly<Record<string, string>>
  /** The first name or username of the user. */
  readonly recipient: string
  /** Days until the next step. */
  readonly days: number
}

/** A value in a template. */
export type EmailValue =
  | 'link'
  | 'minutes'
  | 'realm'
  | 'expiration'
  | 'actions'
  | 'date'
  | 'address'
  | 'credential'
  | 'days'
  | 'reason'
  | 'organization'
  | 'firstName'
  | 'lastName'

/** Keycloak: the emails by the names of their texts, with the values of the placeholders in their bodies. */
export const emailTemplates = {
  emailTest: [],
  emailVerification: ['link', 'minutes', 'realm', 'expiration'],
  passwordReset: ['link', 'minutes', 'realm', 'expiration'],
  executeActions: ['link', 'minutes', 'realm', 'actions', 'expiration'],
  orgInvite: ['link', 'minutes', 'realm', 'organization', 'expiration'],
  orgInvitePersonalized: ['link', 'minutes', 'realm', 'organization', 'expiration', 'firstName', 'lastName'],
  eventLoginError: ['date', 'address'],
  eventRemoveTotp: ['date', 'address'],
  eventUpdatePassword: ['date', 'address'],
  eventUpdateTotp: ['date', 'address'],
  eventUpdateCredential: ['credential', 'date', 'address'],
  eventRemoveCredential: ['credential', 'date', 'address'],
  eventUserDisabledByTemporaryLockout: ['date'],
  eventUserDisabledByPermanentLockout: ['date'],
  accountNotification: ['days', 'reason'],
  accountDisableNotification: ['days', 'reason'],
  accountDeleteNotification: ['days', 'reason'],
} as const satisfies Record<string, readonly EmailValue[]> &
  Record<(typeof emailsWithLink)[number], readonly ['link', ...EmailValue[]]>

/** The name of a template. */
export type EmailTemplate = keyof typeof emailTemplates

/** Keycloak: the values of the placeholders in subjects. Other subjects have none. */
export const subjectValues: Partial<Record<EmailTemplate, readonly EmailValue[]>> = {
  orgInvite: ['organization'],
  orgInvitePersonalized: ['organization'],
}
