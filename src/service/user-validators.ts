// What the validators of user profiles say of a value.
import type { Json } from '../kinds/fields.ts'
import type { Representation } from '../kinds/kind.ts'
import { isMailAddress } from '../lib/mail-address.ts'

/** What is said of a value: a key of a text, and what it is about besides the field. */
export interface Finding {
  readonly says: string
  readonly about?: readonly (string | number | null)[]
}

type Validator = (value: string, config: Representation) => Finding | undefined

const NO_USERNAME = /[\s\p{Cc}!"#$%&'()*,/:;<=>?[\\\]^`{|}~§]/u
const NO_NAME = /[\p{Cc}\u2028\u2029!"#$%&()*/;<=>?[\\\]^{|}~§]/u
const LATIN = /^[\p{Script=Latin}\p{Script=Common}]+$/u
const INTEGER = /^[+-]?\d+$/

/** Keycloak: the validators that profiles name, but for those that read Java's patterns, addresses and dates. */
const validators: Readonly<Record<string, Validator>> = {
  length: (value, config) => within(value.length, config, 'error-invalid-length'),
  integer: (value, config) => isNumber(INTEGER.test(value), value, config),
  double: (value, config) => isNumber(Number.isFinite(Number(value)), value, config),
  options: (value, { options }) => refuse(!(options as Json[] | undefined)?.includes(value), 'error-invalid-value'),
  email: (value) => (isMailAddress(value, true) ? undefined : { says: 'error-invalid-email', about: [value] }),
  'username-prohibited-characters': (value) => refuse(NO_USERNAME.test(value), 'error-username-invalid-character'),
  'up-username-not-idn-homograph': (value) => refuse(!LATIN.test(value), 'error-username-invalid-character'),
  'person-name-prohibited-characters': (value) => refuse(NO_NAME.test(value), 'error-person-name-invalid-character'),
}

/** What a validator says of a value; undefined: nothing. */
export function validate(id: string, value: string, config: Representation): Finding | undefined {
  return Object.hasOwn(validators, id) ? validators[id]!(value, config) : undefined
}

function isNumber(is: boolean, value: string, config: Representation): Finding | undefined {
  return is ? within(Number(value), config, 'error-number-out-of-range') : { says: 'error-invalid-number' }
}

function within(size: number, { min = null, max = null }: Representation, says: string): Finding | undefined {
  const tooSmall = min !== null && size < Number(min)
  const tooBig = max !== null && size > Number(max)
  if (!tooSmall && !tooBig) return undefined
  const sides = says === 'error-invalid-length' ? ['-too-short', '-too-long'] : ['-too-small', '-too-big']
  const side = max === null ? sides[0] : min === null ? sides[1] : ''
  return { says: `${says}${side}`, about: [min as string | number | null, max as string | number | null] }
}

function refuse(wrong: boolean, says: string): Finding | undefined {
  return wrong ? { says } : undefined
}
