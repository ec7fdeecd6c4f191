// Checks of new passwords against the policy of their realm.
import type { Representation } from '../../kinds/json.ts'
import { type PasswordPolicyName, passwordPolicies } from '../../kinds/password-policies.ts'
import { matchTexts } from '../../lib/match-texts.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import type { PasswordBlacklists } from '../context/password-blacklists.ts'
import { hashPassword, verifyPassword } from './password-hashing.ts'
import { DAY_MS, getPasswordHashing, missingBlacklist, type PasswordPolicy } from './password-policy.ts'

/** The user who gets a new password. */
export interface PasswordOwner {
  readonly username: string
  readonly email?: string | null | undefined
  /** The current and earlier passwords, with secrets in plain text. */
  readonly passwords?: readonly StoredPassword[]
}

/** A current or earlier password. */
export interface StoredPassword {
  /** Whether it is an earlier password. */
  readonly isHistory: boolean
  readonly createdAt: Date
  readonly secretData: string
  readonly credentialData: string
}

/** Checks and hashes a new password, and returns the credential to store. */
export type PasswordHasher = (password: string) => Promise<Representation>

/** The policy, blacklists and user that a password is checked against. */
interface PasswordContext {
  readonly policy: PasswordPolicy
  readonly blacklists: PasswordBlacklists
  readonly owner: PasswordOwner
}

/**
 * Returns a function that hashes passwords as the policy demands, which is slow. It throws invalid for passwords that
 * violate the policy.
 */
export function createPasswordHasher({
  now = new Date(),
  hash = hashPassword,
  ...context
}: PasswordContext & { readonly now?: Date; readonly hash?: typeof hashPassword }): PasswordHasher {
  return async (password) => {
    const violation = await findPolicyViolation(password, { ...context, now })
    if (violation) throw violation
    return hash(password, getPasswordHashing(context.policy))
  }
}

/** Returns the first violation of the policy; undefined if there is none. It is slow if earlier passwords are compared. */
async function findPolicyViolation(
  password: string,
  context: PasswordContext & { readonly now: Date },
): Promise<ServiceError | undefined> {
  for (const [name, value] of sortPolicies(context.policy)) {
    const violation = await rules[name]?.({ ...context, password, value })
    if (violation) return violation
  }
  return undefined
}

/** Lists the policies in the order in which Keycloak checks them. */
function sortPolicies({ values }: PasswordPolicy): [name: PasswordPolicyName, value: number | string | undefined][] {
  const order = Object.keys(passwordPolicies)
  return [...values].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
}

interface PasswordCheck extends PasswordContext {
  readonly password: string
  readonly now: Date
  /** The parameter of the policy. */
  readonly value: number | string | undefined
}

type PasswordRule = (check: PasswordCheck) => ServiceError | undefined | Promise<ServiceError | undefined>

/** Returns a violation. Keycloak: the message, and the key of its translation. */
const createViolation = (key: string, message: string, ...params: number[]): ServiceError =>
  failure('invalid', `Invalid password: ${message}`, {
    form: { error: `invalidPassword${key}Message` },
    pageText: { key: `invalidPassword${key}Message`, params },
  })

/** Returns a rule for the minimum number of characters that match a pattern. Keycloak: it counts UTF-16 units. */
function minimum(pattern: RegExp, key: string, description: string): PasswordRule {
  return ({ password, value }) =>
    password.split('').filter((unit) => pattern.test(unit)).length < Number(value)
      ? createViolation(`Min${key}`, `must contain at least ${value} ${description}.`, Number(value))
      : undefined
}

const rules: Partial<Record<PasswordPolicyName, PasswordRule>> = {
  notContainsUsername: ({ password, owner }) =>
    owner.username !== '' && password.toLowerCase().includes(owner.username.toLowerCase())
      ? createViolation('NotContainsUsername', 'Can not contain the username.')
      : undefined,
  notUsername: ({ password, owner }) =>
    equalsIgnoringCase(password, owner.username)
      ? createViolation('NotUsername', 'must not be equal to the username.')
      : undefined,
  notEmail: ({ password, owner }) =>
    equalsIgnoringCase(password, owner.email)
      ? createViolation('NotEmail', 'must not be equal to the email.')
      : undefined,
  specialChars: minimum(/[^\p{L}\p{Nd}]/u, 'SpecialChars', 'special characters'),
  upperCase: minimum(/\p{Uppercase}/u, 'UpperCaseChars', 'upper case characters'),
  lowerCase: minimum(/\p{Lowercase}/u, 'LowerCaseChars', 'lower case characters'),
  digits: minimum(/\p{Nd}/u, 'Digits', 'numerical digits'),
  length: ({ password, value }) =>
    password.length < Number(value)
      ? createViolation('MinLength', `minimum length ${value}.`, Number(value))
      : undefined,
  maxLength: ({ password, value }) =>
    password.length > Number(value)
      ? createViolation('MaxLength', `maximum length ${value}.`, Number(value))
      : undefined,
  regexPattern: ({ policy, password }) =>
    policy.patterns.every((pattern) => matchTexts(pattern, [password])[0])
      ? undefined
      : createViolation('RegexPattern', 'fails to match regex pattern(s).'),
  async passwordBlacklist({ blacklists, password, value }) {
    const list = String(value)
    if (list === '') return undefined
    if (!blacklists.has(list)) return failure('invalid', missingBlacklist(list))
    return (await blacklists.contains(list, password))
      ? createViolation('Blacklisted', 'password is not allowed.')
      : undefined
  },
  async passwordHistory({ password, owner, value }) {
    const count = Math.max(0, Number(value) - 1)
    const compared = [...listCurrent(owner), ...listEarlier(owner).slice(0, count)]
    return Number(value) !== -1 && (await isOneOf(password, compared))
      ? createViolation('History', `must not be equal to any of last ${value} passwords.`, Number(value))
      : undefined
  },
  async passwordAge({ password, owner, now, value }) {
    const since = now.getTime() - Number(value) * DAY_MS
    const recent = listEarlier(owner).filter(({ createdAt }) => createdAt.getTime() > since)
    return Number(value) !== -1 && (await isOneOf(password, [...listCurrent(owner), ...recent]))
      ? createViolation('Generic', 'new password does not match password policies.')
      : undefined
  },
}

const equalsIgnoringCase = (password: string, name: string | null | undefined): boolean =>
  name != null && password.toLowerCase() === name.toLowerCase()

const listCurrent = ({ passwords = [] }: PasswordOwner): StoredPassword[] =>
  passwords.filter(({ isHistory }) => !isHistory)

/** Lists earlier passwords, the latest first. */
const listEarlier = ({ passwords = [] }: PasswordOwner): StoredPassword[] =>
  passwords.filter(({ isHistory }) => isHistory).sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())

async function isOneOf(password: string, passwords: readonly StoredPassword[]): Promise<boolean> {
  const matches = passwords.map(({ secretData, credentialData }) =>
    verifyPassword(password, secretData, credentialData),
  )
  return (await Promise.all(matches)).includes(true)
}
