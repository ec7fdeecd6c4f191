// Authenticators of the direct grant flow: the client sends the username, the password and the one-time code together.
import { authenticatePassword } from '../../../service/login/password-authentication.ts'
import { OAuthError } from '../../oauth-error.ts'
import type { FormFields } from '../form.ts'
import { type Authenticator, getLoginUser, type Login, setLoginUser } from '../login.ts'
import { listOtpDevices, otpForm } from './otp-form.ts'

/** Creates the error for the client, which is always the same; the event has the reason. */
const createError = (error: string) =>
  new OAuthError(400, 'invalid_grant', { description: 'Invalid user credentials', event: { error } })

/** Reads the username. The user is looked up with the password, so that the time does not reveal whether the user exists. */
export const validateUsername: Authenticator = {
  authenticate(login) {
    login.state.username = getForm(login).username ?? ''
    return 'success'
  },
}

/** The authenticator that checks the password of a direct grant. */
export const validatePassword: Authenticator = {
  async authenticate(login): Promise<'success'> {
    const { service, realm, request, state } = login
    const { password = '' } = getForm(login)
    const form = { username: state.username ?? '', password, address: request.address }
    const { user, credential, error } = await authenticatePassword(service, realm, form)
    if (user) state.user = user.id
    if (error !== undefined) throw createError(error)
    await setLoginUser(login, user.id)
    if (credential !== undefined) state.credential = credential
    state.usedCredentialTypes.push('password')
    return 'success'
  },
}

/** Checks the one-time code. Keycloak: the field is `otp` or `totp`. */
export const validateOtp: Authenticator = {
  requiresUser: true,
  isConfigured: (login) => otpForm.isConfigured!(login),
  async authenticate(login, step) {
    const { otp, totp = otp, ...form } = getForm(login)
    const [device] = listOtpDevices(getLoginUser(login))
    if (totp === undefined || !device) throw createError('invalid_user_credentials')
    const outcome = await otpForm.handleForm!(login, step, { ...form, otp: totp })
    if (typeof outcome === 'object') throw createError(outcome.error ?? 'invalid_user_credentials')
    return outcome
  },
}

const getForm = ({ request }: Login): FormFields => request.form ?? {}
