// A forgotten password: who it is, a link by mail, and then a new password.
import { findUserByName } from '../../../service/login.ts'
import { forgotPasswordPage } from '../../pages/actions.ts'
import { infoPage } from '../../pages/messages.ts'
import { demandMailServer, sendLinkTo } from '../link.ts'
import { type Authenticator, identify, LoginError, reading, tell } from '../login.ts'
import { mayUseEmail } from './password.ts'

/** Asks whose password it is. Whether there is such a person is not told. */
export const chooseUser: Authenticator = {
  begin: (login) =>
    login.person ? 'success' : { page: forgotPasswordPage(mayUseEmail(login), login.state.username ?? '') },
  async answer(login, _step, form) {
    const name = (form.username ?? '').trim()
    if (name === '') return { key: 'missingUsernameMessage', field: 'username' }
    login.state.username = name
    const user = await reading(login, (context) => findUserByName(context, name, mayUseEmail(login)))
    if (user && user.serviceAccountClient === null) await identify(login, user.id)
    const error = !login.person ? 'user_not_found' : user?.body.enabled === true ? undefined : 'user_disabled'
    if (error) await tell(login, 'RESET_PASSWORD', { error })
    return 'success'
  },
}

/** Sends the link, and goes back to log-in: who follows it goes on with the step after this one. */
export const sendEmail: Authenticator = {
  async begin(login, step) {
    const { state, person } = login
    demandMailServer(login)
    const { enabled, email } = person?.live.representation ?? {}
    const open = enabled === true ? person : undefined
    if (open && !email) await tell(login, 'RESET_PASSWORD', { error: 'invalid_email' })
    const mailed = open && email ? await sendLinkTo(login, open, 'reset-credentials', { execution: step.id }) : ''
    state.binding = 'browser'
    state.done = {}
    state.user = undefined
    state.notes = { mailed }
    state.info = 'emailSentMessage'
    return { page: infoPage('emailSentMessage') }
  },
}

/** Lets the person choose a new password. */
export const resetPassword: Authenticator = {
  ofPerson: true,
  begin({ state, person }, { requirement }) {
    const has = person?.credentials.some(({ type }) => type === 'password')
    if (requirement === 'REQUIRED' || has) state.actions.push('UPDATE_PASSWORD')
    return 'success'
  },
}

/** Lets the person set up one-time codes anew, beside those that they have. */
export const resetOneTimeCode: Authenticator = {
  ofPerson: true,
  configured: ({ person }) => person?.credentials.some(({ type }) => type === 'otp') === true,
  setUpBy: 'CONFIGURE_TOTP',
  begin({ state }, { config, authenticator }) {
    const flag = config.action_on_otp_reset_flag
    if (flag && flag !== 'Remove none') {
      throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', [`${authenticator}: ${flag}`])
    }
    state.actions.push('CONFIGURE_TOTP')
    return 'success'
  },
}
