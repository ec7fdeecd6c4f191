// The profile of a realm's people: what is known of a person, and what each value must look like.
import profile from '../kinds/built-in/user-profile.json' with { type: 'json' }
import type { Json } from '../kinds/fields.ts'
import type { Representation } from '../kinds/kind.ts'
import { isMailAddress } from '../lib/mail-address.ts'
import { failure, type ServiceError } from './errors.ts'

/** What is said of a value: nothing, or a key of a text and what it is about besides the field. */
type Validator = (
  value: string,
  config: Representation,
) => { says: string; about?: (string | number | null)[] } | undefined

const NO_USERNAME = /[\s\p{Cc}!"#$%&'()*,/:;<=>?[\\\]^`{|}~§]/u
const NO_NAME = /[\p{Cc}\u2028\u2029!"#$%&()*/;<=>?[\\\]^{|}~§]/u
const LATIN = /^[\p{Script=Latin}\p{Script=Common}]+$/u

/** Keycloak: the validators that profiles name. */
const validators: Readonly<Record<string, Validator>> = {
  length(value, { min = null, max = null }) {
    if (value.length >= Number(min ?? 0) && value.length <= Number(max ?? Number.POSITIVE_INFINITY)) return undefined
    const side = min === null ? '-too-long' : max === null ? '-too-short' : ''
    return { says: `error-invalid-length${side}`, about: [min as number | null, max as number | null] }
  },
  email: (value) => (isMailAddress(value, true) ? undefined : { says: 'error-invalid-email', about: [value] }),
  'username-prohibited-characters': (value) => refuse(NO_USERNAME.test(value), 'error-username-invalid-character'),
  'up-username-not-idn-homograph': (value) => refuse(!LATIN.test(value), 'error-username-invalid-character'),
  'person-name-prohibited-characters': (value) => refuse(NO_NAME.test(value), 'error-person-name-invalid-character'),
}

const attributes = profile.attributes as readonly { name: string; validations: Record<string, Representation> }[]

/** What is wrong with the stated values, by field; null: there is none. */
export function problemsOf(values: Readonly<Record<string, Json>>): ServiceError[] {
  return attributes.flatMap(({ name, validations }) => {
    const value = values[name] ?? null
    if (value === null) return []
    return Object.entries(validations).flatMap(([id, config]) => {
      const found = validators[id]?.(String(value), config)
      return found ? [problem(name, found.says, found.about)] : []
    })
  })
}

/** A field that is wrong, in the words of the reference server's validators. */
export function problem(field: string, says: string, about: readonly (string | number | null)[] = []): ServiceError {
  return failure('invalid', says, { params: [field, ...about] })
}

/** Throws what is wrong, be it one thing or several. */
export function refuseAll(problems: readonly ServiceError[]): void {
  const [one, ...others] = problems
  if (!one) return
  if (!others.length) throw one
  throw failure('invalid', problems.map(({ message }) => message).join(', '), { all: problems })
}

/** Keycloak: with the profile, as far as the caller may see it: what each value must look like, and whether it can be changed. */
export function profileMetadata(readOnly: readonly string[]): Representation {
  return {
    attributes: profile.attributes.map(({ name, displayName, multivalued, validations }) => ({
      name,
      displayName,
      required: name === 'username',
      readOnly: readOnly.includes(name),
      validators: { ...withEmptyAllowed(validations), multivalued: { max: '1' } },
      multivalued,
    })),
    groups: profile.groups,
  }
}

function withEmptyAllowed(validations: object): Representation {
  const all = Object.entries(validations) as [string, Representation][]
  return Object.fromEntries(all.map(([id, config]) => [id, { ...config, 'ignore.empty.value': true }]))
}

function refuse(wrong: boolean, says: string): { says: string } | undefined {
  return wrong ? { says } : undefined
}
