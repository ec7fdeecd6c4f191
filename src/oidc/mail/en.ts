import { buildEmailTexts } from './email-texts.ts'

/** Texts of mails in English. */
export const en = buildEmailTexts({
  asking: {
    emailVerification: {
      subject: 'Verify email',
      request: 'Please confirm that this is your mail address, for your account at {2}.',
      link: 'Confirm the address',
    },
    passwordReset: {
      subject: 'Reset password',
      request: 'Somebody wants new credentials for your account at {2}. If it is you, choose them now.',
      link: 'Choose new credentials',
    },
    executeActions: {
      subject: 'Update Your Account',
      request: 'An administrator of {2} asks you to take care of your account: {3}.',
      link: 'Begin',
    },
  },
  telling: {
    emailTest: {
      subject: 'Test of the mail server',
      what: 'The mail server of the realm works: it has delivered this.',
    },
    eventLoginError: {
      subject: 'Login error',
      what: 'On {0} somebody failed to log in to your account, from {1}.',
    },
    eventRemoveTotp: {
      subject: 'Remove OTP',
      what: 'On {0} one-time codes were switched off for your account, from {1}.',
    },
    eventUpdatePassword: {
      subject: 'Update password',
      what: 'On {0} the password of your account was changed, from {1}.',
    },
    eventUpdateTotp: {
      subject: 'Update OTP',
      what: 'On {0} one-time codes were set up for your account, from {1}.',
    },
    eventUpdateCredential: {
      subject: 'Update credential',
      what: 'On {1} a credential of your account was changed ({0}), from {2}.',
    },
    eventRemoveCredential: {
      subject: 'Remove credential',
      what: 'On {1} a credential of your account was removed ({0}), from {2}.',
    },
    eventUserDisabledByTemporaryLockout: {
      subject: 'User disabled by temporary lockout',
      what: 'On {0} your account was closed for a while, after too many failed log-ins.',
    },
    eventUserDisabledByPermanentLockout: {
      subject: 'User disabled by permanent lockout',
      what: 'On {0} your account was closed, after too many failed log-ins.',
    },
  },
  end: (time) => `The link works for ${time}.`,
  ignore: 'If you know nothing of this, there is nothing to do: everything stays as it is.',
  beware: 'If you did not expect this, ask an administrator.',
  names: {
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
  },
})
