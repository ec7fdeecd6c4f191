// Single sign-on: the login continues the session of the browser.

import { readTextMap } from '../../../kinds/json.ts'
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import { listObjects } from '../../../service/objects/live-objects.ts'
import { UPDATE_PASSWORD } from '../../../service/users/credentials.ts'
import { findMaxAuthAge, parsePasswordPolicy } from '../../../service/users/password-policy.ts'
import { readSessionData } from '../../session-data.ts'
import { loadFlow } from '../load-flow.ts'
import { type Authenticator, type Login, readRealm, setLoginUser } from '../login.ts'
import { findSsoSession } from '../session/sso-session.ts'
import { isSessionLevelSufficient } from './authentication-level.ts'

/** Keycloak: the default of `max_auth_age` in the config of a required action, in seconds. */
const DEFAULT_MAX_AUTH_AGE = 300

/** Continues the session of the browser, unless the client requests that the user authenticates again. Keycloak: auth-cookie. */
export const cookieAuthenticator: Authenticator = {
  async authenticate(login) {
    const { state, realm } = login
    if (state.notes.isRestarted) return 'attempted'
    const session = await findSsoSession(login)
    if (!session) return 'attempted'
    await setLoginUser(login, session.user)
    const { authTime = 0, levels = {} } = readSessionData(session)
    const { prompt, maxAge } = state.parameters
    const age = toEpochSeconds(realm.now) - authTime
    // OpenID Connect Core, section 3.1.2.1: a maximum age of 0 is the same as `prompt=login`.
    const isTooOld = (limit: number | undefined) => limit === 0 || (limit !== undefined && age > limit)
    // A client must not extend the maximum age of a required action.
    if (prompt.includes('login') || isTooOld(maxAge) || isTooOld(await findMaxAge(login))) {
      state.notes.isReauthentication = true
      return 'attempted'
    }
    if (!isSessionLevelSufficient(login, await loadFlow(login), session)) {
      state.levels = { ...levels }
      return 'attempted'
    }
    state.session = session.id
    const reached = Object.keys(levels).map(Number)
    if (reached.length) state.notes.sessionLevel = Math.max(...reached)
    return 'success'
  },
}

/** Keycloak: a requested required action has a maximum age of the authentication, in seconds. */
async function findMaxAge(login: Login): Promise<number | undefined> {
  const { action } = login.state.parameters
  if (action === undefined) return undefined
  const policyMaxAge =
    action === UPDATE_PASSWORD ? findMaxAuthAge(parsePasswordPolicy(login.realm.passwordPolicy)) : undefined
  if (policyMaxAge !== undefined) return policyMaxAge
  const [live] = await readRealm(login, (context) => listObjects(context, 'requiredAction', { keys: [[action]] }))
  return Number(readTextMap(live?.representation.config).max_auth_age ?? DEFAULT_MAX_AUTH_AGE)
}
