// The end of a login: a session, a client session, and the authorization code for the client.
import { readFlag } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { RuntimeContext } from '../../service/context/context.ts'
import type { UserSession } from '../../service/context/store-types.ts'
import { endLogin } from '../../service/login/authentication-sessions.ts'
import {
  addClientSession,
  type ClientSessionBody,
  findActiveSession,
  getSessionLifespan,
  renewSession,
  startSession,
} from '../../service/login/sessions.ts'
import { recordUserEvent } from '../../service/messages/user-events.ts'
import { clearLoginFailures } from '../../service/users/lockout.ts'
import { createAuthorizationCode } from '../grants/authorization-code.ts'
import { getIssuer } from '../oidc-realm.ts'
import { infoPage } from '../pages/messages.ts'
import { canUseOfflineAccess, OFFLINE_ACCESS, parseScope } from '../tokens/scopes.ts'
import { viewClient } from '../views.ts'
import { findReachedLevel } from './authenticators/authentication-level.ts'
import { CONSENT } from './consent-stage.ts'
import { getLoginEventDetails } from './event-details.ts'
import { getLoginUser, type Login, writeRuntime } from './login.ts'
import { LoginError } from './login-error.ts'
import { redirectTo, renderPage, respondToClient } from './page-response.ts'
import type { BrowserResponse } from './session/browser-request.ts'
import { expireCookie, RESTART } from './session/cookies.ts'
import { type SavedLogin, toAuthenticationSession } from './session/login-state.ts'
import { createIdentityCookies, findSsoSession } from './session/sso-session.ts'

/** Completes a login, and responds to the client. Returns undefined where another form has completed it meanwhile. */
export async function completeLogin(login: Login, saved: SavedLogin): Promise<BrowserResponse | undefined> {
  const { realm, state } = login
  if (state.notes.isActionTokenOnly) return completeActionToken(login, saved)
  if (state.notes.invitation) return completeInvitation(login, saved, state.notes.invitation.organization)
  const ssoSession = await findSsoSession(login)
  const result = await writeRuntime(login, async (context) => {
    if (!(await deleteSavedLogin(context, saved))) return undefined
    const { usedCredentialTypes } = state
    const user = getLoginUser(login)
    if (usedCredentialTypes.length) {
      const otp = usedCredentialTypes.includes('otp')
      await clearLoginFailures(context, realm.settings, { id: user.id, otp })
    }
    const session = await saveSession(context, login, ssoSession?.user === state.user ? ssoSession : undefined)
    const code = await createCode(context, login, session)
    recordLogin(context, login, session)
    return { session, code }
  })
  return result && respondWithCode(login, result)
}

/** Deletes the stored login; false where another form has completed it meanwhile. */
async function deleteSavedLogin(context: RuntimeContext, saved: SavedLogin): Promise<boolean> {
  return saved.isNew === true || endLogin(context, toAuthenticationSession(saved))
}

/** Completes an action token of a link, which logs nobody in. */
async function completeActionToken(login: Login, saved: SavedLogin): Promise<BrowserResponse | undefined> {
  const { state } = login
  if (!(await writeRuntime(login, (context) => deleteSavedLogin(context, saved)))) return undefined
  return renderPage(
    login,
    infoPage('accountUpdatedMessage', { applicationUrl: state.parameters.redirectUri || undefined }),
  )
}

/**
 * Completes the registration of a user who was invited to an organization: starts a session, and leads to the redirect URL of the
 * organization. Unlike in Keycloak, that URL gets no authorization code: it is not one of the client.
 */
async function completeInvitation(
  login: Login,
  saved: SavedLogin,
  organization: string,
): Promise<BrowserResponse | undefined> {
  const { request, realm, state } = login
  const session = await writeRuntime(login, async (context) => {
    if (!(await deleteSavedLogin(context, saved))) return undefined
    const started = await saveSession(context, login, undefined)
    recordLogin(context, login, started)
    return started
  })
  if (!session) return undefined
  const { idle, max } = getSessionLifespan(realm.settings, session)
  const cookies = createIdentityCookies(login, request, { session, maxAge: Math.min(idle, max) })
  const { redirectUri } = state.parameters
  return redirectUri === ''
    ? renderPage(login, infoPage('organizationJoinedMessage', { params: [organization] }), { cookies })
    : redirectTo(new URL(redirectUri).href, cookies)
}

/** Continues the SSO session of the user, or starts a new one. */
async function saveSession(
  context: RuntimeContext,
  login: Login,
  ssoSession: UserSession | undefined,
): Promise<UserSession> {
  const { state, realm } = login
  const active =
    ssoSession && (await findActiveSession(context, realm.settings, { id: ssoSession.id, offline: false, lock: true }))
  // A login that relies on the SSO session alone ends with it.
  if (state.session !== undefined && active?.id !== state.session) {
    throw new LoginError('staleCodeMessage', 'user_session_not_found')
  }
  if (!active) return startSession(context, createSession(login))
  return renewSession(context, active, state.session === undefined ? createSession(login).body : active.body)
}

function createSession(login: Login) {
  const { state, request, realm } = login
  const { id, credentials } = getLoginUser(login)
  // After a password reset the session depends on the new password.
  const credential =
    credentials.find((candidate) => candidate.id === state.credential) ??
    credentials.find(({ type }) => type === 'password')
  const authTime = toEpochSeconds(realm.now)
  return {
    user: id,
    rememberMe: state.rememberMe === true,
    address: request.address,
    body: {
      authTime,
      notes: { AUTH_TIME: String(authTime) },
      ...(state.methods && { methods: state.methods }),
      ...(credential && { credential: credential.id! }),
      ...(state.levels && { levels: state.levels }),
    },
  }
}

/** Creates the client session and, where requested, an offline session. Returns the authorization code. */
async function createCode(context: RuntimeContext, login: Login, session: UserSession): Promise<string> {
  const { realm, client } = login
  const { scope, redirectUri, nonce, codeChallenge, codeChallengeMethod, dpopJkt } = login.state.parameters
  const clientSession = { client: client.id, ...createClientSessionBody(login) }
  const isOffline =
    parseScope(scope).includes(OFFLINE_ACCESS) && (await canUseOfflineAccess(context, client, session.user))
  await addClientSession(context, session, clientSession)
  if (isOffline) {
    const offlineSession = await startSession(context, { ...createSession(login), id: session.id, offline: true })
    await addClientSession(context, offlineSession, clientSession)
  }
  return createAuthorizationCode(context, realm.settings, {
    session: session.id,
    offline: isOffline,
    client: client.id,
    scope,
    redirectUri,
    ...(nonce !== undefined && { nonce }),
    ...(dpopJkt !== undefined && { dpopJkt }),
    ...(codeChallenge !== undefined && {
      codeChallenge,
      codeChallengeMethod: codeChallengeMethod === 'S256' ? 'S256' : 'plain',
    }),
  })
}

/** Keycloak: the level of authentication is 0 where the SSO session was sufficient. */
function createClientSessionBody(login: Login): ClientSessionBody {
  const { request, state } = login
  const { scope, claims, acrValues } = state.parameters
  return {
    scope,
    base: request.base,
    level: findReachedLevel(login) ?? (state.session === undefined ? 1 : 0),
    ...(claims !== undefined && { claims }),
    ...(acrValues !== undefined && { acrValues }),
  }
}

function recordLogin(context: RuntimeContext, login: Login, session: UserSession): void {
  const { client, state } = login
  recordUserEvent(context, {
    type: 'LOGIN',
    client: client.key[0],
    user: session.user,
    session: session.id,
    details: {
      ...getLoginEventDetails(login),
      code_id: session.id,
      consent: getConsentDetail(login),
      username: state.username ?? getLoginUser(login).username,
      ...(state.rememberMe && { remember_me: 'true' }),
    },
  })
}

/** Returns the `consent` detail of the login event. */
function getConsentDetail({ client, state }: Login): string {
  if (viewClient(client).consentRequired !== true) return 'no_consent_required'
  return state.completedActions.includes(CONSENT) ? 'consent_granted' : 'persistent_consent'
}

/** Sends the authorization code to the client, and the cookies of the session to the browser. */
async function respondWithCode(
  login: Login,
  { session, code }: { readonly session: UserSession; readonly code: string },
): Promise<BrowserResponse> {
  const { request, realm, client, state } = login
  const { parameters, notes } = state
  const { attributes = {} } = viewClient(client)
  const { idle, max } = getSessionLifespan(realm.settings, session)
  const identityCookies = createIdentityCookies(login, request, { session, maxAge: Math.min(idle, max) })
  return respondToClient(login, parameters, {
    client,
    parameters: {
      ...(parameters.state !== undefined && { state: parameters.state }),
      ...(!readFlag(attributes['exclude.session.state.from.auth.response']) && { session_state: session.id }),
      ...(!readFlag(attributes['exclude.issuer.from.auth.response']) && { iss: getIssuer(request.base, realm) }),
      ...(notes.actionStatus !== undefined && { kc_action_status: notes.actionStatus }),
      ...(parameters.action !== undefined && { kc_action: parameters.action }),
      code,
    },
    cookies: [...identityCookies, expireCookie(request, RESTART)],
  })
}
