// What the name and the settings of a realm must fulfil besides their types, whoever states them.
import { defaultRoleOf } from '../../kinds/built-in/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { isHeaderValue } from '../../lib/http/header-value.ts'
import { isMailAddress } from '../../lib/mail-address.ts'
import { checkPolicies, checkProfiles } from '../clients/client-policy-checks.ts'
import type { Blacklists } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { LONGEST_NAME } from '../objects/conflicts.ts'
import { checkPolicy } from '../users/password-policy.ts'

/** The role that everybody has is called after the realm. */
const LONGEST = LONGEST_NAME - defaultRoleOf('').length

/** A realm's name is part of its address. Keycloak: these characters are refused. */
export function checkRealmName(name: unknown): string {
  if (typeof name !== 'string' || name === '') throw failure('invalid', 'Realm name cannot be empty')
  if (/^\.\.?$/.test(name)) throw failure('malformed', `A realm called '${name}' would have no address.`)
  if (name.length > LONGEST) throw failure('malformed', `The name of a realm has ${LONGEST} characters at most.`)
  const reserved = /[:/?#[\]@!$&'()*+,;=%\s"<>\\^`{|}]/.exec(name)
  if (reserved) throw failure('malformed', `Character '${reserved[0]}' not allowed.`)
  return name
}

/** Throws invalid when one of the named settings cannot be as it is. */
export function checkSettings(realm: Representation, names: ReadonlySet<string>, blacklists: Blacklists): void {
  if (names.has('passwordPolicy')) checkPolicy(String(realm.passwordPolicy ?? ''), blacklists)
  if (names.has('smtpServer')) checkMailServer(realm)
  if (names.has('clientProfiles')) checkProfiles(realm)
  if (names.has('clientPolicies')) checkPolicies(realm)
  for (const [name, words] of Object.entries(NOT_NEGATIVE))
    if (names.has(name) && Number(realm[name] ?? 0) < 0)
      throw failure('invalid', `${words} may not be a negative value`)
  if (names.has('browserSecurityHeaders')) checkHeaders((realm.browserSecurityHeaders ?? {}) as Representation)
  if (names.has('attributes')) checkNumbers((realm.attributes ?? {}) as Representation)
}

/** Keycloak: how it calls the settings that count failures and times of a lockout. */
const NOT_NEGATIVE: Readonly<Record<string, string>> = {
  failureFactor: 'Failure factor',
  maxFailureWaitSeconds: 'Maximum failure wait seconds',
  waitIncrementSeconds: 'Wait increment seconds',
  minimumQuickLoginWaitSeconds: 'Minimum quick login wait seconds',
  quickLoginCheckMilliSeconds: 'Quick login check milliseconds',
  maxDeltaTimeSeconds: 'Maximum delta time seconds',
  maxTemporaryLockouts: 'Maximum temporary lockouts',
  maxSecondaryAuthFailures: 'Maximum secondary authentication failures',
}

/** Attributes that hold a number of seconds. Keycloak: it keeps others too, and fails when it reads the realm. */
const NUMBERS =
  /^(parRequestUriLifespan|ciba(ExpiresIn|Interval)|client(Offline)?Session(IdleTimeout|MaxLifespan)|oauth2Device(CodeLifespan|PollingInterval)|actionTokenGeneratedByUserLifespan(\..*)?)$/

function checkNumbers(attributes: Representation): void {
  for (const [name, value] of Object.entries(attributes))
    if (NUMBERS.test(name) && value !== null && !/^(-?\d{1,9})?$/.test(String(value)))
      throw failure('invalid', `The attribute ${name} is a number of seconds`)
}

/** Throws invalid when one of the headers of pages is no value of a header: no page could be shown with it. */
function checkHeaders(headers: Representation): void {
  for (const [name, value] of Object.entries(headers))
    if (!isHeaderValue(String(value ?? '')))
      throw failure('invalid', `browserSecurityHeaders.${name} is no header value: use printable ASCII on one line.`)
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
