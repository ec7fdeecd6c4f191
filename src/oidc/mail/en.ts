import { buildEmailTexts } from './email-texts.ts'

/** English texts of emails. */
export const en = buildEmailTexts({
  linkEmails: {
    emailVerification: {
      subject: 'Verify email',
      request: 'Please confirm that this is the email address of your {2} account.',
      link: 'Verify the email address',
    },
    passwordReset: {
      subject: 'Reset password',
      request: 'A password reset was requested for your {2} account. If you requested it, choose a new password now.',
      link: 'Reset the password',
    },
    executeActions: {
      subject: 'Update Your Account',
      request: 'An administrator of {2} asks you to update your account: {3}.',
      link: 'Update the account',
    },
    orgInvite: {
      subject: 'Invitation to join the {0} organization',
      request: 'You are invited to become a member of the organization {3}.',
      link: 'Accept the invitation',
      advice: 'If you do not want to join the organization, ignore this email: nothing will be changed.',
    },
  },
  infoEmails: {
    emailTest: {
      subject: 'SMTP test message',
      message: 'This is a test message. The SMTP connection of the realm works.',
    },
    eventLoginError: {
      subject: 'Login error',
      message: 'A failed login to your account was detected on {0} from {1}.',
    },
    eventRemoveTotp: {
      subject: 'Remove OTP',
      message: 'One-time codes were removed from your account on {0} from {1}.',
    },
    eventUpdatePassword: {
      subject: 'Update password',
      message: 'The password of your account was changed on {0} from {1}.',
    },
    eventUpdateTotp: {
      subject: 'Update OTP',
      message: 'One-time codes were set up for your account on {0} from {1}.',
    },
    eventUpdateCredential: {
      subject: 'Update credential',
      message: 'A credential of your account ({0}) was changed on {1} from {2}.',
    },
    eventRemoveCredential: {
      subject: 'Remove credential',
      message: 'A credential of your account ({0}) was removed on {1} from {2}.',
    },
    eventUserDisabledByTemporaryLockout: {
      subject: 'User disabled by temporary lockout',
      message: 'Your account was temporarily disabled on {0} after too many failed logins.',
    },
    eventUserDisabledByPermanentLockout: {
      subject: 'User disabled by permanent lockout',
      message: 'Your account was permanently disabled on {0} after too many failed logins.',
    },
    accountNotification: {
      subject: 'Account Notification',
      message: 'Your account requires attention. If you have questions, please contact your administrator.',
    },
    accountDisableNotification: {
      subject: 'Account Disable Warning',
      message: 'Your account will be disabled in {0} days because of {1}. To prevent this, please log in.',
    },
    accountDeleteNotification: {
      subject: 'Account Deletion Notice',
      message:
        'Your account and all of its data will be deleted in {0} days because of {1}. If you do not expect this, please contact your administrator.',
    },
  },
  greeting: 'Hello {5} {6},',
  expiration: (lifespan) => `The link is valid for ${lifespan}.`,
  notRequested: 'If you did not request this, ignore this email: nothing will be changed.',
  notExpected: 'If this was not you, please contact your administrator.',
  names: {
    'workflowNotification.greeting': 'Dear {0},',
    'workflowNotification.remaining':
      '{0,choice,0#Time remaining: {0} days|1#Time remaining: {0} day|1<Time remaining: {0} days}',
    'workflowNotification.contact': 'If you have questions, please contact the administrators of {0}.',
    'requiredAction.CONFIGURE_TOTP': 'set up one-time codes',
    'requiredAction.CONFIGURE_RECOVERY_AUTHN_CODES': 'generate recovery codes',
    'requiredAction.TERMS_AND_CONDITIONS': 'accept the terms and conditions',
    'requiredAction.UPDATE_EMAIL': 'update the email address',
    'requiredAction.UPDATE_PASSWORD': 'update the password',
    'requiredAction.UPDATE_PROFILE': 'update the profile',
    'requiredAction.VERIFY_EMAIL': 'verify the email address',
    'requiredAction.VERIFY_PROFILE': 'verify the profile',
    'requiredAction.delete_account': 'delete the account',
    'requiredAction.webauthn-register': 'register a passkey',
    'requiredAction.webauthn-register-passwordless': 'register a passkey to sign in without a password',
    'linkExpirationFormatter.timePeriodUnit.seconds': '{0,choice,0#seconds|1#second|1<seconds}',
    'linkExpirationFormatter.timePeriodUnit.minutes': '{0,choice,0#minutes|1#minute|1<minutes}',
    'linkExpirationFormatter.timePeriodUnit.hours': '{0,choice,0#hours|1#hour|1<hours}',
    'linkExpirationFormatter.timePeriodUnit.days': '{0,choice,0#days|1#day|1<days}',
  },
})
