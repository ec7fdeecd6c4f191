// The reset credentials flow: the user enters their name, gets an email with a link, and chooses a new password.
import { runAtLeast } from '../../../lib/timing/constant-duration.ts'
import { findUserByName } from '../../../service/login/find-user.ts'
import { forgotPasswordPage } from '../../pages/actions.ts'
import { infoPage } from '../../pages/messages.ts'
import { viewStoredUser } from '../../views.ts'
import type { FlowStep } from '../flow.ts'
import { type Authenticator, type Login, readRealm, recordLoginEvent, resetLogin, setLoginUser } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { requireMailServer, sendActionLink } from '../send-action-link.ts'
import { isEmailLoginAllowed } from './password-forms.ts'

/** The minimum time of a step in milliseconds, so that the time does not reveal whether the user exists. */
const MIN_DURATION = 100

/** Asks for the username. The page does not reveal whether the user exists. */
export const chooseUser: Authenticator = {
  authenticate: (login) =>
    login.user
      ? 'success'
      : { page: forgotPasswordPage(login.state.username ?? '', { byEmail: isEmailLoginAllowed(login.realm) }) },
  async handleForm(login, _step, form) {
    const name = (form.username ?? '').trim()
    if (name === '') return { key: 'missingUsernameMessage', field: 'username' }
    login.state.username = name
    await runAtLeast(MIN_DURATION, () => setUserByName(login, name))
    return 'success'
  },
}

async function setUserByName(login: Login, name: string): Promise<void> {
  const user = await readRealm(login, (context) => findUserByName(context, name, isEmailLoginAllowed(login.realm)))
  if (user && user.serviceAccountClient === null) await setLoginUser(login, user.id)
  const isEnabled = user !== undefined && viewStoredUser(user).enabled === true
  const error = !login.user ? 'user_not_found' : isEnabled ? undefined : 'user_disabled'
  if (error) await recordLoginEvent(login, 'RESET_PASSWORD', { error })
}

/** Sends the email, and returns to the login page. The link continues with the next step of the flow. */
export const sendEmail: Authenticator = {
  async authenticate(login, step) {
    requireMailServer(login)
    const resetTokenId = await runAtLeast(MIN_DURATION, () => sendResetEmail(login, step))
    resetLogin(login, 'browser')
    login.state.notes.resetTokenId = resetTokenId
    login.state.info = 'emailSentMessage'
    return { page: infoPage('emailSentMessage') }
  },
}

/** Sends the email, and returns the id of its action token; empty for a user without an email address, or without a user. */
async function sendResetEmail(login: Login, { id }: FlowStep): Promise<string> {
  const { enabled, email } = login.user?.fields ?? {}
  if (enabled !== true) return ''
  if (email) return sendActionLink(login, 'reset-credentials', { execution: id })
  await recordLoginEvent(login, 'RESET_PASSWORD', { error: 'invalid_email' })
  return ''
}

/** Adds the required action to choose a new password. */
export const resetPassword: Authenticator = {
  requiresUser: true,
  authenticate({ state, user }, { requirement }) {
    const hasPassword = user?.credentials.some(({ type }) => type === 'password')
    if (requirement === 'REQUIRED' || hasPassword) state.requiredActions.push('UPDATE_PASSWORD')
    return 'success'
  },
}

/** Adds the required action to set up another authenticator app. */
export const resetOtp: Authenticator = {
  requiresUser: true,
  isConfigured: ({ user }) => user?.credentials.some(({ type }) => type === 'otp') === true,
  setupAction: 'CONFIGURE_TOTP',
  authenticate({ state }, { config, authenticator }) {
    const flag = config.action_on_otp_reset_flag
    if (flag && flag !== 'Remove none') {
      const params = [`${authenticator}: ${flag}`]
      throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', { params })
    }
    state.requiredActions.push('CONFIGURE_TOTP')
    return 'success'
  },
}
