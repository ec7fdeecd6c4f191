// Checks of user profiles. Keycloak: most messages are its own.
import type { Json, Representation } from '../../kinds/json.ts'
import {
  completeUserProfile,
  type ProfileAttribute,
  profileSchema,
  type UserProfile,
} from '../../kinds/user-profile.ts'
import { compileJavaPattern } from '../../lib/keycloak/java-pattern.ts'
import { runValidator } from './user-validators.ts'

/** Returns the problems of a profile in JSON; undefined if it has none. */
export function findProfileTextProblem(text: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'The user profile is not valid JSON'
  }
  const parsed = profileSchema.safeParse(value)
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!
    return `The user profile is invalid: ${path.length ? `${path.join('.')}: ` : ''}${message}`
  }
  return findProfileProblem(completeUserProfile(parsed.data))
}

/** Returns the problems of a profile; undefined if it has none. Keycloak: as a list in brackets. */
export function findProfileProblem({ attributes, groups }: UserProfile): string | undefined {
  if (!attributes) return undefined
  const groupNames = new Set(groups.map(({ name }) => name))
  const nameless = groups.filter(({ name }) => !name).length
  const problems = [
    ...attributes.flatMap((attribute, at) => [
      ...findNameProblems(attribute, attributes.slice(0, at)),
      ...findValidatorProblems(attribute),
      ...findRoleProblems(attribute),
      ...(attribute.group !== undefined && !groupNames.has(attribute.group)
        ? [`Attribute '${attribute.name}' references unknown group '${attribute.group}'`]
        : []),
    ]),
    ...(nameless ? [`Name is mandatory for groups, found ${nameless} group(s) without name.`] : []),
    ...['username', 'email']
      .filter((name) => !attributes.some((attribute) => attribute.name === name))
      .map((name) => `The attribute '${name}' can not be removed`),
  ]
  return problems.length ? `[${problems.join(', ')}]` : undefined
}

function findNameProblems({ name }: ProfileAttribute, earlier: readonly ProfileAttribute[]): string[] {
  if (!name?.trim()) return ["Attribute configuration without 'name' is not allowed"]
  if (earlier.some((attribute) => attribute.name === name))
    return [`Attribute configuration already exists with 'name':'${name}'`]
  if (/^[\w.-]+$/.test(name)) return []
  return [`Invalid attribute name (only letters, numbers and '.' '_' '-' special characters allowed): ${name}'`]
}

/** Keycloak: the roles that profiles refer to are not those of the realm. */
const PROFILE_ROLES = ['user', 'admin']

function findRoleProblems({ name, permissions, required }: ProfileAttribute): string[] {
  const roleLists = {
    'permissions.view': permissions?.view,
    'permissions.edit': permissions?.edit,
    'required.roles': required?.roles,
  }
  return Object.entries(roleLists).flatMap(([path, roles = []]) =>
    roles
      .filter((role) => !PROFILE_ROLES.includes(role))
      .map((role) => `'${path}' configuration for attribute '${name}' contains unsupported role '${role}'`),
  )
}

/** Returns the message for a client scope that a profile refers to but that does not exist; undefined if all exist. */
export function findScopeProblem({ attributes = [] }: UserProfile, existing: ReadonlySet<string>): string | undefined {
  for (const { name, required, selector } of attributes) {
    for (const [path, scopes = []] of Object.entries({
      'required.scopes': required?.scopes,
      'selector.scopes': selector?.scopes,
    })) {
      const unknown = scopes.find((scope) => !existing.has(scope))
      if (unknown !== undefined)
        return `['${path}' configuration for attribute '${name}' contains unsupported scope '${unknown}']`
    }
  }
  return undefined
}

/** Returns the problems of a validator's config. */
type ValidatorCheck = (config: Representation) => string[]

function findValidatorProblems({ name, validations = {}, defaultValue }: ProfileAttribute): string[] {
  return Object.entries(validations).flatMap(([id, config]) => {
    if (!Object.hasOwn(validators, id)) return [`Validator '${id}' defined for attribute '${name}' doesn't exist`]
    const problems = validators[id]!(config)
    if (problems.length)
      return [`Validator '${id}' defined for attribute '${name}' has incorrect configuration: ${problems.join('; ')}`]
    const values = defaultValue === undefined ? [] : [defaultValue]
    const isValid = !runValidator(id, values, { config, language: 'en' }).length
    return isValid ? [] : [`Default value for attribute '${name}' is invalid`]
  })
}

const isNumber = (value: Json) => value !== '' && Number.isFinite(Number(value))
const number =
  (setting: string): ValidatorCheck =>
  ({ [setting]: value = null }) =>
    value === null || isNumber(value) ? [] : [`'${setting}' must be a number`]
const needs =
  (setting: string): ValidatorCheck =>
  ({ [setting]: value = null }) =>
    value === null ? [`'${setting}' is missing`] : []
const range: ValidatorCheck = (config) => {
  const problems = [...number('min')(config), ...number('max')(config)]
  if (problems.length) return problems
  const { min = null, max = null } = config
  return min !== null && max !== null && Number(min) >= Number(max) ? ["'max' must be greater than 'min'"] : []
}

/** The known validators, with the checks of their config. */
const validators: Readonly<Record<string, ValidatorCheck>> = {
  double: range,
  integer: range,
  length: (config) => {
    const { min = null, max = null } = config
    return min === null && max === null ? [...needs('min')(config), ...needs('max')(config)] : range(config)
  },
  multivalued: (config) => {
    const problems = [...number('min')(config), ...number('max')(config)]
    return problems.length ? problems : needs('max')(config)
  },
  email: number('max-local-length'),
  options: ({ options = null }) => {
    if (options === null) return needs('options')({})
    return Array.isArray(options) ? [] : ["'options' must be a list of values"]
  },
  pattern: (config) => [...needs('pattern')(config), ...findPatternProblem(config)],
  uri: () => [],
  'iso-date': () => [],
  'local-date': () => [],
  'person-name-prohibited-characters': () => [],
  'up-username-not-idn-homograph': () => [],
  'username-prohibited-characters': () => [],
  // Keycloak: these validators exist, and accept every value that is not blank.
  'not-blank': () => [],
  'not-empty': () => [],
}

function findPatternProblem({ pattern = null }: Representation): string[] {
  if (pattern === null) return []
  try {
    compileJavaPattern(String(pattern))
    return []
  } catch (error) {
    return [`'pattern' is not a regular expression: ${error instanceof Error ? error.message : error}`]
  }
}
