// Advances a login: to its next page, or to its end.
import type { Cookie } from '../../lib/http/cookies.ts'
import { moveLogins, startLogin, updateLogin } from '../../service/login/authentication-sessions.ts'
import { AuthorizationError } from './authorization-request.ts'
import { completeLogin } from './complete-login.ts'
import { CONSENT } from './consent-stage.ts'
import { listPreferredLanguages } from './language.ts'
import { type Challenge, type Login, writeRuntime } from './login.ts'
import { findNextPage } from './login-stages.ts'
import { redirectTo, renderPage } from './page-response.ts'
import type { BrowserRequest, BrowserResponse } from './session/browser-request.ts'
import { AUTH_SESSION, createCookie, generateSecret, hashSecret } from './session/cookies.ts'
import { type LoginState, type SavedLogin, toAuthenticationSession } from './session/login-state.ts'

/** The parameters of an authorization request that count once. */
const ONCE = ['request', 'request_uri']

/**
 * Shows the next page of a login, or completes the login. After a form the browser is redirected to the page, so that
 * reloading it does not submit the form again.
 */
export async function advanceLogin(
  login: Login,
  saved: SavedLogin,
  cookies: readonly Cookie[] = [],
): Promise<BrowserResponse> {
  const { state, request } = login
  const challenge = await findNextPage(login)
  if (!challenge) return (await completeLogin(login, saved)) ?? redirectTo(getLoginUrl(request, saved))
  if (state.parameters.prompt.includes('none')) throw new AuthorizationError(state.parameters, getPromptError(state))
  const storedCookies = await storeLogin(login, saved)
  if (!storedCookies) return redirectTo(getLoginUrl(request, saved), cookies)
  const allCookies = replaceCookies(cookies, storedCookies)
  // Reloading the page must not use a pushed request or a request object again, either.
  if (request.form || ONCE.some((name) => request.query.has(name)))
    return redirectTo(getLoginUrl(request, saved), allCookies)
  return renderLoginPage(login, saved, { ...challenge, cookies: allCookies })
}

/** Stores a login, and returns the new cookies of the browser; undefined where another form was submitted meanwhile. */
async function storeLogin(login: Login, saved: SavedLogin): Promise<Cookie[] | undefined> {
  const { state, request, realm } = login
  // A user who is authenticated has this time for each further page.
  const actionEnd = new Date(realm.now.getTime() + realm.settings.accessCodeLifespanUserAction * 1000)
  const expiresAt = state.isAuthenticated ? actionEnd : saved.expiresAt
  const secret = hasAuthenticated(saved, state) ? generateSecret() : undefined
  const id = secret === undefined ? saved.id : hashSecret(secret)
  const session = toAuthenticationSession({ ...saved, id, expiresAt, state })
  const isStored = await writeRuntime(login, async (context) => {
    if (saved.isNew) await startLogin(context, session)
    else if (!(await updateLogin(context, { id: saved.id, tab: saved.tab }, session))) return false
    if (secret !== undefined) await moveLogins(context, saved.id, id)
    return true
  })
  if (!isStored) return undefined
  return secret === undefined ? [] : [createCookie(request, AUTH_SESSION, { value: secret })]
}

function replaceCookies(cookies: readonly Cookie[], newCookies: readonly Cookie[]): Cookie[] {
  const replaced = new Set(newCookies.map(({ name }) => name))
  return [...cookies.filter(({ name }) => !replaced.has(name)), ...newCookies]
}

function renderLoginPage(
  login: Login,
  saved: SavedLogin,
  { page, cookies }: Challenge & { readonly cookies: readonly Cookie[] },
): Promise<BrowserResponse> {
  const { state, request } = login
  return renderPage(login, page, {
    cookies,
    self: getLoginUrl(request, saved),
    action: getLoginUrl(request, saved, {
      path: getPagePath(state),
      parameters: { session_code: saved.code, execution: state.currentPage ?? '' },
    }),
    address: (path) => getLoginUrl(request, saved, { path }),
    problem: state.problem,
    info: request.query.has('expired') ? 'expiredAction' : (state.info ?? findHint(state)),
    values: state.values ?? {},
    languages: listPreferredLanguages(login),
  })
}

/** Returns the address of a page of a login. Keycloak: the paths and the names of the parameters. */
export function getLoginUrl(
  { base, realm }: BrowserRequest,
  { tab, state }: Pick<SavedLogin, 'tab' | 'state'>,
  {
    path = 'authenticate',
    parameters = {},
  }: { readonly path?: string; readonly parameters?: Readonly<Record<string, string>> } = {},
): string {
  const query = new URLSearchParams({ ...parameters, client_id: state.client, tab_id: tab })
  return `${base}/realms/${encodeURIComponent(realm)}/login-actions/${path}?${query}`
}

/**
 * Whether the user has passed a step since the login was stored. The browser gets a new secret then: an attacker who
 * planted the cookie cannot continue the login.
 */
function hasAuthenticated({ state: savedState, isNew }: SavedLogin, state: LoginState): boolean {
  if (state.user === undefined) return false
  const countSteps = ({ stepResults }: Pick<LoginState, 'stepResults'>) => Object.keys(stepResults).length
  return (
    isNew === true ||
    state.user !== savedState.user ||
    countSteps(state) !== countSteps(savedState) ||
    state.isAuthenticated !== savedState.isAuthenticated
  )
}

function getPagePath({ currentPage, isAuthenticated, binding }: LoginState): string {
  if (currentPage === CONSENT) return 'consent'
  if (isAuthenticated) return 'required-action'
  if (binding === 'registration') return 'registration'
  return binding === 'resetCredentials' ? 'reset-credentials' : 'authenticate'
}

/** Returns the text for a user who has a session but must authenticate again. */
function findHint({ notes, isAuthenticated }: LoginState): string | undefined {
  return notes.isReauthentication && !isAuthenticated ? 'reauthenticate' : undefined
}

/** OpenID Connect Core, section 3.1.2.6: the error of a request with `prompt=none` that would need a page. */
function getPromptError({ currentPage, isAuthenticated }: LoginState): string {
  if (currentPage === CONSENT) return 'consent_required'
  return isAuthenticated ? 'interaction_required' : 'login_required'
}
