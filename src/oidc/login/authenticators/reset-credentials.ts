// A forgotten password: who it is, a link by mail, and then a new password.
import { noSooner } from '../../../lib/timing/no-sooner.ts'
import { findUserByName } from '../../../service/login/login.ts'
import { forgotPasswordPage } from '../../pages/actions.ts'
import { infoPage } from '../../pages/messages.ts'
import type { Step } from '../flow.ts'
import { demandMailServer, sendLinkTo } from '../link.ts'
import { type Authenticator, identify, type Login, reading, startAgain, tell } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { mayUseEmail } from './password.ts'

/** To look for somebody, and to write to them, takes as long as not to: milliseconds, several times what either takes. */
const DISCREETLY = 100

/** Asks whose password it is. Whether there is such a person is not told. */
export const chooseUser: Authenticator = {
  begin: (login) =>
    login.person ? 'success' : { page: forgotPasswordPage(mayUseEmail(login), login.state.username ?? '') },
  async answer(login, _step, form) {
    const name = (form.username ?? '').trim()
    if (name === '') return { key: 'missingUsernameMessage', field: 'username' }
    login.state.username = name
    await noSooner(DISCREETLY, () => lookFor(login, name))
    return 'success'
  },
}

async function lookFor(login: Login, name: string): Promise<void> {
  const user = await reading(login, (context) => findUserByName(context, name, mayUseEmail(login)))
  if (user && user.serviceAccountClient === null) await identify(login, user.id)
  const error = !login.person ? 'user_not_found' : user?.body.enabled === true ? undefined : 'user_disabled'
  if (error) await tell(login, 'RESET_PASSWORD', { error })
}

/** Sends the link, and goes back to log-in: who follows it goes on with the step after this one. */
export const sendEmail: Authenticator = {
  async begin(login, step) {
    demandMailServer(login)
    const mailed = await noSooner(DISCREETLY, () => writeTo(login, step))
    startAgain(login, 'browser')
    login.state.notes.mailed = mailed
    login.state.info = 'emailSentMessage'
    return { page: infoPage('emailSentMessage') }
  },
}

/** Gives the id of the token that the link holds; none, where nobody can be written to. */
async function writeTo(login: Login, { id }: Step): Promise<string> {
  const { person } = login
  const { enabled, email } = person?.live.representation ?? {}
  if (!person || enabled !== true) return ''
  if (email) return sendLinkTo(login, person, 'reset-credentials', { execution: id })
  await tell(login, 'RESET_PASSWORD', { error: 'invalid_email' })
  return ''
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
