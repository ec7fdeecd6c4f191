import { buildEmailTexts } from './email-texts.ts'

/** German texts of emails. */
export const de = buildEmailTexts({
  linkEmails: {
    emailVerification: {
      subject: 'E-Mail-Adresse bestätigen',
      request: 'Bitte bestätigen Sie, dass dies die E-Mail-Adresse Ihres Kontos bei {2} ist.',
      link: 'E-Mail-Adresse bestätigen',
    },
    passwordReset: {
      subject: 'Passwort zurücksetzen',
      request:
        'Für Ihr Konto bei {2} wurde das Zurücksetzen des Passworts angefordert. Wenn Sie das angefordert haben, wählen Sie jetzt ein neues Passwort.',
      link: 'Passwort zurücksetzen',
    },
    executeActions: {
      subject: 'Konto aktualisieren',
      request: 'Die Administration von {2} bittet Sie, Ihr Konto zu aktualisieren: {3}.',
      link: 'Konto aktualisieren',
    },
    orgInvite: {
      subject: 'Einladung in die Organisation {0}',
      request: 'Sie sind eingeladen, Mitglied der Organisation {3} zu werden.',
      link: 'Einladung annehmen',
      advice:
        'Wenn Sie der Organisation nicht beitreten möchten, ignorieren Sie diese E-Mail: Es wird nichts geändert.',
    },
  },
  infoEmails: {
    emailTest: {
      subject: 'SMTP-Testnachricht',
      message: 'Dies ist eine Testnachricht. Die SMTP-Verbindung des Realms funktioniert.',
    },
    eventLoginError: {
      subject: 'Anmeldung fehlgeschlagen',
      message: 'Am {0} ist eine Anmeldung bei Ihrem Konto fehlgeschlagen, von {1} aus.',
    },
    eventRemoveTotp: {
      subject: 'Einmalcodes entfernt',
      message: 'Am {0} wurden die Einmalcodes Ihres Kontos entfernt, von {1} aus.',
    },
    eventUpdatePassword: {
      subject: 'Passwort geändert',
      message: 'Am {0} wurde das Passwort Ihres Kontos geändert, von {1} aus.',
    },
    eventUpdateTotp: {
      subject: 'Einmalcodes eingerichtet',
      message: 'Am {0} wurden für Ihr Konto Einmalcodes eingerichtet, von {1} aus.',
    },
    eventUpdateCredential: {
      subject: 'Zugangsdaten geändert',
      message: 'Am {1} wurden Zugangsdaten Ihres Kontos ({0}) geändert, von {2} aus.',
    },
    eventRemoveCredential: {
      subject: 'Zugangsdaten entfernt',
      message: 'Am {1} wurden Zugangsdaten Ihres Kontos ({0}) entfernt, von {2} aus.',
    },
    eventUserDisabledByTemporaryLockout: {
      subject: 'Konto vorübergehend gesperrt',
      message: 'Am {0} wurde Ihr Konto nach zu vielen fehlgeschlagenen Anmeldungen vorübergehend gesperrt.',
    },
    eventUserDisabledByPermanentLockout: {
      subject: 'Konto gesperrt',
      message: 'Am {0} wurde Ihr Konto nach zu vielen fehlgeschlagenen Anmeldungen dauerhaft gesperrt.',
    },
    accountNotification: {
      subject: 'Hinweis zu Ihrem Konto',
      message: 'Ihr Konto erfordert Ihre Aufmerksamkeit. Bei Fragen wenden Sie sich bitte an Ihre Administratoren.',
    },
    accountDisableNotification: {
      subject: 'Ihr Konto wird deaktiviert',
      message:
        'Ihr Konto wird in {0} Tagen deaktiviert. Der Grund: {1}. Um das zu verhindern, melden Sie sich bitte an.',
    },
    accountDeleteNotification: {
      subject: 'Ihr Konto wird gelöscht',
      message:
        'Ihr Konto wird mit allen Daten in {0} Tagen gelöscht. Der Grund: {1}. Wenn Sie das nicht erwarten, wenden Sie sich bitte an Ihre Administratoren.',
    },
  },
  greeting: 'Guten Tag {5} {6},',
  expiration: (lifespan) => `Der Link ist ${lifespan} gültig.`,
  notRequested: 'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Es wird nichts geändert.',
  notExpected: 'Wenn Sie das nicht waren, wenden Sie sich bitte an Ihre Administratoren.',
  names: {
    'workflowNotification.greeting': 'Guten Tag {0},',
    'workflowNotification.remaining':
      '{0,choice,0#Verbleibende Zeit: {0} Tage|1#Verbleibende Zeit: {0} Tag|1<Verbleibende Zeit: {0} Tage}',
    'workflowNotification.contact': 'Bei Fragen wenden Sie sich bitte an die Administration von {0}.',
    'requiredAction.CONFIGURE_TOTP': 'Einmalcodes einrichten',
    'requiredAction.CONFIGURE_RECOVERY_AUTHN_CODES': 'Wiederherstellungscodes erzeugen',
    'requiredAction.TERMS_AND_CONDITIONS': 'den Nutzungsbedingungen zustimmen',
    'requiredAction.UPDATE_EMAIL': 'die E-Mail-Adresse ändern',
    'requiredAction.UPDATE_PASSWORD': 'das Passwort ändern',
    'requiredAction.UPDATE_PROFILE': 'das Profil aktualisieren',
    'requiredAction.VERIFY_EMAIL': 'die E-Mail-Adresse bestätigen',
    'requiredAction.VERIFY_PROFILE': 'das Profil überprüfen',
    'requiredAction.delete_account': 'das Konto löschen',
    'requiredAction.webauthn-register': 'einen Passkey registrieren',
    'requiredAction.webauthn-register-passwordless': 'einen Passkey für die Anmeldung ohne Passwort registrieren',
    'linkExpirationFormatter.timePeriodUnit.seconds': '{0,choice,0#Sekunden|1#Sekunde|1<Sekunden}',
    'linkExpirationFormatter.timePeriodUnit.minutes': '{0,choice,0#Minuten|1#Minute|1<Minuten}',
    'linkExpirationFormatter.timePeriodUnit.hours': '{0,choice,0#Stunden|1#Stunde|1<Stunden}',
    'linkExpirationFormatter.timePeriodUnit.days': '{0,choice,0#Tage|1#Tag|1<Tage}',
  },
})
