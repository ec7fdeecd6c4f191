// Username and password, on one page or on two.
import { importUserForLogin } from '../../../service/federation/directory-login.ts'
import { findUserByName } from '../../../service/login/find-user.ts'
import { authenticatePassword, type PasswordLoginResult } from '../../../service/login/password-authentication.ts'
import type { OidcRealm } from '../../oidc-realm.ts'
import { loginPage } from '../../pages/log-in.ts'
import { viewStoredUser } from '../../views.ts'
import type { FormFields } from '../form.ts'
import { type Authenticator, type Challenge, getLoginUser, type Login, readRealm, setLoginUser } from '../login.ts'
import type { FormProblem } from '../session/login-state.ts'

/** Asks for username and password; only for the password of an identified user. Keycloak: auth-username-password-form. */
export const usernamePasswordForm: Authenticator = {
  authenticate: (login) => challengeLogin(login, { username: true, password: true }),
  async handleForm(login, _step, form) {
    storeRememberMe(login, form)
    const username = login.user?.username ?? login.state.notes.enteredName ?? (form.username ?? '').trim()
    login.state.username = username
    const result = await checkPassword(login, username, form)
    const { user } = result
    const isAnotherUser = user && (user.serviceAccountClient !== null || (login.user && login.user.id !== user.id))
    return isAnotherUser
      ? { key: 'invalidUserMessage', field: 'password' }
      : acceptPassword(login, result, 'invalidUserMessage')
  },
}

/**
 * Asks for the username only. Keycloak: auth-username-form; the page reveals whether the user exists, unlike a page that asks
 * for the password too.
 */
export const usernameForm: Authenticator = {
  authenticate: (login) => (login.user ? 'success' : challengeLogin(login, { username: true, password: false })),
  async handleForm(login, _step, form) {
    storeRememberMe(login, form)
    const name = login.state.notes.enteredName ?? (form.username ?? '').trim()
    login.state.username = name
    const byEmail = isEmailLoginAllowed(login.realm)
    if (login.realm.hasUserStores)
      await importUserForLogin(login.service, login.realm, { name: name.toLowerCase(), byEmail })
    const user = await readRealm(login, (context) => findUserByName(context, name, byEmail))
    if (!user || user.serviceAccountClient !== null)
      return { key: byEmail ? 'invalidUsernameOrEmailMessage' : 'invalidUsernameMessage', field: 'username' }
    if (viewStoredUser(user).enabled !== true) return createDisabledProblem(user.id)
    await setLoginUser(login, user.id)
    return 'success'
  },
}

/** Asks for the password of an identified user. Keycloak: auth-password-form. */
export const passwordForm: Authenticator = {
  requiresUser: true,
  isConfigured: ({ user }) =>
    user !== undefined &&
    (user.credentials.some(({ type }) => type === 'password') || user.live.representation.federationLink !== undefined),
  authenticate: (login) => challengeLogin(login, { username: false, password: true }),
  async handleForm(login, _step, form) {
    const result = await checkPassword(login, getLoginUser(login).username, form)
    return acceptPassword(login, result, 'invalidPasswordMessage')
  },
}

/** Whether users may log in with their email address. */
export function isEmailLoginAllowed({ settings }: OidcRealm): boolean {
  return settings.loginWithEmailAllowed === true && settings.duplicateEmailsAllowed !== true
}

function checkPassword(
  { service, realm, request }: Login,
  username: string,
  { password = '' }: FormFields,
): Promise<PasswordLoginResult> {
  return authenticatePassword(service, realm, { username, password, address: request.address })
}

/** Sets the user of a login after a correct password; `failureText` is the key of the text for a wrong one. */
async function acceptPassword(
  login: Login,
  { user, credential, error }: PasswordLoginResult,
  failureText: string,
): Promise<'success' | FormProblem> {
  if (error !== undefined) return { key: failureText, field: 'password', error, ...(user && { user: user.id }) }
  if (viewStoredUser(user).enabled !== true) return createDisabledProblem(user.id)
  await setLoginUser(login, user.id)
  if (credential !== undefined) login.state.credential = credential
  login.state.usedCredentialTypes.push('password')
  return 'success'
}

/** Returns the page that asks for the username, the password, or both. */
export function challengeLogin(
  { realm, state, user }: Login,
  inputs: { readonly username: boolean; readonly password: boolean },
): Challenge {
  return {
    page: loginPage({
      inputs,
      byEmail: isEmailLoginAllowed(realm),
      rememberMe: realm.settings.rememberMe === true && inputs.username,
      isRemembered: state.rememberMe === true,
      resetPassword: realm.settings.resetPasswordAllowed === true,
      registration: realm.settings.registrationAllowed === true && user === undefined,
      username: user?.username ?? state.notes.enteredName,
    }),
  }
}

/** Stores whether the user wants to stay logged in, if the realm allows it. */
export function storeRememberMe({ realm, state }: Login, form: FormFields): void {
  if (realm.settings.rememberMe === true) state.rememberMe = form.rememberMe === 'on'
}

const createDisabledProblem = (user: string): FormProblem => ({
  key: 'accountDisabledMessage',
  error: 'user_disabled',
  user,
})
