// The password policy of a realm, parsed from its text.
import { type PasswordPolicyName, type PasswordPolicyValue, passwordPolicies } from '../../kinds/password-policies.ts'
import { compileJavaPattern } from '../../lib/keycloak/java-pattern.ts'
import { findNearestWord } from '../../lib/nearest-word.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import type { PasswordBlacklists } from '../context/password-blacklists.ts'
import { DEFAULT_HASHING, hashAlgorithms, type PasswordHashing, PBKDF2_MAX_ITERATIONS } from './password-hashing.ts'

/** A parsed password policy. Of a policy that occurs twice the last value is used; `regexPattern` applies every time. */
export interface PasswordPolicy {
  readonly values: ReadonlyMap<PasswordPolicyName, number | string | undefined>
  /** The values of `regexPattern`. */
  readonly patterns: readonly RegExp[]
}

const MAX_NUMBER = 2 ** 31
export const DAY_MS = 24 * 60 * 60 * 1000

/** Parses a password policy such as `length(8) and notUsername`. Throws invalid where it is malformed. */
export function parsePasswordPolicy(text: string): PasswordPolicy {
  const policies = text.trim() === '' ? [] : text.split(' and ').map((part) => parsePart(part.trim()))
  return {
    values: new Map(policies),
    patterns: policies.flatMap(([name, value]) => (name === 'regexPattern' ? [compileJavaPattern(String(value))] : [])),
  }
}

/** Throws invalid where a password policy is malformed, or refers to a blacklist that does not exist. */
export function checkPasswordPolicy(text: string, blacklists: PasswordBlacklists): void {
  const list = parsePasswordPolicy(text).values.get('passwordBlacklist')
  if (list && !blacklists.has(String(list)))
    throw createConfigError('passwordBlacklist', missingBlacklist(String(list)))
}

/** Returns the message for a password blacklist that does not exist. */
export const missingBlacklist = (name: string): string =>
  `There is no password blacklist ${name} in the blacklist folder`

/** Returns the algorithm and iterations of new hashes. Keycloak: more than 100 iterations of Argon2 are ignored. */
export function getPasswordHashing({ values }: PasswordPolicy): PasswordHashing {
  const algorithm = String(values.get('hashAlgorithm') ?? DEFAULT_HASHING.algorithm)
  const iterations = Number(values.get('hashIterations') ?? 0)
  const isPossible = iterations > 0 && iterations <= (algorithm === 'argon2' ? 100 : PBKDF2_MAX_ITERATIONS)
  return { algorithm, iterations: isPossible ? iterations : hashAlgorithms[algorithm]! }
}

/** Returns how many earlier passwords to retain at least, and for how long. */
export function getPasswordHistory({ values }: PasswordPolicy): {
  readonly count: number
  readonly milliseconds: number
} {
  const days = Math.max(0, Number(values.get('passwordAge') ?? 0))
  return { count: Math.max(0, Number(values.get('passwordHistory') ?? 0) - 1), milliseconds: days * DAY_MS }
}

/**
 * Returns the longest time since the login, in seconds, after which users may change their password without logging in
 * again; undefined if the policy does not limit it.
 */
export function findMaxAuthAge({ values }: PasswordPolicy): number | undefined {
  const age = Number(values.get('maxAuthAge') ?? -1)
  return age < 0 ? undefined : age
}

/** Whether a password is so old that its user must change it. */
export function isPasswordExpired({ values }: PasswordPolicy, createdAt: Date, now: Date): boolean {
  const days = Number(values.get('forceExpiredPasswordChange') ?? -1)
  return days >= 0 && now.getTime() - createdAt.getTime() > days * DAY_MS
}

function parsePart(text: string): [PasswordPolicyName, number | string | undefined] {
  const open = text.indexOf('(')
  const name = (open < 0 ? text : text.slice(0, open)).trim()
  if (!isPolicyName(name)) throw unknownPolicy(name)
  if (open >= 0 && !text.endsWith(')')) throw createConfigError(name, 'The bracket is not closed')
  const value = open < 0 ? undefined : text.slice(open + 1, -1)
  const kind: PasswordPolicyValue = passwordPolicies[name]
  if (kind.type === 'none') return [name, undefined]
  if (name === 'hashAlgorithm') checkAlgorithm(value)
  if (name === 'regexPattern') checkPattern(value)
  if (kind.type === 'text' || value === undefined) return [name, value ?? kind.default]
  const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= -MAX_NUMBER && number < MAX_NUMBER)) throw createConfigError(name, 'Not a valid number')
  return [name, number]
}

const createConfigError = (name: PasswordPolicyName, problem: string): ServiceError =>
  failure('invalid', `Invalid config for ${name}: ${problem}`, { field: 'passwordPolicy' })

/** Keycloak: its message does not contain the name. */
const unknownPolicy = (name: string): ServiceError =>
  failure('invalid', 'Password policy not found', {
    reason: `There is no password policy "${name}". ${suggestPolicy(name)}`,
    field: 'passwordPolicy',
  })

function suggestPolicy(name: string): string {
  const similar = findNearestWord(name, Object.keys(passwordPolicies))
  return similar === undefined ? `Use one of ${Object.keys(passwordPolicies).join(', ')}.` : `Did you mean ${similar}?`
}

const isPolicyName = (name: string): name is PasswordPolicyName => Object.hasOwn(passwordPolicies, name)

function checkAlgorithm(name: string | undefined): void {
  if (name === undefined) throw createConfigError('hashAlgorithm', 'Password hashing provider id must be set')
  if (!Object.hasOwn(hashAlgorithms, name))
    throw createConfigError('hashAlgorithm', 'Password hashing provider not found')
}

function checkPattern(text: string | undefined): void {
  if (text === undefined) throw createConfigError('regexPattern', 'Config required')
  if (text.trim() === '') throw createConfigError('regexPattern', 'White space not acepted')
  try {
    compileJavaPattern(text)
  } catch {
    throw createConfigError('regexPattern', 'Not a valid regular expression')
  }
}
