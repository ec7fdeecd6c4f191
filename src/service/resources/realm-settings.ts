// What writing the settings of a realm means besides what is stated.
import type { FlatFields } from '../../kinds/compare.ts'
import type { Json } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/kind.ts'
import { settingsKeptAsAttributes } from '../../kinds/realm.ts'
import { isMailAddress } from '../../lib/mail-address.ts'
import { failure } from '../errors.ts'

/** Keycloak: each of these, when it is set, takes the others along, in this order. */
export function mailRules(body: Representation): Representation {
  const { registrationEmailAsUsername, loginWithEmailAllowed, duplicateEmailsAllowed } = body
  return {
    ...(registrationEmailAsUsername === true && { duplicateEmailsAllowed: false }),
    ...(loginWithEmailAllowed === true && { duplicateEmailsAllowed: false }),
    ...(typeof duplicateEmailsAllowed === 'boolean' && { duplicateEmailsAllowed }),
    ...(duplicateEmailsAllowed === true && { loginWithEmailAllowed: false, registrationEmailAsUsername: false }),
  }
}

/** What an update sets for the settings that show as attributes too. */
export function mirrors(stated: Representation): FlatFields {
  const attributes = stated.attributes as Representation | undefined
  const set: Record<string, Json> = {}
  const given = kinds.realm.defaults({})
  for (const [field, attribute] of Object.entries(settingsKeptAsAttributes)) {
    const always = kinds.realm.fields[field]!.onPut === 'clear'
    const value = stated[field] ?? read(field, attributes?.[attribute])
    if (value === undefined && !attributes && !always) continue
    set[field] = value ?? given[field] ?? null
    set[`attributes.${attribute}`] = value !== undefined ? written(value) : always ? written(given[field]!) : null
  }
  return set
}

/** A new realm's settings that show as attributes too. */
export function mirrored(stated: Representation): Representation {
  const attributes: Representation = { ...(stated.attributes as Representation | undefined) }
  const settings: Representation = {}
  for (const [field, attribute] of Object.entries(settingsKeptAsAttributes)) {
    const value = stated[field] ?? read(field, attributes[attribute])
    if (value === undefined) continue
    settings[field] = value
    attributes[attribute] = written(value)
  }
  return { ...settings, attributes: { ...(kinds.realm.defaults({}).attributes as Representation), ...attributes } }
}

function read(field: string, text: Json | undefined): Json | undefined {
  if (typeof text !== 'string') return undefined
  const given = kinds.realm.defaults({})[field]
  if (Array.isArray(given)) return text === '' ? [] : text.split(',')
  return typeof given === 'boolean' ? text === 'true' : Number.parseInt(text, 10) || 0
}

function written(value: Json): Json {
  if (Array.isArray(value)) return value.length ? value.join(',') : null
  return String(value)
}

/** The policies for passwords that there are. */
const PASSWORD_POLICIES = new Set(
  `digits forceExpiredPasswordChange hashAlgorithm hashIterations length lowerCase maxAuthAge maxLength
  notContainsUsername notEmail notUsername passwordAge passwordBlacklist passwordHistory
  recoveryCodesWarningThreshold regexPattern specialChars upperCase`.split(/\s+/),
)

/** Throws invalid when the policy names a rule that does not exist. */
export function checkPasswordPolicy({ passwordPolicy }: Representation): void {
  const names = String(passwordPolicy ?? '')
    .split(' and ')
    .map((one) => one.replace(/\(.*$/s, '').trim())
    .filter(Boolean)
  if (!names.every((name) => PASSWORD_POLICIES.has(name))) throw failure('invalid', 'Password policy not found')
}

/** Throws invalid when a mail server is stated without an address to send from, or with a reply-to address that is none. */
export function checkMailServer({ smtpServer }: Representation): void {
  const server = (smtpServer ?? {}) as Representation
  if (!Object.keys(server).length) return
  const { from, replyTo, allowutf8 } = server
  checkAddress('sender', from, allowutf8)
  if (replyTo) checkAddress('reply-to', replyTo, allowutf8)
}

function checkAddress(name: string, address: Json | undefined, unicode: Json | undefined): void {
  if (isMailAddress(String(address ?? ''), unicode === 'true')) return
  const advice = `If the address contains UTF-8 characters in the local part please ensure the SMTP server supports the \
SMTPUTF8 extension and enable 'Allow UTF-8' in the email realm configuration.`
  throw failure('invalid', `Invalid ${name} address '${address || null}'. ${advice}`)
}
