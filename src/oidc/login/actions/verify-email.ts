import { emailVerifyPage } from '../../pages/actions.ts'
import { getLoginUser } from '../login.ts'
import { sendActionLink } from '../send-action-link.ts'
import type { RequiredAction } from './action.ts'

/** The user verifies their email address by the link in an email. See ../action-token-link.ts. */
export const verifyEmail: RequiredAction = {
  events: ['SEND_VERIFY_EMAIL'],
  isTriggered: ({ realm, user }) => realm.settings.verifyEmail === true && user?.fields.emailVerified !== true,
  async challenge(login) {
    const { email, emailVerified } = getLoginUser(login).fields
    if (email === undefined || emailVerified === true) return undefined
    const { notes } = login.state
    if (notes.verificationSentTo !== email) {
      await sendActionLink(login, 'verify-email')
      notes.verificationSentTo = email
    }
    return { page: emailVerifyPage(email) }
  },
  async handleForm(login, form) {
    if (form.resend === 'true') delete login.state.notes.verificationSentTo
    return 'again'
  },
}
