// A new password is held to the policy of its realm.

import type { Representation } from '../../kinds/json.ts'
import { type PolicyName, passwordPolicies } from '../../kinds/password-policies.ts'
import { matches } from '../../lib/matches.ts'
import type { Blacklists } from '../context/context.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import { DAY, hashingOf, noList, type PasswordPolicy } from './password-policy.ts'
import { hashPassword, verifyPassword } from './passwords.ts'

/** Whose password it is going to be. */
export interface Person {
  readonly username: string
  readonly email?: string | null | undefined
  /** The passwords that they have and had, as they are kept, secrets in the clear. */
  readonly kept?: readonly KeptPassword[]
}

/** A password that somebody has, or had: then it is of the past. */
export interface KeptPassword {
  readonly past: boolean
  readonly createdAt: Date
  readonly secretData: string
  readonly credentialData: string
}

/** Makes what is kept of a new password: a credential. */
export type PasswordMaker = (password: string) => Promise<Representation>

/** Makes passwords of a person as the policy wants them, and throws unmet for those that it forbids. Takes its time. */
export function passwordMaker(
  policy: PasswordPolicy,
  blacklists: Blacklists,
  person: Person,
  { now = new Date(), hash = hashPassword }: { readonly now?: Date; readonly hash?: typeof hashPassword } = {},
): PasswordMaker {
  return async (password) => {
    const broken = await objection(policy, blacklists, password, person, now)
    if (broken) throw broken
    return hash(password, hashingOf(policy))
  }
}

/** The first thing that the policy has against a password; absent: nothing. Takes its time where it looks at earlier ones. */
export async function objection(
  policy: PasswordPolicy,
  blacklists: Blacklists,
  password: string,
  person: Person,
  now: Date,
): Promise<ServiceError | undefined> {
  for (const name of Object.keys(passwordPolicies) as PolicyName[]) {
    if (!policy.values.has(name)) continue
    const broken = await rules[name]?.({ policy, blacklists, password, person, now, value: policy.values.get(name) })
    if (broken) return broken
  }
  return undefined
}

interface Case {
  readonly policy: PasswordPolicy
  readonly blacklists: Blacklists
  readonly password: string
  readonly person: Person
  readonly now: Date
  readonly value: number | string | undefined
}

type Rule = (given: Case) => ServiceError | undefined | Promise<ServiceError | undefined>

/** What is wrong with a password, by the name that the reference server gives it. */
const unmet = (key: string, message: string, ...params: number[]): ServiceError =>
  failure('unmet', `Invalid password: ${message}`, { text: { key: `invalidPassword${key}Message`, params } })

/** Refuses a password with fewer characters of a sort than the policy wants. Keycloak: it counts UTF-16 units. */
function atLeast(sort: RegExp, key: string, words: string): Rule {
  return ({ password, value }) =>
    password.split('').filter((unit) => sort.test(unit)).length < Number(value)
      ? unmet(`Min${key}`, `must contain at least ${value} ${words}.`, Number(value))
      : undefined
}

const rules: Partial<Record<PolicyName, Rule>> = {
  notContainsUsername: ({ password, person }) =>
    person.username !== '' && password.toLowerCase().includes(person.username.toLowerCase())
      ? unmet('NotContainsUsername', 'Can not contain the username.')
      : undefined,
  notUsername: ({ password, person }) =>
    isSame(password, person.username) ? unmet('NotUsername', 'must not be equal to the username.') : undefined,
  notEmail: ({ password, person }) =>
    isSame(password, person.email) ? unmet('NotEmail', 'must not be equal to the email.') : undefined,
  specialChars: atLeast(/[^\p{L}\p{Nd}]/u, 'SpecialChars', 'special characters'),
  upperCase: atLeast(/\p{Uppercase}/u, 'UpperCaseChars', 'upper case characters'),
  lowerCase: atLeast(/\p{Lowercase}/u, 'LowerCaseChars', 'lower case characters'),
  digits: atLeast(/\p{Nd}/u, 'Digits', 'numerical digits'),
  length: ({ password, value }) =>
    password.length < Number(value) ? unmet('MinLength', `minimum length ${value}.`, Number(value)) : undefined,
  maxLength: ({ password, value }) =>
    password.length > Number(value) ? unmet('MaxLength', `maximum length ${value}.`, Number(value)) : undefined,
  regexPattern: ({ policy, password }) =>
    policy.patterns.every((pattern) => matches(pattern, [password])[0])
      ? undefined
      : unmet('RegexPattern', 'fails to match regex pattern(s).'),
  async passwordBlacklist({ blacklists, password, value }) {
    const list = String(value)
    if (list === '') return undefined
    if (!blacklists.has(list)) return failure('invalid', noList(list))
    return (await blacklists.holds(list, password)) ? unmet('Blacklisted', 'password is not allowed.') : undefined
  },
  async passwordHistory({ password, person, value }) {
    const past = pastOf(person).slice(0, Math.max(0, Number(value) - 1))
    return Number(value) !== -1 && (await isOneOf(password, [...presentOf(person), ...past]))
      ? unmet('History', `must not be equal to any of last ${value} passwords.`, Number(value))
      : undefined
  },
  async passwordAge({ password, person, now, value }) {
    const since = now.getTime() - Number(value) * DAY
    const past = pastOf(person).filter(({ createdAt }) => createdAt.getTime() > since)
    return Number(value) !== -1 && (await isOneOf(password, [...presentOf(person), ...past]))
      ? unmet('Generic', 'new password does not match password policies.')
      : undefined
  },
}

const isSame = (password: string, name: string | null | undefined): boolean =>
  name != null && password.toLowerCase() === name.toLowerCase()

const presentOf = ({ kept = [] }: Person): KeptPassword[] => kept.filter(({ past }) => !past)

/** Passwords of the past, the latest first. */
const pastOf = ({ kept = [] }: Person): KeptPassword[] =>
  kept.filter(({ past }) => past).sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime())

async function isOneOf(password: string, kept: readonly KeptPassword[]): Promise<boolean> {
  const same = kept.map(({ secretData, credentialData }) => verifyPassword(password, secretData, credentialData))
  return (await Promise.all(same)).includes(true)
}
