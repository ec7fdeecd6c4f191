// What the validators of user profiles say of a value.
import type { Json, Representation } from '../../kinds/json.ts'
import { isDay, isShortDate } from '../../lib/dates.ts'
import { javaPattern } from '../../lib/keycloak/java-pattern.ts'
import { isJavaUri } from '../../lib/keycloak/java-uri.ts'
import { isMailAddress } from '../../lib/mail-address.ts'
import { matches } from '../../lib/matches.ts'

/** What is said of a value: a key of a text, and what it is about besides the field. */
export interface Finding {
  readonly says: string
  readonly about?: readonly (string | number | null)[]
}

/** The values of an attribute that are to be validated, and the language whose dates are meant. */
type Validator = (values: readonly string[], config: Representation, language: string) => Finding[]

const NO_USERNAME = /[\s\p{Cc}!"#$%&'()*,/:;<=>?[\\\]^`{|}~§]/u
const NO_NAME = /[\p{Cc}\u2028\u2029!"#$%&()*/;<=>?[\\\]^{|}~§]/u
const LATIN = /^[\p{Script=Latin}\p{Script=Common}]+$/u
const DOUBLE = /^\s*[+-]?(?:NaN|Infinity|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)\s*$/
/** Keycloak: what is one of the schemes is an address of the web only if Java can open it. */
const OPENED = ['http', 'https', 'ftp', 'file', 'mailto', 'jar']

/** Keycloak: the validators that profiles name. */
const validators: Readonly<Record<string, Validator>> = {
  length: each((value, config) =>
    within((config['trim-disabled'] === true ? value : value.trim()).length, config, 'error-invalid-length'),
  ),
  integer: each((value, config) => number(isInteger(value), Number(value), config)),
  double: each((value, config) =>
    number(DOUBLE.test(value), Number(value.trim().replace(/(?<!NaN|Infinity)[fFdD]$/, '')), config),
  ),
  options: each((value, { options }) =>
    refuse(!(options as Json[] | undefined)?.includes(value), 'error-invalid-value'),
  ),
  email: each((value, { 'max-local-length': longest = null }) =>
    refuse(!isMailAddress(value, true, longest === null ? undefined : Number(longest)), 'error-invalid-email', value),
  ),
  pattern: (values, { pattern, 'error-message': words }) => {
    const matching = matches(javaPattern(String(pattern ?? '')), values)
    const finding = { says: String(words ?? 'error-pattern-no-match'), about: [String(pattern ?? '')] }
    return values.filter((_, at) => !matching[at]).map(() => finding)
  },
  uri: each((value, config) => uriProblem(value, config)),
  'iso-date': each((value) => refuse(!isDay(value), 'error-invalid-date', value)),
  'local-date': each((value, _, language) => refuse(!isShortDate(value, language), 'error-invalid-date')),
  'username-prohibited-characters': without(NO_USERNAME, 'error-username-invalid-character'),
  'up-username-not-idn-homograph': each((value, config) =>
    refuse(!LATIN.test(value), wordsOf(config, 'error-username-invalid-character')),
  ),
  'person-name-prohibited-characters': without(NO_NAME, 'error-person-name-invalid-character'),
}

/** What a validator says of the values of an attribute. */
export function validate(id: string, values: readonly string[], config: Representation, language: string): Finding[] {
  return Object.hasOwn(validators, id) ? validators[id]!(values, config, language) : []
}

/** A validator that looks at one value at a time. */
function each(find: (value: string, config: Representation, language: string) => Finding | undefined): Validator {
  return (values, config, language) => values.flatMap((value) => find(value, config, language) ?? [])
}

function without(characters: RegExp, says: string): Validator {
  return each((value, config) => refuse(characters.test(value), wordsOf(config, says)))
}

const wordsOf = ({ 'error-message': stated }: Representation, usual: string) => String(stated ?? usual)

/** Keycloak: a number of 64 bits. */
const isInteger = (value: string) => /^[+-]?\d{1,30}$/.test(value) && BigInt.asIntN(64, big(value)) === big(value)
const big = (value: string) => BigInt(value.replace('+', ''))

function number(is: boolean, size: number, config: Representation): Finding | undefined {
  return is ? within(size, config, 'error-number-out-of-range') : { says: 'error-invalid-number' }
}

function within(size: number, { min = null, max = null }: Representation, says: string): Finding | undefined {
  const [least, most] = [min, max].map((bound) => (bound === null ? null : Number(bound))) as [number?, number?]
  const tooSmall = least != null && size < least
  const tooBig = most != null && size > most
  if (!tooSmall && !tooBig) return undefined
  const sides = says === 'error-invalid-length' ? ['-too-short', '-too-long'] : ['-too-small', '-too-big']
  const side = max === null ? sides[0] : min === null ? sides[1] : ''
  return { says: `${says}${side}`, about: [least ?? null, most ?? null] }
}

function uriProblem(value: string, config: Representation): Finding | undefined {
  const { allowedSchemes = ['http', 'https'], allowFragment = true, requireValidUrl = true } = config
  const [, scheme] = /^([^:/?#]+):/.exec(value) ?? []
  if (scheme === undefined || !isJavaUri(value)) return { says: 'error-invalid-uri', about: [value] }
  if (![allowedSchemes].flat().includes(scheme)) return { says: 'error-invalid-uri-scheme', about: [value, scheme] }
  const hash = value.indexOf('#')
  if (String(allowFragment) === 'false' && hash >= 0)
    return { says: 'error-invalid-uri-fragment', about: [value, value.slice(hash + 1)] }
  const isOpened = OPENED.includes(scheme.toLowerCase()) || String(requireValidUrl) === 'false'
  return isOpened ? undefined : { says: 'error-invalid-uri', about: [value] }
}

function refuse(wrong: boolean, says: string, ...about: string[]): Finding | undefined {
  return wrong ? { says, about } : undefined
}
