// What a realm demands of passwords, read from its text.
import { type PolicyName, type PolicyValue, passwordPolicies } from '../../kinds/password-policies.ts'
import { javaPattern } from '../../lib/keycloak/java-pattern.ts'
import type { Blacklists } from '../context/context.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import { type Hashing, hashAlgorithms, PBKDF2_MOST_ITERATIONS, USUAL } from './passwords.ts'

/** The policies that a realm states, with their values: of a name that it states twice the last, but of every pattern. */
export interface PasswordPolicy {
  readonly values: ReadonlyMap<PolicyName, number | string | undefined>
  readonly patterns: readonly RegExp[]
}

const MAX_NUMBER = 2 ** 31
/** In milliseconds. */
export const DAY = 24 * 60 * 60 * 1000

/** Reads the text of a realm's policy, such as `length(8) and notUsername`. Throws invalid where it cannot be. */
export function parsePolicy(text: string): PasswordPolicy {
  const stated = text.trim() === '' ? [] : text.split(' and ').map((one) => parseOne(one.trim()))
  return {
    values: new Map(stated),
    patterns: stated.flatMap(([name, value]) => (name === 'regexPattern' ? [javaPattern(String(value))] : [])),
  }
}

/** Throws invalid where the text of a policy cannot be, or names a list that is not there. */
export function checkPolicy(text: string, blacklists: Blacklists): void {
  const list = parsePolicy(text).values.get('passwordBlacklist')
  if (list && !blacklists.has(String(list))) throw wrong('passwordBlacklist', noList(String(list)))
}

/** What is said of a list that is not there. */
export const noList = (name: string): string => `There is no list ${name} in the folder of password lists`

/** How the policy wants passwords hashed. Keycloak: of Argon2 it takes no more than 100 iterations. */
export function hashingOf({ values }: PasswordPolicy): Hashing {
  const algorithm = String(values.get('hashAlgorithm') ?? USUAL.algorithm)
  const iterations = Number(values.get('hashIterations') ?? 0)
  const possible = iterations > 0 && iterations <= (algorithm === 'argon2' ? 100 : PBKDF2_MOST_ITERATIONS)
  return { algorithm, iterations: possible ? iterations : hashAlgorithms[algorithm]! }
}

/** How many passwords of the past are to be kept at least, and how long each. */
export function historyOf({ values }: PasswordPolicy): { readonly count: number; readonly milliseconds: number } {
  const days = Math.max(0, Number(values.get('passwordAge') ?? 0))
  return { count: Math.max(0, Number(values.get('passwordHistory') ?? 0) - 1), milliseconds: days * DAY }
}

/** How long ago somebody may have logged in who changes their password, in seconds; undefined: the policy does not say. */
export function maxAuthAgeOf({ values }: PasswordPolicy): number | undefined {
  const age = Number(values.get('maxAuthAge') ?? -1)
  return age < 0 ? undefined : age
}

/** Whether a password is so old that another one must be chosen. */
export function isExpired({ values }: PasswordPolicy, createdAt: Date, now: Date): boolean {
  const days = Number(values.get('forceExpiredPasswordChange') ?? -1)
  return days >= 0 && now.getTime() - createdAt.getTime() > days * DAY
}

function parseOne(text: string): [PolicyName, number | string | undefined] {
  const open = text.indexOf('(')
  const name = (open < 0 ? text : text.slice(0, open)).trim() as PolicyName
  if (!Object.hasOwn(passwordPolicies, name)) throw failure('invalid', 'Password policy not found')
  if (open >= 0 && !text.endsWith(')')) throw wrong(name, 'The bracket is not closed')
  const value = open < 0 ? undefined : text.slice(open + 1, -1)
  const kind: PolicyValue = passwordPolicies[name]
  if (kind.type === 'none') return [name, undefined]
  if (name === 'hashAlgorithm') checkAlgorithm(value)
  if (name === 'regexPattern') checkPattern(value)
  if (kind.type === 'text' || value === undefined) return [name, value ?? kind.usual]
  const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= -MAX_NUMBER && number < MAX_NUMBER)) throw wrong(name, 'Not a valid number')
  return [name, number]
}

const wrong = (name: PolicyName, why: string): ServiceError => failure('invalid', `Invalid config for ${name}: ${why}`)

function checkAlgorithm(name: string | undefined): void {
  if (name === undefined) throw wrong('hashAlgorithm', 'Password hashing provider id must be set')
  if (!Object.hasOwn(hashAlgorithms, name)) throw wrong('hashAlgorithm', 'Password hashing provider not found')
}

function checkPattern(text: string | undefined): void {
  if (text === undefined) throw wrong('regexPattern', 'Config required')
  if (text.trim() === '') throw wrong('regexPattern', 'White space not acepted')
  try {
    javaPattern(text)
  } catch {
    throw wrong('regexPattern', 'Not a valid regular expression')
  }
}
