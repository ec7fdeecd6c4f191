// Mails to people: what is said to whom, in which language. How it is worded is decided when the mail leaves.
import type { Json } from '../../kinds/fields.ts'
import type { Representation } from '../../kinds/kind.ts'
import type { ActionLink } from '../action-tokens.ts'
import type { Context } from '../context.ts'
import { writers } from '../index.ts'
import { type Texts, texts } from './texts.ts'

/** A mail in the outbox. */
export interface Mail {
  readonly kind: 'mail'
  readonly to: string
  readonly template: Template
  /** Its language, such as de or pt-BR. */
  readonly locale: string
  /** What the template has places for, besides the realm and what follows. A date as ISO 8601 has it. */
  readonly values?: Readonly<Partial<Record<Value, string>>>
  /** What the person is asked to do: aliases of required actions. */
  readonly actions?: readonly string[]
  /** Leads to something that the person is asked to do. */
  readonly link?: ActionLink
  /** Seconds since 1970: nobody needs it later. */
  readonly until?: number
}

/** What stands in places of templates. */
export type Value =
  | 'link'
  | 'minutes'
  | 'realm'
  | 'expiration'
  | 'actions'
  | 'email'
  | 'date'
  | 'address'
  | 'credential'

/** Keycloak: the mails that there are, by the names of their texts, and what stands in the places of their bodies. */
export const templates = {
  emailTest: [],
  emailVerification: ['link', 'minutes', 'realm', 'expiration'],
  emailUpdateConfirmation: ['link', 'email', 'realm', 'expiration'],
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
} as const satisfies Record<string, readonly Value[]>

/** The name of a mail. */
export type Template = keyof typeof templates

/** The language to write in: the first of those wished for that the realm has, or else the realm's own. */
export function languageOf(realm: Representation, ...wished: readonly (Json | undefined)[]): string {
  if (realm.internationalizationEnabled !== true) return 'en'
  const supported = (realm.supportedLocales ?? []) as Json[]
  return String(wished.find((one) => one !== undefined && supported.includes(one)) ?? realm.defaultLocale ?? 'en')
}

/** The texts of a language: the realm's own stand in place of those that come with the server. One statement. */
export async function textsIn(context: Context, locale: string): Promise<Texts> {
  const [language] = locale.split('-')
  const order = ['en', language!, locale]
  const found = await writers.localization.list(context, { keys: [...new Set(order)].map((one) => [one]) })
  const own = order.map((one) => found.find(({ key }) => key[0] === one)?.representation.texts as Texts | undefined)
  return Object.assign({}, texts, ...own)
}
