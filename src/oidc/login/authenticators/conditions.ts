// The conditions of conditional subflows.
import { getParentPath } from '../../../kinds/group.ts'
import { readFlag, readTextListMap } from '../../../kinds/json.ts'
import { compileJavaPattern } from '../../../lib/keycloak/java-pattern.ts'
import { matchTexts } from '../../../lib/match-texts.ts'
import { listObjects } from '../../../service/objects/live-objects.ts'
import { hasEffectiveRole } from '../../../service/realms/roles.ts'
import { listUserValues, type UserFields } from '../../views.ts'
import type { FlowStep } from '../flow.ts'
import { type Login, readRealm } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { isLevelConditionMet, LEVEL_CONDITION } from './authentication-level.ts'
import { findAuthenticator } from './index.ts'

/** Evaluates a condition for a subflow with these steps. */
type ConditionEvaluator = (login: Login, condition: FlowStep, flow: readonly FlowStep[]) => Promise<boolean> | boolean

/** The supported conditions, by provider id. */
const evaluators: Readonly<Record<string, ConditionEvaluator>> = {
  'conditional-user-configured': (login, _condition, flow) => canPassFlow(login, flow),
  'conditional-user-role': hasRole,
  'conditional-user-attribute': hasAttribute,
  [LEVEL_CONDITION]: isLevelConditionMet,
  'conditional-credential': ({ state }, { config }) => {
    const types = (config.credentials ?? '').split('##')
    return state.usedCredentialTypes.some((type) => types.includes(type)) === readFlag(config.included)
  },
}

/** Whether a step is a condition of the subflow that contains it. */
export const isCondition = ({ authenticator }: FlowStep): boolean => authenticator?.startsWith('conditional-') === true

/** The config keys that a condition requires. */
const requiredConfig: Readonly<Record<string, readonly string[]>> = {
  'conditional-user-role': ['condUserRole'],
  'conditional-user-attribute': ['attribute_name'],
  [LEVEL_CONDITION]: ['loa-condition-level'],
  'conditional-credential': ['credentials'],
}

/**
 * Whether a condition is met. One with incomplete config is met, so that its subflow is executed; Keycloak would skip it.
 * Throws LoginError for an unsupported condition.
 */
export async function isConditionMet(login: Login, condition: FlowStep, flow: readonly FlowStep[]): Promise<boolean> {
  const { authenticator = '', config } = condition
  const evaluate = Object.hasOwn(evaluators, authenticator) ? evaluators[authenticator] : undefined
  if (!evaluate)
    throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', { params: [authenticator] })
  if (requiredConfig[authenticator]?.some((name) => !config[name])) return true
  return evaluate(login, condition, flow)
}

/** Keycloak: whether the user can pass every required step or, without required steps, one of the alternatives. */
function canPassFlow(login: Login, flow: readonly FlowStep[]): boolean {
  const steps = flow.filter((step) => step.requirement !== 'DISABLED' && !isCondition(step))
  const required = steps.filter(({ requirement }) => requirement !== 'ALTERNATIVE')
  return required.length
    ? required.every((step) => canPassStep(login, step))
    : steps.some((step) => canPassStep(login, step))
}

function canPassStep(login: Login, { authenticator, steps }: FlowStep): boolean {
  if (authenticator === undefined) return canPassFlow(login, steps)
  const supported = findAuthenticator(login, authenticator)
  // The flow must fail at an unsupported step, not skip it.
  if (!supported) return true
  if (supported.requiresUser && !login.user) return false
  return supported.isConfigured?.(login) ?? true
}

async function hasRole(login: Login, { config }: FlowStep): Promise<boolean> {
  const { user } = login
  if (!user) return false
  const name = config.condUserRole ?? ''
  const hasUserRole = await readRealm(login, (context) => hasEffectiveRole(context, user.id, name))
  // A role that was deleted counts as incomplete config.
  return hasUserRole === undefined || hasUserRole !== readFlag(config.negate)
}

async function hasAttribute(login: Login, { config, authenticator }: FlowStep): Promise<boolean> {
  const { attribute_name: name = '', attribute_expected_value: expected = '', not, regex } = config
  const { user } = login
  if (!user) return false
  const pattern = readFlag(regex) ? parsePattern(expected, authenticator) : undefined
  const values = [
    ...listUserValues(user.fields, name),
    ...(readFlag(config.include_group_attributes) ? await listGroupValues(login, user.fields, name) : []),
  ]
  const isMatch = pattern ? matchTexts(pattern, values).includes(true) : values.includes(expected)
  return isMatch !== readFlag(not)
}

/** Returns the values of an attribute of the user's groups and their ancestors. */
async function listGroupValues(login: Login, { groups = [] }: UserFields, name: string): Promise<string[]> {
  const paths = new Set(groups.flatMap(listPathsUp))
  if (!paths.size) return []
  const keys = [...paths].map((path) => [path])
  const live = await readRealm(login, (context) => listObjects(context, 'group', { keys }))
  return live.flatMap(({ representation }) => readTextListMap(representation.attributes)[name] ?? [])
}

/** Returns the path of a group and those of its ancestors. */
function listPathsUp(path: string): string[] {
  return path === '' ? [] : [path, ...listPathsUp(getParentPath(path))]
}

/** Parses a pattern for a whole text. Throws LoginError for an invalid one, since the condition cannot be evaluated. */
function parsePattern(text: string, authenticator = ''): RegExp {
  try {
    return compileJavaPattern(text)
  } catch {
    const params = [`${authenticator} ${text}`]
    throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', { params })
  }
}
