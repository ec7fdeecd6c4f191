// The end of a log-in: a session, the client's part of it, and a code with which the application fetches its tokens.

import { secondsOf } from '../../lib/seconds.ts'
import type { RuntimeContext } from '../../service/context/context.ts'
import type { AuthenticationSession, UserSession } from '../../service/context/store-types.ts'
import { endLogin } from '../../service/login/authentication-sessions.ts'
import {
  findGoingOn,
  joinSession,
  lifespanOf,
  type PartBody,
  renewSession,
  startSession,
} from '../../service/login/sessions.ts'
import { recordUserEvent } from '../../service/messages/user-events.ts'
import { forgetFailures } from '../../service/users/lockout.ts'
import { issueCode } from '../grants/authorization-code.ts'
import { wordsOf } from '../grants/grant.ts'
import { infoPage } from '../pages/messages.ts'
import { issuerOf } from '../realm.ts'
import { mayGoOffline, OFFLINE } from '../tokens/scopes.ts'
import { levelOf } from './authenticators/level.ts'
import { CONSENT } from './consent.ts'
import { type Login, noting, personOf } from './login.ts'
import { LoginError } from './login-error.ts'
import { respond, show } from './respond.ts'
import type { BrowserAnswer } from './session/browser.ts'
import { noCookie, RESTART } from './session/cookies.ts'
import { findSso, identityCookies } from './session/identity.ts'
import { detailsOf } from './told.ts'

/** Ends the log-in, which may be kept, and answers the application; undefined: another form has ended it before. */
export async function finish(
  login: Login,
  kept: AuthenticationSession | undefined,
): Promise<BrowserAnswer | undefined> {
  const { realm, client, state } = login
  if (state.notes.errand !== undefined) return endErrand(login, kept)
  const before = await findSso(login)
  const done = await noting(login, async (context) => {
    if (kept && !(await endLogin(context, kept))) return undefined
    const { used } = state
    if (used.length) await forgetFailures(context, realm.settings, personOf(login).live, used.includes('otp'))
    const session = await sessionOf(context, login, before?.user === state.user ? before : undefined)
    const code = await codeFor(context, login, session)
    recordUserEvent(context, {
      type: 'LOGIN',
      client: client.key[0],
      user: session.user,
      session: session.id,
      details: {
        ...detailsOf(login),
        code_id: session.id,
        consent: consentOf(login),
        username: state.username ?? personOf(login).live.key[0],
        ...(state.rememberMe && { remember_me: 'true' }),
      },
    })
    return { session, code }
  })
  return done && respondWith(login, done)
}

/** Lets the client take part in the session, and returns the code with which it fetches its tokens. */
async function codeFor(context: RuntimeContext, login: Login, session: UserSession): Promise<string> {
  const { realm, client } = login
  const { scope, redirectUri, nonce, codeChallenge, codeChallengeMethod } = login.state.parameters
  const part = partOf(login)
  const offline = wordsOf(scope).includes(OFFLINE) && (await mayGoOffline(context, client, session.user))
  const used = offline ? await startSession(context, { ...beginning(login), id: session.id, offline }) : session
  await joinSession(context, session, client.id, part)
  if (offline) await joinSession(context, used, client.id, part)
  return issueCode(context, realm.settings, {
    session: session.id,
    offline,
    client: client.id,
    scope,
    redirectUri,
    ...(nonce !== undefined && { nonce }),
    ...(codeChallenge !== undefined && {
      codeChallenge,
      codeChallengeMethod: codeChallengeMethod === 'S256' ? 'S256' : 'plain',
    }),
  })
}

/** Answers the application with its code, and the browser with the cookies of the session. */
async function respondWith(
  login: Login,
  { session, code }: { session: UserSession; code: string },
): Promise<BrowserAnswer> {
  const { service, request, realm, client, state } = login
  const { parameters } = state
  const attributes = (client.representation.attributes ?? {}) as Record<string, string>
  const { idle, max } = lifespanOf(realm.settings, session)
  return respond(
    login,
    parameters,
    {
      ...(parameters.state !== undefined && { state: parameters.state }),
      ...(attributes['exclude.session.state.from.auth.response'] !== 'true' && { session_state: session.id }),
      ...(attributes['exclude.issuer.from.auth.response'] !== 'true' && { iss: issuerOf(request.base, realm.name) }),
      ...(state.notes.actionStatus !== undefined && { kc_action_status: state.notes.actionStatus }),
      ...(parameters.action !== undefined && { kc_action: parameters.action }),
      code,
    },
    [...identityCookies(service, realm, request, session, Math.min(idle, max)), noCookie(request, RESTART)],
  )
}

/** What the event says of agreement. */
function consentOf({ client, state }: Login): string {
  if (client.representation.consentRequired !== true) return 'no_consent_required'
  return state.ended.includes(CONSENT) ? 'consent_granted' : 'persistent_consent'
}

/** Ends what a link from a mail began: it logs nobody in. */
async function endErrand(login: Login, kept: AuthenticationSession | undefined): Promise<BrowserAnswer | undefined> {
  const { state } = login
  if (kept && !(await noting(login, (context) => endLogin(context, kept)))) return undefined
  return show(login, infoPage('accountUpdatedMessage', [], state.parameters.redirectUri || undefined))
}

/** The session that goes on, or a new one. Who showed anew who they are goes on with that. */
async function sessionOf(context: RuntimeContext, login: Login, before: UserSession | undefined): Promise<UserSession> {
  const { state, realm } = login
  const found = before && (await findGoingOn(context, realm.settings, { id: before.id, offline: false, lock: true }))
  // A log-in by a session alone, without any credential, ends with that session.
  if (state.session !== undefined && found?.id !== state.session) {
    throw new LoginError('staleCodeMessage', 'user_session_not_found')
  }
  if (!found) return startSession(context, beginning(login))
  return renewSession(context, found, state.session === undefined ? beginning(login).body : found.body)
}

/** What is noted in the client's part. Keycloak: its level of authentication is none where an earlier log-in was enough. */
function partOf(login: Login): PartBody {
  const { request, state } = login
  const { scope, claims, acrValues } = state.parameters
  return {
    scope,
    base: request.base,
    level: levelOf(login) ?? (state.session === undefined ? 1 : 0),
    ...(claims !== undefined && { claims }),
    ...(acrValues !== undefined && { acrValues }),
  }
}

function beginning(login: Login) {
  const { state, request, realm } = login
  const { live, credentials } = personOf(login)
  // Who came by a link and chose a password goes on with that one.
  const credential =
    credentials.find(({ id }) => id === state.credential) ?? credentials.find(({ type }) => type === 'password')
  return {
    user: live.id,
    rememberMe: state.rememberMe === true,
    address: request.address,
    body: {
      authTime: secondsOf(realm.now),
      notes: { AUTH_TIME: String(secondsOf(realm.now)) },
      ...(state.methods && { methods: state.methods }),
      ...(credential && { credential: credential.id! }),
      ...(state.levels && { levels: state.levels }),
    },
  }
}
