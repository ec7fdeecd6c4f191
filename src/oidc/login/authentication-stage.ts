// The first stage of a login: the authentication flow.
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import {
  findReachedLevel,
  findRequestedLevel,
  getMinimumLevel,
  isLevelEssential,
  recordLevel,
} from './authenticators/authentication-level.ts'
import { isCondition, isConditionMet } from './authenticators/conditions.ts'
import { findAuthenticator } from './authenticators/index.ts'
import { rejectBrokeredUser } from './authenticators/organization.ts'
import { failUnsupported } from './authenticators/unsupported.ts'
import { AuthorizationError } from './authorization-request.ts'
import { type FlowStep, findStep, type StepOutcome, walkFlow } from './flow.ts'
import { type FormFields, rejectForm } from './form.ts'
import { loadFlow } from './load-flow.ts'
import { type Challenge, getEventType, getLoginUser, type Login, type LoginStage, recordLoginEvent } from './login.ts'
import { LoginError } from './login-error.ts'

/** The checks of a login whose flow has succeeded. */
const checks = [requireLevel, rejectBrokeredUser, requireCreatedUser]

/** The first stage of a login: runs the authentication flow. Required actions and consent follow. */
export const authenticationStage: LoginStage = {
  async findPage(login) {
    const { state } = login
    if (state.isAuthenticated) return undefined
    const challenge = await runFlow(login)
    if (challenge) return challenge
    for (const check of checks) await check(login)
    state.isAuthenticated = true
    delete state.currentPage
    return undefined
  },

  async submit(login, form) {
    const step = findStep(await loadFlow(login), login.state.currentPage ?? '')
    if (step) await submitToStep(login, step, form)
  },
}

/** Walks the flow of a login. Returns its next page; undefined if it has succeeded. Throws LoginError where it fails. */
export async function runFlow(login: Login): Promise<Challenge | undefined> {
  const outcome = await walkFlow(await loadFlow(login), {
    isCondition,
    isConditionMet: (condition, flow) => isConditionMet(login, condition, flow),
    runStep: (step) => runStep(login, step),
    onConditionalFlowPassed: (flow) => recordLevel(login, flow),
  })
  if (typeof outcome === 'object') return outcome
  if (outcome === 'attempted' || !login.user) throw new LoginError('invalidUserMessage', 'invalid_user_credentials')
  requireEnabledUser(login)
  return undefined
}

/** Throws LoginError where the user is disabled, which may happen between two pages. */
export function requireEnabledUser(login: Login): void {
  if (getLoginUser(login).fields.enabled !== true) throw new LoginError('accountDisabledMessage', 'user_disabled')
}

/** The minimum level of the client must be reached, and an essential one (OpenID Connect Core, section 5.5.1.1). */
function requireLevel(login: Login): void {
  const required = isLevelEssential(login) ? (findRequestedLevel(login) ?? 0) : getMinimumLevel(login)
  if ((findReachedLevel(login) ?? login.state.notes.sessionLevel ?? 1) >= required) return
  throw new AuthorizationError(login.state.parameters, 'access_denied', {
    description: 'Authentication requirements not fulfilled',
  })
}

/** A registration flow must create a user: one that only identifies a user would log them in without authentication. */
function requireCreatedUser({ state, user }: Login): void {
  if (state.binding !== 'registration' || state.notes.createdUser === user?.id) return
  throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', {
    params: ['registration-user-creation'],
  })
}

async function runStep(login: Login, step: FlowStep): Promise<StepOutcome<Challenge>> {
  const { state, user } = login
  const result = state.stepResults[step.id]
  if (result !== undefined) return result
  const authenticator = findAuthenticator(login, step.authenticator!)
  if (!authenticator) return failUnsupported(login, step)
  if (authenticator.requiresUser && !user) {
    if (step.requirement === 'ALTERNATIVE') return 'attempted'
    throw new LoginError('invalidUserMessage', 'user_not_found')
  }
  if (authenticator.isConfigured && !authenticator.isConfigured(login))
    return skipUnconfigured(login, step, authenticator.setupAction)
  const outcome = await authenticator.authenticate(login, step)
  if (typeof outcome === 'object') state.currentPage = step.id
  else recordResult(login, step, outcome)
  return outcome
}

async function submitToStep(login: Login, step: FlowStep, form: FormFields): Promise<void> {
  const authenticator = step.authenticator === undefined ? undefined : findAuthenticator(login, step.authenticator)
  if (!authenticator?.handleForm) return
  const outcome = await authenticator.handleForm(login, step, form)
  if (typeof outcome !== 'object') {
    recordResult(login, step, outcome)
    return
  }
  rejectForm(login, form, outcome)
  const { error, user } = outcome
  if (error === undefined) return
  await recordLoginEvent(login, getEventType(login), { error, ...(user !== undefined && { user }) })
}

/** Stores the result of a step. Keycloak: its config may name an authentication method, and how many seconds it counts. */
function recordResult({ state, realm }: Login, { id, config }: FlowStep, result: 'success' | 'attempted'): void {
  state.stepResults[id] = result
  const name = config['default.reference.value']
  if (result !== 'success' || !name) return
  const until = toEpochSeconds(realm.now) + Number(config['default.reference.maxAge'] || 0)
  state.methods = [...(state.methods ?? []), { name, until }]
}

/** Keycloak: a user who cannot pass a required step sets it up after the flow, if it has a required action for that. */
function skipUnconfigured({ state }: Login, step: FlowStep, setupAction: string | undefined): StepOutcome<Challenge> {
  if (step.requirement === 'ALTERNATIVE') return 'attempted'
  if (setupAction === undefined) throw new LoginError('credentialSetupRequired', 'invalid_user_credentials')
  state.requiredActions = [...new Set([...state.requiredActions, setupAction])]
  state.stepResults[step.id] = 'success'
  return 'success'
}
