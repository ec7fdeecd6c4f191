// Who is logged in in this browser already.

import { secondsOf } from '../../../lib/seconds.ts'
import { listObjects } from '../../../service/objects/live.ts'
import { UPDATE_PASSWORD } from '../../../service/users/credentials.ts'
import { maxAuthAgeOf, parsePolicy } from '../../../service/users/password-policy.ts'
import { type Authenticator, identify, type Login, reading } from '../login.ts'
import { findSso } from '../session/identity.ts'
import type { Levels } from '../session/state.ts'
import { flowOf } from '../steps.ts'
import { isHighEnough } from './level.ts'

/** Keycloak: max_auth_age of a required action that states none. */
const USUAL_AGE = 300

/** Goes on with the session of the browser, unless the application wants people to show anew who they are. */
export const cookie: Authenticator = {
  async begin(login) {
    const { state, realm } = login
    if (state.notes.restarted !== undefined) return 'attempted'
    const session = await findSso(login)
    if (!session) return 'attempted'
    await identify(login, session.user)
    const { prompt, maxAge = await maxAgeOf(login) } = state.parameters
    const age = secondsOf(realm.now) - Number(session.body.authTime ?? 0)
    // OpenID Connect Core, section 3.1.2.1: an age of 0 is the same as the prompt.
    if (prompt.includes('login') || maxAge === 0 || (maxAge !== undefined && age > maxAge)) {
      state.notes.again = 'true'
      return 'attempted'
    }
    const levels = (session.body.levels ?? {}) as Levels
    if (!isHighEnough(login, await flowOf(login), session)) {
      state.levels = levels
      return 'attempted'
    }
    state.session = session.id
    return 'success'
  },
}

/** Keycloak: who has logged in too long ago shows who they are before they change what they log in with; in seconds. */
async function maxAgeOf(login: Login): Promise<number | undefined> {
  const { action } = login.state.parameters
  if (action === undefined) return undefined
  const ofPolicy = action === UPDATE_PASSWORD ? maxAuthAgeOf(parsePolicy(login.realm.passwordPolicy)) : undefined
  if (ofPolicy !== undefined) return ofPolicy
  const [found] = await reading(login, (context) => listObjects(context, 'requiredAction', { keys: [[action]] }))
  const { max_auth_age: stated } = (found?.representation.config ?? {}) as Record<string, string>
  return Number(stated ?? USUAL_AGE)
}
