// A log-in goes on: the flow first, then what the person must do, then what they agree to.

import { secondsOf } from '../../lib/seconds.ts'
import { answerAction, nextAction } from './actions/index.ts'
import { holds, isCondition } from './authenticators/conditions.ts'
import { authenticatorFor } from './authenticators/index.ts'
import { insistsOnLevel, levelOf, levelReached, requestedLevel } from './authenticators/level.ts'
import { demandOwnPassword } from './authenticators/organization.ts'
import { unexecuted } from './authenticators/unexecuted.ts'
import { CONSENT, consent } from './consent.ts'
import { findStep, type Outcome, type Step, walk } from './flow.ts'
import { type Asked, type Form, type Login, personOf, tell, typeOf } from './login.ts'
import { LoginError } from './login-error.ts'
import { Refused } from './parameters.ts'
import { refuse } from './refuse.ts'
import { flowOf } from './steps.ts'

/** What must be asked next; undefined: nothing, the log-in is done. */
export async function nextPage(login: Login): Promise<Asked | undefined> {
  const { state } = login
  if (state.notes.authenticated === undefined) {
    const asked = await authenticate(login)
    if (asked) return asked
    if (insistsOnLevel(login) && (levelOf(login) ?? 1) < (requestedLevel(login) ?? 0)) {
      throw new Refused(state.parameters, 'access_denied', 'Authentication requirements not fulfilled')
    }
    await demandOwnPassword(login)
    demandCreated(login)
    state.notes.authenticated = 'true'
    state.asked = undefined
  }
  demandEnabled(login)
  // Who came by a link of a mail is logged in nowhere: no application learns of them.
  return (await nextAction(login)) ?? (state.notes.errand === undefined ? consent.next(login) : undefined)
}

/** Walks the flow: what it asks; undefined: it is content, and knows who it is. Throws where it is not. */
export async function authenticate(login: Login): Promise<Asked | undefined> {
  const outcome = await walk(await flowOf(login), {
    isCondition,
    holds: (condition, flow) => holds(login, condition, flow),
    run: (step) => run(login, step),
    passed: (flow) => levelReached(login, flow),
  })
  if (typeof outcome === 'object') return outcome
  if (outcome === 'attempted' || !login.person) throw new LoginError('invalidUserMessage', 'invalid_user_credentials')
  demandEnabled(login)
  return undefined
}

/** Throws where a sign-up ends with a user whom none of its steps has created: a flow that only asks for a name is no log-in. */
function demandCreated({ state, person }: Login): void {
  if (state.binding !== 'registration' || state.notes.created === person?.live.id) return
  throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', ['registration-user-creation'])
}

/** Throws where the user may not log in: also one who was disabled between two pages. */
function demandEnabled(login: Login): void {
  const { enabled } = personOf(login).live.representation
  if (enabled !== true) throw new LoginError('accountDisabledMessage', 'user_disabled')
}

/** Reads the answer to what was asked last; what is wrong with it stays in the state, for the page. */
export async function answer(login: Login, form: Form): Promise<void> {
  const { state } = login
  if (state.asked === CONSENT) return consent.answer(login, form)
  if (state.notes.authenticated !== undefined) return answerAction(login, form)
  const step = findStep(await flowOf(login), state.asked ?? '')
  const authenticator = step?.authenticator === undefined ? undefined : authenticatorFor(login, step.authenticator)
  if (!step || !authenticator?.answer) return
  const outcome = await authenticator.answer(login, step, form)
  if (typeof outcome !== 'object') {
    came(login, step, outcome)
    return
  }
  refuse(login, form, outcome)
  const { error, user } = outcome
  if (error !== undefined) await tell(login, typeOf(login), { error, ...(user !== undefined && { user }) })
}

async function run(login: Login, step: Step): Promise<Outcome<Asked>> {
  const { state, person } = login
  const before = state.done[step.id]
  if (before !== undefined) return before
  const name = step.authenticator!
  const authenticator = authenticatorFor(login, name)
  if (!authenticator) return unexecuted(login, step)
  if (authenticator.ofPerson && !person) {
    if (step.requirement === 'ALTERNATIVE') return 'attempted'
    throw new LoginError('invalidUserMessage', 'user_not_found')
  }
  if (authenticator.configured && !authenticator.configured(login))
    return withoutCredential(login, step, authenticator.setUpBy)
  const outcome = await authenticator.begin(login, step)
  if (typeof outcome === 'object') state.asked = step.id
  else came(login, step, outcome)
  return outcome
}

/** Keeps what came of a step. Keycloak: its settings may say what tokens call it, and for how many seconds. */
function came({ state, realm }: Login, { id, config }: Step, outcome: 'success' | 'attempted'): void {
  state.done[id] = outcome
  const name = config['default.reference.value']
  if (outcome !== 'success' || !name) return
  const until = secondsOf(realm.now) + Number(config['default.reference.maxAge'] || 0)
  state.methods = [...(state.methods ?? []), { name, until }]
}

/** Keycloak: a person who lacks what a step takes sets it up afterwards, where that is possible and nothing else will do. */
function withoutCredential({ state }: Login, step: Step, setUpBy: string | undefined): Outcome<Asked> {
  if (step.requirement === 'ALTERNATIVE') return 'attempted'
  if (setUpBy === undefined) throw new LoginError('credentialSetupRequired', 'invalid_user_credentials')
  state.actions = [...new Set([...state.actions, setUpBy])]
  state.done[step.id] = 'success'
  return 'success'
}
