import { emailVerifyPage } from '../../pages/actions.ts'
import { sendLinkTo } from '../link.ts'
import { personOf } from '../login.ts'
import type { RequiredAction } from './action.ts'

/** Somebody shows that a mail address is theirs, by the link in a mail to it. See ../action-link.ts. */
export const verifyEmail: RequiredAction = {
  events: ['SEND_VERIFY_EMAIL'],
  due: ({ realm, person }) => realm.settings.verifyEmail === true && person?.live.representation.emailVerified !== true,
  async begin(login) {
    const person = personOf(login)
    const { email, emailVerified } = person.live.representation
    if (typeof email !== 'string' || emailVerified === true) return undefined
    if (login.state.notes.verifying !== email) {
      await sendLinkTo(login, person, 'verify-email')
      login.state.notes.verifying = email
    }
    return { page: emailVerifyPage(email) }
  },
  async answer(login, form) {
    if (form.resend === 'true') delete login.state.notes.verifying
    return 'again'
  },
}
