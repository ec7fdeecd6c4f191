// Checks of the name and the settings of a realm, beyond their types.
import { getDefaultRoleName } from '../../kinds/built-in/index.ts'
import { CLIENT_TYPES } from '../../kinds/client-types.ts'
import { type Json, type Representation, readObject } from '../../kinds/json.ts'
import { textFormats } from '../../kinds/text-formats.ts'
import { isEmailAddress } from '../../lib/email-address.ts'
import { isHeaderValue } from '../../lib/http/headers.ts'
import { checkClientPolicies, checkClientProfiles } from '../clients/client-policy-checks.ts'
import { checkClientTypesAttribute } from '../clients/client-types.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import type { PasswordBlacklists } from '../context/password-blacklists.ts'
import { MAX_NAME_LENGTH } from '../objects/conflicts.ts'
import { checkPasswordPolicy } from '../users/password-policy.ts'

/** The name of the default role contains that of the realm. */
const MAX_REALM_NAME_LENGTH = MAX_NAME_LENGTH - getDefaultRoleName('').length

/** Returns the name of a realm. Throws invalid where it cannot be part of a URL. */
export function checkRealmName(name: unknown): string {
  if (typeof name !== 'string' || name === '')
    throw failure('invalid', 'Realm name cannot be empty', { field: 'realm' })
  if (name.trim() !== name || /^\.\.?$/.test(name))
    throw failure('invalid', `The realm name '${name}' cannot be part of a URL.`, { form: 'error', field: 'realm' })
  if (name.length > MAX_REALM_NAME_LENGTH)
    throw failure('invalid', `A realm name has at most ${MAX_REALM_NAME_LENGTH} characters.`, {
      form: 'error',
      field: 'realm',
    })
  const reserved = [...name].find((character) => !textFormats.realmName.pattern.test(character))
  if (reserved !== undefined)
    throw failure('invalid', `Character '${reserved}' not allowed.`, { form: 'error', field: 'realm' })
  return name
}

/** Throws invalid where one of the named settings of a complete realm has a problem. */
export function checkRealmSettings(
  realm: Representation,
  names: ReadonlySet<string>,
  blacklists: PasswordBlacklists,
): void {
  if (names.has('passwordPolicy')) checkPasswordPolicy(String(realm.passwordPolicy ?? ''), blacklists)
  if (names.has('smtpServer')) checkMailServer(realm)
  if (names.has('clientProfiles')) checkClientProfiles(realm)
  if (names.has('clientPolicies')) checkClientPolicies(realm)
  for (const [name, label] of Object.entries(LOCKOUT_LABELS))
    if (names.has(name) && Number(realm[name] ?? 0) < 0)
      throw failure('invalid', `${label} may not be a negative value`, { field: name })
  if (names.has('browserSecurityHeaders')) checkHeaders(readObject(realm.browserSecurityHeaders))
  if (names.has('attributes')) {
    const attributes = readObject(realm.attributes)
    checkNumbers(attributes)
    checkClientTypesAttribute(attributes[CLIENT_TYPES])
  }
}

/** Keycloak: the names of the lockout settings in messages. They must not be negative. */
const LOCKOUT_LABELS: Readonly<Record<string, string>> = {
  failureFactor: 'Failure factor',
  maxFailureWaitSeconds: 'Maximum failure wait seconds',
  waitIncrementSeconds: 'Wait increment seconds',
  minimumQuickLoginWaitSeconds: 'Minimum quick login wait seconds',
  quickLoginCheckMilliSeconds: 'Quick login check milliseconds',
  maxDeltaTimeSeconds: 'Maximum delta time seconds',
  maxTemporaryLockouts: 'Maximum temporary lockouts',
  maxSecondaryAuthFailures: 'Maximum secondary authentication failures',
}

/** The attributes that hold a number of seconds. Keycloak: it stores any text, and fails when it reads the realm. */
const SECONDS_ATTRIBUTE =
  /^(parRequestUriLifespan|ciba(ExpiresIn|Interval)|client(Offline)?Session(IdleTimeout|MaxLifespan)|oauth2Device(CodeLifespan|PollingInterval)|actionTokenGeneratedByUserLifespan(\..*)?)$/

function checkNumbers(attributes: Representation): void {
  for (const [name, value] of Object.entries(attributes))
    if (SECONDS_ATTRIBUTE.test(name) && value !== null && !/^(-?\d{1,9})?$/.test(String(value)))
      throw failure('invalid', `The attribute ${name} must be a number of seconds`, { field: `attributes.${name}` })
}

/** Throws invalid where a security header has a value that HTTP does not allow: no page could be served with it. */
function checkHeaders(headers: Representation): void {
  for (const [name, value] of Object.entries(headers))
    if (!isHeaderValue(String(value ?? '')))
      throw failure(
        'invalid',
        `browserSecurityHeaders.${name} is not a valid header value. Use one line of printable ASCII.`,
        { field: `browserSecurityHeaders.${name}` },
      )
}

/** Throws invalid where a mail server has no valid sender address, or an invalid reply-to address. */
export function checkMailServer({ smtpServer }: Representation): void {
  const { host, from, replyTo, allowutf8 } = readObject(smtpServer)
  // Settings of others may remain when a source no longer declares its mail server.
  if (!host && !from) return
  if (!isEmailAddress(String(from ?? ''), allowutf8 === 'true')) throw createAddressError('sender', from, 'from')
  if (replyTo && !isEmailAddress(String(replyTo), allowutf8 === 'true'))
    throw createAddressError('reply-to', replyTo, 'replyTo')
}

function createAddressError(name: string, address: Json | undefined, setting: string): ServiceError {
  const advice = `If the address contains UTF-8 characters in the local part please ensure the SMTP server supports the \
SMTPUTF8 extension and enable 'Allow UTF-8' in the email realm configuration.`
  const message = `Invalid ${name} address '${address || null}'. ${advice}`
  const reason = address
    ? {}
    : { reason: `smtpServer.${setting} is missing. Declare the address that emails are sent from` }
  return failure('invalid', message, { field: `smtpServer.${setting}`, ...reason })
}
