// The second stage of a login: required actions, in the order of the realm. A login that needs an unsupported one fails.
import { readTextMap } from '../../../kinds/json.ts'
import { updateOwnAccount } from '../../../service/login/own-account.ts'
import { listObjects } from '../../../service/objects/live-objects.ts'
import { requireEnabledUser } from '../authentication-stage.ts'
import { type FormFields, rejectForm } from '../form.ts'
import {
  getCaller,
  getLoginUser,
  type Login,
  type LoginStage,
  readRealm,
  recordLoginEvent,
  setLoginUser,
} from '../login.ts'
import { LoginError } from '../login-error.ts'
import type { ActionConfig, RequiredAction } from './action.ts'
import { configureTotp } from './configure-totp.ts'
import { termsAndConditions } from './terms.ts'
import { updatePassword } from './update-password.ts'
import { updateProfile, verifyProfile } from './update-profile.ts'
import { verifyEmail } from './verify-email.ts'

/** The supported required actions, by provider id. */
const actions: Readonly<Record<string, RequiredAction | undefined>> = {
  TERMS_AND_CONDITIONS: termsAndConditions,
  UPDATE_PROFILE: updateProfile,
  VERIFY_EMAIL: verifyEmail,
  CONFIGURE_TOTP: configureTotp,
  UPDATE_PASSWORD: updatePassword,
  VERIFY_PROFILE: verifyProfile,
}

const findAction = (provider: string): RequiredAction | undefined =>
  Object.hasOwn(actions, provider) ? actions[provider] : undefined

/** A required action that is enabled in the realm. */
interface EnabledAction {
  readonly alias: string
  readonly provider: string
  readonly config: ActionConfig
}

/** The second stage of a login: executes the required actions of the user. Keycloak: actions that are not enabled in the realm are ignored. */
export const requiredActionStage: LoginStage = {
  async findPage(login) {
    requireEnabledUser(login)
    const enabled = await listEnabledActions(login)
    checkRequestedAction(login, enabled)
    for (const action of enabled) {
      if (login.state.completedActions.includes(action.alias) || !(await isDue(login, action))) continue
      const challenge = await challengeAction(login, action)
      if (challenge) return challenge
    }
    return undefined
  },

  async submit(login, form) {
    const action = (await listEnabledActions(login)).find(({ alias }) => alias === login.state.currentPage)
    if (action) await submitAction(login, action, form)
  },
}

/** Keycloak: a client that requests an unsupported action gets an error status, and the login continues. */
function checkRequestedAction({ state }: Login, enabled: readonly EnabledAction[]): void {
  const { action } = state.parameters
  const isSupported = enabled.some(({ alias, provider }) => alias === action && findAction(provider))
  if (action !== undefined && !isSupported) state.notes.actionStatus = 'error'
}

async function challengeAction(login: Login, { alias, provider, config }: EnabledAction) {
  const action = findAction(provider)
  if (!action) throw new LoginError('unsupportedActionMessage', 'resolve_required_actions', { params: [alias] })
  const challenge = await action.challenge(login, config)
  if (challenge) login.state.currentPage = alias
  else await completeAction(login, alias)
  return challenge
}

async function submitAction(login: Login, { alias, provider, config }: EnabledAction, form: FormFields): Promise<void> {
  const { state } = login
  const action = findAction(provider)
  if (!action) return
  // The user may cancel an action that only the client has requested.
  if (form['cancel-aia'] === 'true' && !(await isRequired(login, { alias, provider }))) {
    state.completedActions.push(alias)
    state.notes.actionStatus = 'cancelled'
    return
  }
  const before = getLoginUser(login).fields
  const details = { custom_required_action: alias, ...action.details }
  const outcome = await action.handleForm(login, form, config)
  if (outcome === 'again') return
  if (outcome !== 'done') {
    rejectForm(login, form, outcome)
    if (outcome.error !== undefined) await recordLoginEvent(login, action.events, { error: outcome.error, details })
    return
  }
  if (state.parameters.action === alias) state.notes.actionStatus = 'success'
  await completeAction(login, alias)
  const changes = action.listChanges?.(before, getLoginUser(login).fields)
  await recordLoginEvent(login, action.events, { details: { ...details, ...changes } })
}

/** Removes a completed action from the required actions of the user, and reads the user again. */
async function completeAction(login: Login, alias: string): Promise<void> {
  const { id, fields } = getLoginUser(login)
  login.state.completedActions.push(alias)
  if (fields.requiredActions?.includes(alias)) {
    await login.service.write(getCaller(login), login.realm.name, (context) =>
      updateOwnAccount(context, id, { set: {}, completedActions: [alias] }),
    )
  }
  await setLoginUser(login, id)
}

/** Whether the user must do an action of the realm before the login can succeed. One statement, and those of the profile. */
export async function hasRequiredActions(login: Login): Promise<boolean> {
  for (const action of await listEnabledActions(login)) if (await isRequired(login, action)) return true
  return false
}

async function isDue(login: Login, action: EnabledAction): Promise<boolean> {
  const { parameters, notes } = login.state
  const isRequested = parameters.action === action.alias && notes.actionStatus !== 'error'
  return isRequested || isRequired(login, action)
}

/** Whether the user must do the action even if the client does not request it. */
async function isRequired(
  login: Login,
  { alias, provider }: Pick<EnabledAction, 'alias' | 'provider'>,
): Promise<boolean> {
  const { requiredActions = [] } = getLoginUser(login).fields
  if ([...requiredActions, ...login.state.requiredActions].includes(alias)) return true
  return (await findAction(provider)?.isTriggered?.(login)) ?? false
}

async function listEnabledActions(login: Login): Promise<EnabledAction[]> {
  const all = await readRealm(login, (context) => listObjects(context, 'requiredAction', {}))
  return all
    .map(({ representation }) => representation)
    .filter(({ enabled }) => enabled === true)
    .sort((a, b) => Number(a.priority) - Number(b.priority))
    .map(({ alias, providerId, config }) => ({
      alias: String(alias),
      provider: String(providerId),
      config: readTextMap(config),
    }))
}
