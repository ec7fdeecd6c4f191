// The steps of log-ins that Regent executes. A flow that reaches another one fails.
import type { Authenticator } from '../login.ts'
import { allow, deny, redirector } from './access.ts'
import { cookie } from './cookie.ts'
import { oneTimeCode } from './one-time-code.ts'
import { password, username, usernamePassword } from './password.ts'
import { registration } from './registration.ts'
import { chooseUser, resetOneTimeCode, resetPassword, sendEmail } from './reset-credentials.ts'

/** The steps by provider. */
export const authenticators: Readonly<Record<string, Authenticator | undefined>> = {
  'auth-cookie': cookie,
  'identity-provider-redirector': redirector,
  'auth-username-password-form': usernamePassword,
  'auth-username-form': username,
  'auth-password-form': password,
  'auth-otp-form': oneTimeCode,
  'registration-page-form': registration,
  'reset-credentials-choose-user': chooseUser,
  'reset-credential-email': sendEmail,
  'reset-password': resetPassword,
  'reset-otp': resetOneTimeCode,
  'allow-access-authenticator': allow,
  'deny-access-authenticator': deny,
}
