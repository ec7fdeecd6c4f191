// The steps of flows that Regent executes. A flow that reaches another one fails.
import type { Authenticator, Login } from '../login.ts'
import { allow, deny, redirector } from './access.ts'
import { cookie } from './cookie.ts'
import { directOneTimeCode, directPassword, directUsername } from './direct-grant.ts'
import { oneTimeCode } from './one-time-code.ts'
import { organization } from './organization.ts'
import { password, username, usernamePassword } from './password.ts'
import { registration } from './registration.ts'
import { chooseUser, resetOneTimeCode, resetPassword, sendEmail } from './reset-credentials.ts'
import { unexecutedSteps } from './unexecuted.ts'

type Authenticators = Readonly<Record<string, Authenticator>>

const anywhere: Authenticators = {
  'allow-access-authenticator': allow,
  'deny-access-authenticator': deny,
  ...unexecutedSteps,
}

/** With a browser, which shows pages. */
const withBrowser: Authenticators = {
  ...anywhere,
  'auth-cookie': cookie,
  'identity-provider-redirector': redirector,
  organization,
  'auth-username-password-form': usernamePassword,
  'auth-username-form': username,
  'auth-password-form': password,
  'auth-otp-form': oneTimeCode,
  'registration-page-form': registration,
  'reset-credentials-choose-user': chooseUser,
  'reset-credential-email': sendEmail,
  'reset-password': resetPassword,
  'reset-otp': resetOneTimeCode,
}

/** By a client that sends what the person typed. */
const byClient: Authenticators = {
  ...anywhere,
  'direct-grant-validate-username': directUsername,
  'direct-grant-validate-password': directPassword,
  'direct-grant-validate-otp': directOneTimeCode,
}

/** The step of that name, where it is executed in such a log-in. */
export function authenticatorFor({ state }: Login, name: string): Authenticator | undefined {
  const table = state.binding === 'directGrant' ? byClient : withBrowser
  return Object.hasOwn(table, name) ? table[name] : undefined
}
