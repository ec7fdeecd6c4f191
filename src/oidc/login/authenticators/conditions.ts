// What decides whether a conditional flow applies.
import { parentPath } from '../../../kinds/group.ts'
import { javaPattern } from '../../../lib/keycloak/java-pattern.ts'
import { matches } from '../../../lib/matches.ts'
import { type LiveObject, listObjects } from '../../../service/objects/live.ts'
import { holdsRole } from '../../../service/realms/roles.ts'
import type { Step } from '../flow.ts'
import { type Login, reading } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { authenticatorFor } from './index.ts'
import { LEVEL, levelHolds } from './level.ts'

/** Whether a condition holds for the flow with these steps. */
type Condition = (login: Login, condition: Step, flow: readonly Step[]) => Promise<boolean> | boolean

/** The conditions that there are, by provider. */
const conditions: Readonly<Record<string, Condition>> = {
  'conditional-user-configured': (login, _condition, flow) => isConfigured(login, flow),
  'conditional-user-role': hasRole,
  'conditional-user-attribute': hasAttribute,
  [LEVEL]: (login, condition) => levelHolds(login, condition),
  'conditional-credential': ({ state }, { config }) => {
    const types = (config.credentials ?? '').split('##')
    return state.used.some((type) => types.includes(type)) === (config.included === 'true')
  },
}

/** Whether the step is a condition of the flow that it stands in. */
export const isCondition = ({ authenticator }: Step): boolean => authenticator?.startsWith('conditional-') === true

/** The settings without which a condition cannot be evaluated. */
const needed: Readonly<Record<string, readonly string[]>> = {
  'conditional-user-role': ['condUserRole'],
  'conditional-user-attribute': ['attribute_name'],
  [LEVEL]: ['loa-condition-level'],
  'conditional-credential': ['credentials'],
}

/**
 * Whether a condition holds. One whose settings are missing does: it demands more, where Keycloak leaves the flow out. Throws
 * where it is one that is not known here.
 */
export async function holds(login: Login, condition: Step, flow: readonly Step[]): Promise<boolean> {
  const { authenticator = '', config } = condition
  const one = Object.hasOwn(conditions, authenticator) ? conditions[authenticator] : undefined
  if (!one) throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', [authenticator])
  if (needed[authenticator]?.some((name) => !config[name])) return true
  return one(login, condition, flow)
}

/** Keycloak: whether the person has what every required step takes or, where there are none, one of the alternatives. */
function isConfigured(login: Login, flow: readonly Step[]): boolean {
  const steps = flow.filter((step) => step.requirement !== 'DISABLED' && !isCondition(step))
  const needed = steps.filter(({ requirement }) => requirement !== 'ALTERNATIVE')
  return needed.length ? needed.every((step) => isReady(login, step)) : steps.some((step) => isReady(login, step))
}

function isReady(login: Login, { authenticator, steps }: Step): boolean {
  if (authenticator === undefined) return isConfigured(login, steps)
  const known = authenticatorFor(login, authenticator)
  // Whatever it needs, nobody here can ask for it: the flow is to fail where it gets there.
  if (!known) return true
  if (known.ofPerson && !login.person) return false
  return known.configured?.(login) ?? true
}

async function hasRole(login: Login, { config }: Step): Promise<boolean> {
  const { person } = login
  if (!person) return false
  const named = config.condUserRole ?? ''
  const has = await reading(login, (context) => holdsRole(context, person.live.id, named))
  // A role that was deleted is a missing setting too.
  return has === undefined || has !== (config.negate === 'true')
}

async function hasAttribute(login: Login, { config, authenticator }: Step): Promise<boolean> {
  const { attribute_name: name = '', attribute_expected_value: expected = '', not, regex } = config
  const { person } = login
  if (!person) return false
  const pattern = regex === 'true' ? patternOf(expected, authenticator) : undefined
  const values = [
    ...valuesOf(person.live, name),
    ...(config.include_group_attributes === 'true' ? await valuesOfGroups(login, person.live, name) : []),
  ]
  const found = pattern ? matches(pattern, values).includes(true) : values.includes(expected)
  return found !== (not === 'true')
}

function valuesOf({ representation }: LiveObject, name: string): string[] {
  const { attributes = {}, ...own } = representation
  const named = ['username', 'email', 'firstName', 'lastName'].includes(name)
  const value = named ? own[name] : (attributes as Record<string, string[]>)[name]
  return value === undefined || value === null ? [] : [value].flat().map(String)
}

/** What the groups of a person say, and those above them. */
async function valuesOfGroups(login: Login, { representation }: LiveObject, name: string): Promise<string[]> {
  const paths = ((representation.groups ?? []) as string[]).flatMap(withAbove)
  if (!paths.length) return []
  const keys = [...new Set(paths)].map((path) => [path])
  const groups = await reading(login, (context) => listObjects(context, 'group', { keys }))
  return groups.flatMap((group) => ((group.representation.attributes ?? {}) as Record<string, string[]>)[name] ?? [])
}

function withAbove(path: string): string[] {
  return path === '' ? [] : [path, ...withAbove(parentPath(path))]
}

/** A pattern of a whole text. Throws where it cannot be read: whether the flow applies is not known then. */
function patternOf(text: string, authenticator = ''): RegExp {
  try {
    return javaPattern(text)
  } catch {
    throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', [`${authenticator} ${text}`])
  }
}
