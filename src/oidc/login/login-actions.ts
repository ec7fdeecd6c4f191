// The endpoints of login pages. Keycloak: LoginActionsService.
import type { Cookie } from '../../lib/http/cookies.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { endSessions } from '../../service/login/sessions.ts'
import { listLanguages } from '../pages/localize.ts'
import { advanceLogin, getLoginUrl } from './advance-login.ts'
import { restartAuthorization } from './authorization-endpoint.ts'
import { requirePasswordResetAllowed, requireRegistrationAllowed } from './create-login.ts'
import { type FormFields, MAX_FIELD_LENGTH, rejectForm } from './form.ts'
import type { Login } from './login.ts'
import { LoginError } from './login-error.ts'
import { submitForm } from './login-stages.ts'
import { redirectTo } from './page-response.ts'
import { type BrowserCall, handleBrowserCall } from './session/browser-call.ts'
import type { BrowserRequest, BrowserResponse } from './session/browser-request.ts'
import { AUTH_SESSION, createCookie, LOCALE, RESTART, unseal } from './session/cookies.ts'
import { createLoginState, type SavedLogin } from './session/login-state.ts'
import { findSavedLogin, openSavedLogin, redeemFormCode } from './session/saved-login.ts'
import { expireIdentityCookies, findSsoSession } from './session/sso-session.ts'

/** Shows the current page of a login, or handles its submitted form. */
export function continueLogin(service: Service, request: BrowserRequest): Promise<BrowserResponse> {
  return handleSavedLogin(service, request, async (call, saved) => {
    if (request.form) return handleForm(call, saved, request.form)
    const login = await openSavedLogin(call, saved)
    return advanceLogin(login, saved, selectLanguage(login))
  })
}

async function handleForm(call: BrowserCall, saved: SavedLogin, form: FormFields): Promise<BrowserResponse> {
  const { service, request } = call
  const redeemed = await redeemFormCode(service, request, saved)
  if (!redeemed) return redirectTo(`${getLoginUrl(request, saved)}&expired=true`)
  const login = await openSavedLogin(call, redeemed)
  checkBinding(login)
  const { state } = login
  for (const name of ['problem', 'info', 'values'] as const) delete state[name]
  const overlong = Object.keys(form).find((name) => form[name]!.length > MAX_FIELD_LENGTH)
  if (overlong === undefined) await submitForm(login, form)
  else
    rejectForm(login, form, {
      key: 'error-invalid-length-too-long',
      params: [overlong, '', MAX_FIELD_LENGTH],
      field: overlong,
    })
  return advanceLogin(login, redeemed)
}

/** Switches a login to the registration flow or the reset credentials flow. */
export function changeFlow(
  service: Service,
  request: BrowserRequest,
  binding: 'registration' | 'resetCredentials',
): Promise<BrowserResponse> {
  return handleSavedLogin(service, request, async (call, saved) => {
    if (binding === 'registration') requireRegistrationAllowed(call.realm)
    else requirePasswordResetAllowed(call.realm)
    const login = await openSavedLogin(call, { ...saved, state: createLoginState(binding, saved.state) })
    return advanceLogin(login, saved, selectLanguage(login))
  })
}

/** Starts a login again, for any user. Ends the session of a user who was to authenticate again. */
export function restartLogin(service: Service, request: BrowserRequest): Promise<BrowserResponse> {
  return handleSavedLogin(service, request, async (call, saved) => {
    const session = await findSsoSession(call)
    if (session) {
      await service.writeRuntime(SYSTEM, request.realm, (context) =>
        endSessions(context, { id: session.id, offline: false }),
      )
    }
    const state = createLoginState('browser', saved.state)
    state.notes.isRestarted = true
    const login = await openSavedLogin(call, { ...saved, state })
    return advanceLogin(login, saved, expireIdentityCookies(request))
  })
}

/** Handles a request to the stored login of the browser's tab; a login that has expired starts again. */
function handleSavedLogin(
  service: Service,
  request: BrowserRequest,
  work: (call: BrowserCall, saved: SavedLogin) => Promise<BrowserResponse>,
): Promise<BrowserResponse> {
  return handleBrowserCall(service, request, async (call) => {
    const saved = await findSavedLogin(call)
    return saved ? work(call, saved) : startAgain(call)
  })
}

/** The realm may have disabled registration or password reset since the page was shown. */
function checkBinding({ state, realm }: Login): void {
  if (state.isAuthenticated) return
  // An invitation permits its user to register in any realm.
  if (state.binding === 'registration' && !state.notes.invitation) requireRegistrationAllowed(realm)
  if (state.binding === 'resetCredentials') requirePasswordResetAllowed(realm)
}

/** Starts an expired login again with the request of the restart cookie. Throws LoginError without the cookie. */
async function startAgain(call: BrowserCall): Promise<BrowserResponse> {
  const { request, service } = call
  const query = unseal<string>(service.vault, RESTART, request.cookies.get(RESTART))
  if (query === undefined || request.query.get('client_id') !== new URLSearchParams(query).get('client_id')) {
    throw request.cookies.has(AUTH_SESSION)
      ? new LoginError('staleCodeMessage', 'expired_code')
      : new LoginError('cookieNotFoundMessage', 'cookie_not_found')
  }
  return restartAuthorization(call, new URLSearchParams(query))
}

/** Stores the language that the user selected on a page. */
function selectLanguage({ state, request, realm }: Login): Cookie[] {
  const selected = request.query.get('kc_locale')
  if (selected === null || !listLanguages(realm.settings).includes(selected)) return []
  state.locale = selected
  return [createCookie(request, LOCALE, { value: encodeURIComponent(selected) })]
}
