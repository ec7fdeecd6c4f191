// New logins.
import type { Cookie } from '../../lib/http/cookies.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { OidcRealm } from '../oidc-realm.ts'
import type { Login } from './login.ts'
import { LoginError } from './login-error.ts'
import type { BrowserCall } from './session/browser-call.ts'
import { AUTH_SESSION, createCookie, generateSecret, hashSecret, hasSecretFormat } from './session/cookies.ts'
import {
  type AuthorizationParameters,
  createLoginState,
  type FlowBinding,
  type LoginState,
  type SavedLogin,
} from './session/login-state.ts'

/** A new login, and the cookie of its browser. */
export interface NewLogin {
  readonly login: Login
  readonly saved: SavedLogin
  readonly cookies: readonly Cookie[]
}

/** The initial state of a login. */
export interface InitialState extends Partial<LoginState> {
  readonly binding: FlowBinding
  readonly parameters: AuthorizationParameters
}

/** Creates a login in a new tab. It is not stored before a page is shown. */
export function createLogin(call: BrowserCall, client: LiveObject, initial: InitialState): NewLogin {
  const { service, request, realm } = call
  const { binding, parameters } = initial
  const state: LoginState = { ...createLoginState(binding, { client: client.key[0]!, parameters }), ...initial }
  const browserSecret = request.cookies.get(AUTH_SESSION) ?? ''
  const secret = hasSecretFormat(browserSecret) ? browserSecret : generateSecret()
  const saved: SavedLogin = {
    id: hashSecret(secret),
    tab: generateSecret().slice(0, 11),
    code: generateSecret(),
    expiresAt: new Date(realm.now.getTime() + realm.settings.accessCodeLifespanLogin * 1000),
    state: structuredClone(state),
    isNew: true,
  }
  const login: Login = { service, request, realm, client, state, tab: saved.tab, user: undefined }
  call.login = login
  return { login, saved, cookies: [createCookie(request, AUTH_SESSION, { value: secret })] }
}

/** Throws LoginError unless users may register in the realm. */
export function requireRegistrationAllowed({ settings }: OidcRealm): void {
  if (settings.registrationAllowed === true) return
  throw new LoginError('registrationNotAllowedMessage', 'registration_disabled')
}

/** Throws LoginError unless users may reset a forgotten password in the realm. */
export function requirePasswordResetAllowed({ settings }: OidcRealm): void {
  if (settings.resetPasswordAllowed === true) return
  throw new LoginError('resetCredentialNotAllowedMessage', 'not_allowed')
}
