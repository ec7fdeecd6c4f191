// What a user profile must fulfil, and what the reference server says of one that does not.
import type { Json, Representation } from '../../kinds/json.ts'
import { type ProfileAttribute, profileSchema, type UserProfile, wholeProfile } from '../../kinds/user-profile.ts'
import { javaPattern } from '../../lib/keycloak/java-pattern.ts'

/** What is wrong with a profile that is kept as JSON; undefined when nothing is. */
export function profileTextProblem(text: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'The user profile is no JSON'
  }
  const read = profileSchema.safeParse(value)
  if (!read.success) {
    const { path, message } = read.error.issues[0]!
    return `The user profile cannot be read: ${path.join('.') || 'it'}: ${message}`
  }
  return profileProblem(wholeProfile(read.data))
}

/** What is wrong with a profile; undefined when nothing is. Keycloak: all of it, as a list. */
export function profileProblem({ attributes, groups }: UserProfile): string | undefined {
  if (!attributes) return undefined
  const known = new Set(groups.map(({ name }) => name))
  const nameless = groups.filter(({ name }) => !name).length
  const problems = [
    ...attributes.flatMap((one, at) => [
      ...nameProblems(one, attributes.slice(0, at)),
      ...validationProblems(one),
      ...namedProblems(one),
      ...(one.group !== undefined && !known.has(one.group)
        ? [`Attribute '${one.name}' references unknown group '${one.group}'`]
        : []),
    ]),
    ...(nameless ? [`Name is mandatory for groups, found ${nameless} group(s) without name.`] : []),
    ...['username', 'email']
      .filter((name) => !attributes.some((one) => one.name === name))
      .map((name) => `The attribute '${name}' can not be removed`),
  ]
  return problems.length ? `[${problems.join(', ')}]` : undefined
}

function nameProblems({ name }: ProfileAttribute, before: readonly ProfileAttribute[]): string[] {
  if (!name?.trim()) return ["Attribute configuration without 'name' is not allowed"]
  if (before.some((one) => one.name === name)) return [`Attribute configuration already exists with 'name':'${name}'`]
  if (/^[\w.-]+$/.test(name)) return []
  return [`Invalid attribute name (only letters, numbers and '.' '_' '-' special characters allowed): ${name}'`]
}

/** Keycloak: these are all roles, and all scopes that come with the server or are asked for in the realm. */
const ROLES = ['user', 'admin']

function namedProblems({ name, permissions, required }: ProfileAttribute): string[] {
  const named = {
    'permissions.view': permissions?.view,
    'permissions.edit': permissions?.edit,
    'required.roles': required?.roles,
  }
  return Object.entries(named).flatMap(([where, roles = []]) =>
    roles
      .filter((role) => !ROLES.includes(role))
      .map((role) => `'${where}' configuration for attribute '${name}' contains unsupported role '${role}'`),
  )
}

/** What profiles name client scopes for. */
export function scopeProblem({ attributes = [] }: UserProfile, known: ReadonlySet<string>): string | undefined {
  for (const { name, required, selector } of attributes) {
    for (const [where, scopes = []] of Object.entries({
      'required.scopes': required?.scopes,
      'selector.scopes': selector?.scopes,
    })) {
      const unknown = scopes.find((scope) => !known.has(scope))
      if (unknown !== undefined)
        return `['${where}' configuration for attribute '${name}' contains unsupported scope '${unknown}']`
    }
  }
  return undefined
}

/** What is wrong with the settings of a validator, a sentence each. */
type Check = (config: Representation) => string[]

function validationProblems({ name, validations = {} }: ProfileAttribute): string[] {
  return Object.entries(validations).flatMap(([id, config]) => {
    if (!Object.hasOwn(validators, id)) return [`Validator '${id}' defined for attribute '${name}' doesn't exist`]
    const problems = validators[id]!(config)
    if (!problems.length) return []
    return [`Validator '${id}' defined for attribute '${name}' has incorrect configuration: ${problems.join('; ')}`]
  })
}

const isNumber = (value: Json) => value !== '' && Number.isFinite(Number(value))
const number =
  (setting: string): Check =>
  ({ [setting]: value = null }) =>
    value === null || isNumber(value) ? [] : [`'${setting}' must be a number`]
const needs =
  (setting: string): Check =>
  ({ [setting]: value = null }) =>
    value === null ? [`'${setting}' is missing`] : []
const range: Check = (config) => {
  const problems = [...number('min')(config), ...number('max')(config)]
  if (problems.length) return problems
  const { min = null, max = null } = config
  return min !== null && max !== null && Number(min) >= Number(max) ? ["'max' must be greater than 'min'"] : []
}

/** The validators that there are, with what their settings must fulfil. */
const validators: Readonly<Record<string, Check>> = {
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
  pattern: (config) => [...needs('pattern')(config), ...patternProblem(config)],
  uri: () => [],
  'iso-date': () => [],
  'local-date': () => [],
  'person-name-prohibited-characters': () => [],
  'up-username-not-idn-homograph': () => [],
  'username-prohibited-characters': () => [],
  // Keycloak: these are there, and say nothing of values that are not blank.
  'not-blank': () => [],
  'not-empty': () => [],
}

function patternProblem({ pattern = null }: Representation): string[] {
  if (pattern === null) return []
  try {
    javaPattern(String(pattern))
    return []
  } catch (error) {
    return [`'pattern' is not a pattern: ${(error as Error).message}`]
  }
}
