// What decides whether a conditional flow applies.
import { holdsRole } from '../../../service/roles.ts'
import type { Step } from '../flow.ts'
import { type Login, LoginError, reading } from '../login.ts'
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

/** Whether a condition holds. Throws where it is one that is not known here. */
export async function holds(login: Login, condition: Step, flow: readonly Step[]): Promise<boolean> {
  const { authenticator = '' } = condition
  const one = Object.hasOwn(conditions, authenticator) ? conditions[authenticator] : undefined
  if (!one) throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', [authenticator])
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
  return has !== (config.negate === 'true')
}

function hasAttribute({ person }: Login, { config }: Step): boolean {
  const { attribute_name: name = '', attribute_expected_value: expected = '', not, regex } = config
  if (!person) return false
  const { attributes = {}, ...own } = person.live.representation
  const named = ['username', 'email', 'firstName', 'lastName'].includes(name)
  const value = named ? own[name] : (attributes as Record<string, string[]>)[name]
  const values = value === undefined || value === null ? [] : [value].flat().map(String)
  const found = values.some((one) => (regex === 'true' ? matches(one, expected) : one === expected))
  return found !== (not === 'true')
}

/** Whether the whole text follows the pattern; a pattern that cannot be read follows nothing. */
function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(text)
  } catch {
    return false
  }
}
