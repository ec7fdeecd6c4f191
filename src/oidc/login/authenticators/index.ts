// The supported authenticators. A flow that needs another one fails.
import type { Authenticator, Login } from '../login.ts'
import { allowAccess, denyAccess, identityProviderRedirector } from './access.ts'
import { cookieAuthenticator } from './cookie.ts'
import { validateOtp, validatePassword, validateUsername } from './direct-grant.ts'
import { organizationAuthenticator } from './organization.ts'
import { otpForm } from './otp-form.ts'
import { passwordForm, usernameForm, usernamePasswordForm } from './password-forms.ts'
import { registrationForm } from './registration.ts'
import { chooseUser, resetOtp, resetPassword, sendEmail } from './reset-credentials.ts'
import { unsupportedAuthenticators } from './unsupported.ts'

/** Authenticators by provider id. */
type Authenticators = Readonly<Record<string, Authenticator>>

const commonAuthenticators: Authenticators = {
  'allow-access-authenticator': allowAccess,
  'deny-access-authenticator': denyAccess,
  ...unsupportedAuthenticators,
}

/** The authenticators of flows in a browser. */
const browserAuthenticators: Authenticators = {
  ...commonAuthenticators,
  'auth-cookie': cookieAuthenticator,
  'identity-provider-redirector': identityProviderRedirector,
  organization: organizationAuthenticator,
  'auth-username-password-form': usernamePasswordForm,
  'auth-username-form': usernameForm,
  'auth-password-form': passwordForm,
  'auth-otp-form': otpForm,
  'registration-page-form': registrationForm,
  'reset-credentials-choose-user': chooseUser,
  'reset-credential-email': sendEmail,
  'reset-password': resetPassword,
  'reset-otp': resetOtp,
}

/** The authenticators of direct grant flows. */
const directGrantAuthenticators: Authenticators = {
  ...commonAuthenticators,
  'direct-grant-validate-username': validateUsername,
  'direct-grant-validate-password': validatePassword,
  'direct-grant-validate-otp': validateOtp,
}

/** Returns the authenticator with a provider id, if it is supported in the flow of a login. */
export function findAuthenticator({ state }: Login, providerId: string): Authenticator | undefined {
  const authenticators = state.binding === 'directGrant' ? directGrantAuthenticators : browserAuthenticators
  return Object.hasOwn(authenticators, providerId) ? authenticators[providerId] : undefined
}
