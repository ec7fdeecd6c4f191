// The texts of mails in English. Realms put their own in place of them, by name, in any language.

/** Texts by name, in the form of lib/message-format.ts. */
export type Texts = Readonly<Record<string, string>>

/** The texts that come with the server. What stands in their places says the table of templates. */
export const texts: Texts = {
  ...telling('emailTest', 'Test of the mail server', 'The mail server of the realm works: it has delivered this.'),
  ...asking('emailVerification', 'Verify email', {
    request: 'Please confirm that this is your mail address, for your account at {2}.',
    link: 'Confirm the address',
    expiration: '{3}',
  }),
  ...asking('emailUpdateConfirmation', 'Verify new email', {
    request: 'Please confirm that {1} is to be the mail address of your account at {2}.',
    link: 'Confirm the new address',
    expiration: '{3}',
  }),
  ...asking('passwordReset', 'Reset password', {
    request: 'Somebody wants new credentials for your account at {2}. If it is you, choose them now.',
    link: 'Choose new credentials',
    expiration: '{3}',
  }),
  ...asking('executeActions', 'Update Your Account', {
    request: 'An administrator of {2} asks you to take care of your account: {3}.',
    link: 'Begin',
    expiration: '{4}',
  }),
  ...telling('eventLoginError', 'Login error', 'On {0} somebody failed to log in to your account, from {1}.'),
  ...telling('eventRemoveTotp', 'Remove OTP', 'On {0} one-time codes were switched off for your account, from {1}.'),
  ...telling('eventUpdatePassword', 'Update password', 'On {0} the password of your account was changed, from {1}.'),
  ...telling('eventUpdateTotp', 'Update OTP', 'On {0} one-time codes were set up for your account, from {1}.'),
  ...telling('eventUpdateCredential', 'Update credential', 'On {1} your credential {0} was changed, from {2}.'),
  ...telling('eventRemoveCredential', 'Remove credential', 'On {1} your credential {0} was removed, from {2}.'),
  ...telling(
    'eventUserDisabledByTemporaryLockout',
    'User disabled by temporary lockout',
    'On {0} your account was closed for a while, after too many failed log-ins.',
  ),
  ...telling(
    'eventUserDisabledByPermanentLockout',
    'User disabled by permanent lockout',
    'On {0} your account was closed, after too many failed log-ins.',
  ),
  'requiredAction.CONFIGURE_TOTP': 'set up one-time codes',
  'requiredAction.CONFIGURE_RECOVERY_AUTHN_CODES': 'make recovery codes',
  'requiredAction.TERMS_AND_CONDITIONS': 'accept the terms',
  'requiredAction.UPDATE_EMAIL': 'change the mail address',
  'requiredAction.UPDATE_PASSWORD': 'choose a new password',
  'requiredAction.UPDATE_PROFILE': 'check the profile',
  'requiredAction.VERIFY_EMAIL': 'confirm the mail address',
  'requiredAction.VERIFY_PROFILE': 'complete the profile',
  'requiredAction.delete_account': 'delete the account',
  'requiredAction.webauthn-register': 'register a passkey',
  'requiredAction.webauthn-register-passwordless': 'register a passkey to log in without a password',
  'linkExpirationFormatter.timePeriodUnit.seconds': '{0,choice,0#seconds|1#second|1<seconds}',
  'linkExpirationFormatter.timePeriodUnit.minutes': '{0,choice,0#minutes|1#minute|1<minutes}',
  'linkExpirationFormatter.timePeriodUnit.hours': '{0,choice,0#hours|1#hour|1<hours}',
  'linkExpirationFormatter.timePeriodUnit.days': '{0,choice,0#days|1#day|1<days}',
}

/** The texts of a mail that asks to follow a link. */
function asking(
  name: string,
  subject: string,
  { request, link, expiration }: { request: string; link: string; expiration: string },
): Texts {
  const end = `The link works for ${expiration}.`
  const ignore = 'If you know nothing of this, there is nothing to do: everything stays as it is.'
  return {
    [`${name}Subject`]: subject,
    [`${name}Body`]: `${request}\n\n{0}\n\n${end}\n\n${ignore}`,
    [`${name}BodyHtml`]: `<p>${request}</p><p><a href="{0}">${link}</a></p><p>${end}</p><p>${ignore}</p>`,
  }
}

/** The name of the text in HTML. Keycloak: where it says "Lockout", it does not say "Body". */
export function htmlOf(name: string): string {
  return name.endsWith('Lockout') ? `${name}Html` : `${name}BodyHtml`
}

/** The texts of a mail that only tells something. */
function telling(name: string, subject: string, what: string): Texts {
  const ask = name.startsWith('event') ? ' If you did not expect this, ask an administrator.' : ''
  return {
    [`${name}Subject`]: subject,
    [`${name}Body`]: `${what}${ask}`,
    [htmlOf(name)]: `<p>${what}${ask}</p>`,
  }
}
