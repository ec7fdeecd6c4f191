// One-time codes from an authenticator app.
import type { Representation } from '../../../kinds/json.ts'
import { evaluateAttempt } from '../../../service/login/brute-force-protection.ts'
import { useOtpCode } from '../../../service/users/one-time-codes.ts'
import { otpPage } from '../../pages/log-in.ts'
import { type Authenticator, getLoginUser, type Login, type LoginUser, writeRuntime } from '../login.ts'

/** Returns the OTP credentials of a user. */
export const listOtpDevices = ({ credentials }: LoginUser) => credentials.filter(({ type }) => type === 'otp')

/** Asks for a one-time code of one of the user's authenticator apps. Keycloak: auth-otp-form. */
export const otpForm: Authenticator = {
  requiresUser: true,
  isConfigured: ({ user }) => user !== undefined && listOtpDevices(user).length > 0,
  setupAction: 'CONFIGURE_TOTP',
  authenticate(login) {
    const user = getLoginUser(login)
    const devices = listOtpDevices(user).map(({ id, userLabel }, index) => ({
      id: String(id),
      label: String(userLabel ?? `#${index + 1}`),
    }))
    const selected = login.state.notes.otpDevice ?? devices[0]!.id
    return { page: otpPage(user.username, { devices, selected }) }
  },
  async handleForm(login, _step, { otp = '', selectedCredentialId }) {
    const devices = listOtpDevices(getLoginUser(login))
    const device = devices.find(({ id }) => id === selectedCredentialId) ?? devices[0]!
    login.state.notes.otpDevice = String(device.id)
    const outcome = await attemptOtp(login, device, otp)
    if (outcome !== 'succeeded') {
      const error = outcome === 'locked' ? 'user_temporarily_disabled' : 'invalid_user_credentials'
      return { key: 'invalidTotpMessage', field: 'otp', error }
    }
    login.state.usedCredentialTypes.push('otp')
    return 'success'
  },
}

/** Checks a code with brute force protection. */
function attemptOtp(login: Login, credential: Representation, code: string) {
  const { service, realm, request } = login
  const { id, username, live } = getLoginUser(login)
  return evaluateAttempt(service, realm, {
    user: { id, username, body: live.representation },
    username,
    address: request.address,
    otp: true,
    evaluate: () => writeRuntime(login, (context) => useOtpCode(context, realm.settings, { credential, code })),
  })
}
