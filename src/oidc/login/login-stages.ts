// The stages of a login, in their order.
import { requiredActionStage } from './actions/index.ts'
import { authenticationStage } from './authentication-stage.ts'
import { CONSENT, consentStage } from './consent-stage.ts'
import type { FormFields } from './form.ts'
import type { Challenge, Login, LoginStage } from './login.ts'
import type { LoginState } from './session/login-state.ts'

const stages: readonly LoginStage[] = [authenticationStage, requiredActionStage, consentStage]

/** Returns the next page of a login; undefined if all stages are complete. Throws LoginError and AuthorizationError. */
export async function findNextPage(login: Login): Promise<Challenge | undefined> {
  for (const stage of stages) {
    const challenge = await stage.findPage(login)
    if (challenge) return challenge
  }
  return undefined
}

/** Handles the submitted form of the page that was shown last. A problem of the form is stored in the state. */
export function submitForm(login: Login, form: FormFields): Promise<void> {
  return getCurrentStage(login.state).submit(login, form)
}

function getCurrentStage({ currentPage, isAuthenticated }: LoginState): LoginStage {
  if (currentPage === CONSENT) return consentStage
  return isAuthenticated ? requiredActionStage : authenticationStage
}
