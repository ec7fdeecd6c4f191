// The validators of user profiles. Keycloak: the messages are the keys of its own.
import { isList, type Json, type Representation } from '../../kinds/json.ts'
import { isIsoDate, isShortDate } from '../../lib/dates.ts'
import { isEmailAddress } from '../../lib/email-address.ts'
import { compileJavaPattern } from '../../lib/keycloak/java-pattern.ts'
import { isJavaUri } from '../../lib/keycloak/java-uri.ts'
import { matchTexts } from '../../lib/match-texts.ts'

/** A problem of a value: the key of a message, and its parameters after the name of the attribute. */
export interface ValidationProblem {
  readonly message: string
  readonly params?: readonly (string | number | null)[]
}

/** The config of a validator, and the language that decides the format of dates. */
interface ValidationOptions {
  readonly config: Representation
  readonly language: string
}

type Validator = (values: readonly string[], options: ValidationOptions) => ValidationProblem[]

const NO_USERNAME = /[\s\p{Cc}!"#$%&'()*,/:;<=>?[\\\]^`{|}~§]/u
const NO_NAME = /[\p{Cc}\u2028\u2029!"#$%&()*/;<=>?[\\\]^{|}~§]/u
const LATIN = /^[\p{Script=Latin}\p{Script=Common}]+$/u
const DOUBLE = /^\s*[+-]?(?:NaN|Infinity|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)\s*$/
/** Keycloak: the schemes of URLs that Java can open. */
const JAVA_SCHEMES = ['http', 'https', 'ftp', 'file', 'mailto', 'jar']

/** Keycloak: the validators that profiles refer to. */
const validators: Readonly<Record<string, Validator>> = {
  length: forEachValue((value, { config }) =>
    checkRange((config['trim-disabled'] === true ? value : value.trim()).length, config, 'error-invalid-length'),
  ),
  integer: forEachValue((value, { config }) =>
    isInteger(value) ? checkNumber(Number(value), config) : { message: 'error-invalid-number' },
  ),
  double: forEachValue((value, { config }) =>
    DOUBLE.test(value)
      ? checkNumber(Number(value.trim().replace(/(?<!NaN|Infinity)[fFdD]$/, '')), config)
      : { message: 'error-invalid-number' },
  ),
  options: forEachValue((value, { config: { options } }) =>
    isList(options) && options.includes(value) ? undefined : { message: 'error-invalid-value' },
  ),
  email: forEachValue((value, { config: { 'max-local-length': maxLength = null } }) =>
    isEmailAddress(value, true, maxLength === null ? undefined : Number(maxLength))
      ? undefined
      : { message: 'error-invalid-email', params: [value] },
  ),
  pattern: (values, { config }) => {
    const pattern = String(config.pattern ?? '')
    const isMatch = matchTexts(compileJavaPattern(pattern), values)
    const problem = { message: getMessage(config, 'error-pattern-no-match'), params: [pattern] }
    return values.filter((_, at) => !isMatch[at]).map(() => problem)
  },
  uri: forEachValue((value, { config }) => findUriProblem(value, config)),
  'iso-date': forEachValue((value) =>
    isIsoDate(value) ? undefined : { message: 'error-invalid-date', params: [value] },
  ),
  'local-date': forEachValue((value, { language }) =>
    isShortDate(value, language) ? undefined : { message: 'error-invalid-date' },
  ),
  'username-prohibited-characters': prohibit(NO_USERNAME, 'error-username-invalid-character'),
  'up-username-not-idn-homograph': forEachValue((value, { config }) =>
    LATIN.test(value) ? undefined : { message: getMessage(config, 'error-username-invalid-character') },
  ),
  'person-name-prohibited-characters': prohibit(NO_NAME, 'error-person-name-invalid-character'),
}

/** Returns the problems that a validator finds in the values of an attribute; none if the validator is unknown. */
export function runValidator(id: string, values: readonly string[], options: ValidationOptions): ValidationProblem[] {
  return Object.hasOwn(validators, id) ? validators[id]!(values, options) : []
}

function forEachValue(
  findProblem: (value: string, options: ValidationOptions) => ValidationProblem | undefined,
): Validator {
  return (values, options) => values.flatMap((value) => findProblem(value, options) ?? [])
}

function prohibit(characters: RegExp, message: string): Validator {
  return forEachValue((value, { config }) =>
    characters.test(value) ? { message: getMessage(config, message) } : undefined,
  )
}

function getMessage({ 'error-message': message }: Representation, defaultMessage: string): string {
  return String(message ?? defaultMessage)
}

/** Keycloak: an integer has 64 bits. */
const isInteger = (value: string) =>
  /^[+-]?\d{1,30}$/.test(value) && BigInt.asIntN(64, toBigInt(value)) === toBigInt(value)
const toBigInt = (value: string) => BigInt(value.replace('+', ''))

function checkNumber(value: number, config: Representation): ValidationProblem | undefined {
  return checkRange(value, config, 'error-number-out-of-range')
}

function checkRange(size: number, config: Representation, message: string): ValidationProblem | undefined {
  const min = readLimit(config.min)
  const max = readLimit(config.max)
  // Keycloak: NaN is within every range.
  if (!(min !== null && size < min) && !(max !== null && size > max)) return undefined
  const suffixes = message === 'error-invalid-length' ? ['-too-short', '-too-long'] : ['-too-small', '-too-big']
  const suffix = max === null ? suffixes[0] : min === null ? suffixes[1] : ''
  return { message: `${message}${suffix}`, params: [min, max] }
}

const readLimit = (limit: Json | undefined): number | null => (limit == null ? null : Number(limit))

function findUriProblem(value: string, config: Representation): ValidationProblem | undefined {
  const { allowedSchemes = ['http', 'https'], allowFragment = true, requireValidUrl = true } = config
  const [, scheme] = /^([^:/?#]+):/.exec(value) ?? []
  if (scheme === undefined || !isJavaUri(value)) return { message: 'error-invalid-uri', params: [value] }
  if (![allowedSchemes].flat().includes(scheme)) return { message: 'error-invalid-uri-scheme', params: [value, scheme] }
  const hash = value.indexOf('#')
  if (String(allowFragment) === 'false' && hash >= 0)
    return { message: 'error-invalid-uri-fragment', params: [value, value.slice(hash + 1)] }
  const isAllowed = JAVA_SCHEMES.includes(scheme.toLowerCase()) || String(requireValidUrl) === 'false'
  return isAllowed ? undefined : { message: 'error-invalid-uri', params: [value] }
}
