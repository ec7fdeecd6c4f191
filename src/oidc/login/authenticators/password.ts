// Name and password, on one page or on two.
import { authenticatePassword, findUserByName, type LogIn } from '../../../service/login/login.ts'
import { logInPage } from '../../pages/log-in.ts'
import { type Authenticator, type Form, identify, type Login, personOf, reading } from '../login.ts'
import type { Problem } from '../session/state.ts'

/** Asks for both. Who is known already is asked for the password only. */
export const usernamePassword: Authenticator = {
  begin: (login) => ({ page: loginPage(login, { username: true, password: true }) }),
  async answer(login, _step, form) {
    rememberMe(login, form)
    const username = login.person?.live.key[0] ?? login.state.notes.named ?? (form.username ?? '').trim()
    login.state.username = username
    const tried = await tryPassword(login, username, form)
    const { user } = tried
    const another = user && (user.serviceAccountClient !== null || (login.person && login.person.live.id !== user.id))
    return another ? wrong('invalidUserMessage', 'password') : proved(login, tried, 'invalidUserMessage')
  },
}

/** Asks for the name only. Keycloak: that there is nobody of that name is told; a realm that minds asks for both at once. */
export const username: Authenticator = {
  begin: (login) => (login.person ? 'success' : { page: loginPage(login, { username: true, password: false }) }),
  async answer(login, _step, form) {
    rememberMe(login, form)
    const name = login.state.notes.named ?? (form.username ?? '').trim()
    login.state.username = name
    const user = await reading(login, (context) => findUserByName(context, name, mayUseEmail(login)))
    const found = user && user.serviceAccountClient === null
    if (!found)
      return wrong(mayUseEmail(login) ? 'invalidUsernameOrEmailMessage' : 'invalidUsernameMessage', 'username')
    if (user.body.enabled !== true) return disabled(user.id)
    await identify(login, user.id)
    return 'success'
  },
}

/** Asks for the password of a person who is known. */
export const password: Authenticator = {
  ofPerson: true,
  configured: ({ person }) => person?.credentials.some(({ type }) => type === 'password') === true,
  begin: (login) => ({ page: loginPage(login, { username: false, password: true }) }),
  async answer(login, _step, form) {
    return proved(login, await tryPassword(login, personOf(login).live.key[0]!, form), 'invalidPasswordMessage')
  },
}

/** Whether the mail address serves as name in the realm of the log-in. */
export function mayUseEmail({ realm: { settings } }: Pick<Login, 'realm'>): boolean {
  return settings.loginWithEmailAllowed === true && settings.duplicateEmailsAllowed !== true
}

function tryPassword({ service, realm, request }: Login, username: string, { password = '' }: Form): Promise<LogIn> {
  return authenticatePassword(service, realm, { username, password, address: request.address })
}

async function proved(login: Login, tried: LogIn, refusal: string): Promise<'success' | Problem> {
  const { user, credential, error } = tried
  if (error !== undefined) return { ...wrong(refusal, 'password'), error, ...(user && { user: user.id }) }
  if (user.body.enabled !== true) return disabled(user.id)
  await identify(login, user.id)
  login.state.credential = credential
  login.state.used.push('password')
  return 'success'
}

/** The page that asks for a name, a password, or both. */
export function loginPage(
  { realm: { settings }, state, person }: Login,
  asks: { username: boolean; password: boolean },
) {
  return logInPage({
    asks,
    byEmail: settings.loginWithEmailAllowed === true && settings.duplicateEmailsAllowed !== true,
    rememberMe: settings.rememberMe === true && asks.username,
    remembered: state.rememberMe === true,
    resetPassword: settings.resetPasswordAllowed === true,
    registration: settings.registrationAllowed === true && person === undefined,
    known: person?.live.key[0] ?? state.notes.named,
  })
}

/** Keeps whether the person wants to stay logged in, where the realm lets them. */
export function rememberMe({ realm, state }: Login, form: Form): void {
  if (realm.settings.rememberMe === true) state.rememberMe = form.rememberMe === 'on'
}

const wrong = (key: string, field: string): Problem => ({ key, field })
const disabled = (user: string): Problem => ({ key: 'accountDisabledMessage', error: 'user_disabled', user })
