// A log-in goes on: its next page is shown, or it ends.
import type { Cookie } from '../../lib/cookies.ts'
import { type AuthenticationSession, beginLogin, keepLogin } from '../../service/authentication-sessions.ts'
import type { BrowserAnswer, BrowserRequest } from './browser.ts'
import { CONSENT } from './consent.ts'
import { finish } from './finish.ts'
import { wishesOf } from './language.ts'
import { type Login, type LoginState, noting } from './login.ts'
import { nextPage } from './machine.ts'
import { Refused } from './parameters.ts'
import { goTo, show } from './respond.ts'

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
  const alone = await noting(login, async (context) => {
    if (!kept.fresh) return keepLogin(context, now)
    await beginLogin(context, now)
    return true
  })
  if (!alone || request.form) return goTo(addressOf(request, kept), cookies)
  return show(login, asked.page, {
    cookies,
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
