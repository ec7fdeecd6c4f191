// A log-in goes on: its next page is shown, or it ends.
import type { Cookie } from '../../lib/http/cookies.ts'
import type { AuthenticationSession } from '../../service/context/store-types.ts'
import { beginLogin, keepLogin, moveLogins } from '../../service/login/authentication-sessions.ts'
import { CONSENT } from './consent.ts'
import { finish } from './finish.ts'
import { wishesOf } from './language.ts'
import { type Login, noting } from './login.ts'
import { nextPage } from './machine.ts'
import { Refused } from './parameters.ts'
import { goTo, show } from './respond.ts'
import type { BrowserAnswer, BrowserRequest } from './session/browser.ts'
import { AUTH_SESSION, cookie, idOf, newSecret } from './session/cookies.ts'
import type { LoginState } from './session/state.ts'

/** A log-in as it is kept; not kept yet while nobody was asked anything. */
export type Kept = AuthenticationSession & { readonly fresh?: true }

/** Shows the next page of a log-in, or ends it. After a form the browser is sent to the page: a reload sends nothing again. */
export async function goOn(login: Login, kept: Kept, cookies: readonly Cookie[] = []): Promise<BrowserAnswer> {
  const { state, request, realm } = login
  const asked = await nextPage(login)
  if (!asked) {
    const done = await finish(login, kept.fresh ? undefined : kept)
    return done ?? goTo(addressOf(request, kept))
  }
  if (state.parameters.prompt.includes('none')) throw new Refused(state.parameters, whyAsked(state))
  // Who has shown who they are has another time for each step.
  const time = Number(realm.settings.accessCodeLifespanUserAction ?? 300) * 1000
  const expiresAt = isAuthenticated(state) ? new Date(realm.now.getTime() + time) : kept.expiresAt
  const now = { ...kept, expiresAt, body: bodyOf(state) }
  const secret = hasProved(kept, state) ? newSecret() : undefined
  const alone = await noting(login, async (context) => {
    const renewed = secret === undefined ? now : { ...now, id: idOf(secret) }
    if (kept.fresh) await beginLogin(context, renewed)
    else if (!(await keepLogin(context, kept, renewed))) return false
    if (secret !== undefined) await moveLogins(context, kept.id, renewed.id)
    return true
  })
  if (!alone) return goTo(addressOf(request, kept), cookies)
  const toKeep =
    secret === undefined
      ? cookies
      : [...cookies.filter(({ name }) => name !== AUTH_SESSION), cookie(request, AUTH_SESSION, secret)]
  if (request.form) return goTo(addressOf(request, kept), toKeep)
  return show(login, asked.page, {
    cookies: toKeep,
    self: addressOf(request, kept),
    action: addressOf(request, kept, pageOf(state), { session_code: kept.code, execution: state.asked ?? '' }),
    address: (page) => addressOf(request, kept, page),
    problem: state.problem,
    info: request.query.has('expired') ? 'expiredAction' : (state.info ?? hintOf(state)),
    values: state.values ?? {},
    wishes: wishesOf(login),
  })
}

/** What is kept of a log-in. */
export const bodyOf = (state: LoginState): Kept['body'] => JSON.parse(JSON.stringify(state))

/** Returns the state of a log-in that is kept. */
export function stateOf({ body }: Pick<Kept, 'body'>): LoginState {
  const entries = Object.entries(structuredClone(body)).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as unknown as LoginState
}

/** The address of a page of the log-in. Keycloak: what its parameters are called. */
export function addressOf(
  { base, realm }: BrowserRequest,
  { tab, body }: Pick<Kept, 'tab' | 'body'>,
  page = 'authenticate',
  besides: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({ ...besides, client_id: String(body.client), tab_id: tab })
  return `${base}/realms/${encodeURIComponent(realm)}/login-actions/${page}?${query}`
}

/** Whether the browser has shown more of whose it is than when the log-in was kept: who planted its cookie must not go on. */
function hasProved({ body, fresh }: Kept, state: LoginState): boolean {
  if (state.user === undefined) return false
  const before = stateOf({ body })
  const steps = ({ done }: LoginState) => Object.keys(done).length
  return (
    fresh === true ||
    state.user !== before.user ||
    steps(state) !== steps(before) ||
    isAuthenticated(state) !== isAuthenticated(before)
  )
}

/** Whether the flow is done: what follows are duties and consent. */
const isAuthenticated = ({ notes }: LoginState): boolean => notes.authenticated !== undefined

function pageOf(state: LoginState): string {
  if (state.asked === CONSENT) return 'consent'
  if (isAuthenticated(state)) return 'required-action'
  if (state.binding === 'registration') return 'registration'
  return state.binding === 'resetCredentials' ? 'reset-credentials' : 'authenticate'
}

/** Why somebody is asked who is logged in already. */
function hintOf({ notes }: LoginState): string | undefined {
  return notes.again !== undefined && notes.authenticated === undefined ? 'reauthenticate' : undefined
}

/** OpenID Connect Core, section 3.1.2.6: what stands in the way of a log-in that may ask nothing. */
function whyAsked(state: LoginState): string {
  if (state.asked === CONSENT) return 'consent_required'
  return isAuthenticated(state) ? 'interaction_required' : 'login_required'
}
