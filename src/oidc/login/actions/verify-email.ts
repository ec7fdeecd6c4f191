import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import { emailVerifyPage } from '../../pages/actions.ts'
import { getLoginUser } from '../login.ts'
import { sendActionLink } from '../send-action-link.ts'
import type { RequiredAction } from './action.ts'

/** Keycloak: the seconds until a user can request the email again, unless the config of the action has others. */
const RESEND_COOLDOWN = 30

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
      notes.verificationSentAt = toEpochSeconds(login.realm.now)
    }
    return { page: emailVerifyPage(email) }
  },
  async handleForm({ state: { notes }, realm }, form, { emailResendCooldownSeconds: cooldown }) {
    if (form.resend !== 'true') return 'again'
    const passed = toEpochSeconds(realm.now) - (notes.verificationSentAt ?? 0)
    const remaining = Number(cooldown || RESEND_COOLDOWN) - passed
    if (remaining > 0) return { key: 'emailVerifySendCooldown', params: [remaining] }
    delete notes.verificationSentTo
    return 'again'
  },
}
