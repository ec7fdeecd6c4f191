// What people must do at log-in, in the realm's order. What Regent does not offer is refused, never left out.

import { changeOwnAccount } from '../../../service/login/own-account.ts'
import { listObjects } from '../../../service/objects/live.ts'
import { type Asked, callerOf, type Form, identify, type Login, personOf, reading, tell } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { refuse } from '../refuse.ts'
import type { RequiredAction } from './action.ts'
import { configureTotp } from './configure-totp.ts'
import { termsAndConditions } from './terms.ts'
import { updatePassword } from './update-password.ts'
import { updateProfile, verifyProfile } from './update-profile.ts'
import { verifyEmail } from './verify-email.ts'

/** The required actions that Regent offers, by provider. */
const actions: Readonly<Record<string, RequiredAction | undefined>> = {
  TERMS_AND_CONDITIONS: termsAndConditions,
  UPDATE_PROFILE: updateProfile,
  VERIFY_EMAIL: verifyEmail,
  CONFIGURE_TOTP: configureTotp,
  UPDATE_PASSWORD: updatePassword,
  VERIFY_PROFILE: verifyProfile,
}

/** An action as the realm has it. */
interface Enabled {
  readonly alias: string
  readonly provider: string
  readonly config: Readonly<Record<string, string>>
}

/** The page of the next thing to do; undefined: nothing is left. Keycloak: actions that the realm has not enabled do not count. */
export async function nextAction(login: Login): Promise<Asked | undefined> {
  const { state } = login
  const enabled = await enabledActions(login)
  const { action: wished } = state.parameters
  // Keycloak: an application that asks for what there is not is told so, and the log-in goes on.
  if (
    wished !== undefined &&
    !enabled.some(({ alias, provider }) => alias === wished && Object.hasOwn(actions, provider))
  ) {
    state.notes.actionStatus = 'error'
  }
  for (const action of enabled) {
    if (state.ended.includes(action.alias) || !(await isDue(login, action))) continue
    const { alias, provider, config } = action
    const known = Object.hasOwn(actions, provider) ? actions[provider] : undefined
    if (!known) throw new LoginError('unsupportedActionMessage', 'resolve_required_actions', [alias])
    const asked = await known.begin(login, config)
    if (asked) {
      state.asked = alias
      return asked
    }
    await end(login, alias)
  }
  return undefined
}

/** Reads the answer to a required action. */
export async function answerAction(login: Login, form: Form): Promise<void> {
  const { state } = login
  const action = (await enabledActions(login)).find(({ alias }) => alias === state.asked)
  const known = action && actions[action.provider]
  if (!known) return
  // An application that asked for it lets people say no; a duty does not.
  if (form['cancel-aia'] === 'true' && !(await isDuty(login, action))) {
    state.ended.push(action.alias)
    state.notes.actionStatus = 'cancelled'
    return
  }
  const before = personOf(login).live.representation
  const details = { custom_required_action: action.alias, ...known.details }
  const outcome = await known.answer(login, form, action.config)
  if (outcome === 'again') return
  if (outcome !== 'done') {
    refuse(login, form, outcome)
    if (outcome.error !== undefined) await tell(login, known.events, { error: outcome.error, details })
    return
  }
  if (state.parameters.action === action.alias) state.notes.actionStatus = 'success'
  await end(login, action.alias)
  const changes = known.changes?.(before, personOf(login).live.representation)
  await tell(login, known.events, { details: { ...details, ...changes } })
}

async function end(login: Login, alias: string): Promise<void> {
  const { live } = personOf(login)
  login.state.ended.push(alias)
  if (((live.representation.requiredActions ?? []) as string[]).includes(alias)) {
    await login.service.write(callerOf(login), login.realm.name, (context) =>
      changeOwnAccount(context, live.id, {}, [alias]),
    )
  }
  await identify(login, live.id)
}

async function isDue(login: Login, action: Enabled): Promise<boolean> {
  const { state } = login
  const wished = state.parameters.action === action.alias && state.notes.actionStatus !== 'error'
  return wished || isDuty(login, action)
}

/** Whether the person must do it, whatever the application wishes. */
async function isDuty(login: Login, { alias, provider }: Enabled): Promise<boolean> {
  const { state } = login
  const duties = (personOf(login).live.representation.requiredActions ?? []) as string[]
  if ([...duties, ...state.actions].includes(alias)) return true
  return (await actions[provider]?.due?.(login)) ?? false
}

async function enabledActions(login: Login): Promise<Enabled[]> {
  const found = await reading(login, (context) => listObjects(context, 'requiredAction', {}))
  return found
    .map(({ representation }) => representation)
    .filter(({ enabled }) => enabled === true)
    .sort((a, b) => Number(a.priority) - Number(b.priority))
    .map(({ alias, providerId, config = {} }) => ({
      alias: String(alias),
      provider: String(providerId),
      config: config as Record<string, string>,
    }))
}
