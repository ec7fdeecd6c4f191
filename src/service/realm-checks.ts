// What the name and the settings of a realm must fulfil besides their types, whoever states them.
import type { Json } from '../kinds/fields.ts'
import type { Representation } from '../kinds/kind.ts'
import { isMailAddress } from '../lib/mail-address.ts'
import { checkPolicies, checkProfiles } from './client-policy-checks.ts'
import { failure } from './errors.ts'
import type { Blacklists } from './password-blacklists.ts'
import { checkPolicy } from './password-policy.ts'

/** A realm's name is part of its address. Keycloak: these characters are refused. */
export function checkRealmName(name: unknown): string {
  if (typeof name !== 'string' || name === '') throw failure('invalid', 'Realm name cannot be empty')
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
