import { buildEmailTexts } from './email-texts.ts'

/** Texts of mails in German. */
export const de = buildEmailTexts({
  asking: {
    emailVerification: {
      subject: 'E-Mail-Adresse bestätigen',
      request: 'Bitte bestätigen Sie, dass dies Ihre E-Mail-Adresse ist, für Ihr Konto bei {2}.',
      link: 'Adresse bestätigen',
    },
    passwordReset: {
      subject: 'Neue Zugangsdaten',
      request: 'Jemand möchte neue Zugangsdaten für Ihr Konto bei {2}. Wenn Sie das sind, wählen Sie sie jetzt.',
      link: 'Zugangsdaten wählen',
    },
    executeActions: {
      subject: 'Ihr Konto',
      request: 'Die Verwaltung von {2} bittet Sie, für Ihr Konto etwas zu tun: {3}.',
      link: 'Beginnen',
    },
  },
  telling: {
    emailTest: {
      subject: 'Test des Mailservers',
      what: 'Der Mailserver des Realms funktioniert: Er hat dies zugestellt.',
    },
    eventLoginError: {
      subject: 'Anmeldung gescheitert',
      what: 'Am {0} ist eine Anmeldung bei Ihrem Konto gescheitert, von {1} aus.',
    },
    eventRemoveTotp: {
      subject: 'Einmalcodes abgeschaltet',
      what: 'Am {0} wurden für Ihr Konto Einmalcodes abgeschaltet, von {1} aus.',
    },
    eventUpdatePassword: {
      subject: 'Passwort geändert',
      what: 'Am {0} wurde das Passwort Ihres Kontos geändert, von {1} aus.',
    },
    eventUpdateTotp: {
      subject: 'Einmalcodes eingerichtet',
      what: 'Am {0} wurden für Ihr Konto Einmalcodes eingerichtet, von {1} aus.',
    },
    eventUpdateCredential: {
      subject: 'Zugangsdaten geändert',
      what: 'Am {1} wurden Zugangsdaten Ihres Kontos geändert ({0}), von {2} aus.',
    },
    eventRemoveCredential: {
      subject: 'Zugangsdaten entfernt',
      what: 'Am {1} wurden Zugangsdaten Ihres Kontos entfernt ({0}), von {2} aus.',
    },
    eventUserDisabledByTemporaryLockout: {
      subject: 'Konto vorübergehend gesperrt',
      what: 'Am {0} wurde Ihr Konto nach zu vielen gescheiterten Anmeldungen vorübergehend gesperrt.',
    },
    eventUserDisabledByPermanentLockout: {
      subject: 'Konto gesperrt',
      what: 'Am {0} wurde Ihr Konto nach zu vielen gescheiterten Anmeldungen gesperrt.',
    },
  },
  end: (time) => `Der Link gilt ${time}.`,
  ignore: 'Wenn Sie davon nichts wissen, brauchen Sie nichts zu tun: Alles bleibt, wie es ist.',
  beware: 'Wenn Sie das nicht erwartet haben, fragen Sie die Verwaltung.',
  names: {
    'requiredAction.CONFIGURE_TOTP': 'Einmalcodes einrichten',
    'requiredAction.CONFIGURE_RECOVERY_AUTHN_CODES': 'Ersatzcodes erzeugen',
    'requiredAction.TERMS_AND_CONDITIONS': 'den Bedingungen zustimmen',
    'requiredAction.UPDATE_EMAIL': 'die E-Mail-Adresse ändern',
    'requiredAction.UPDATE_PASSWORD': 'ein neues Passwort wählen',
    'requiredAction.UPDATE_PROFILE': 'die Angaben prüfen',
    'requiredAction.VERIFY_EMAIL': 'die E-Mail-Adresse bestätigen',
    'requiredAction.VERIFY_PROFILE': 'die Angaben vervollständigen',
    'requiredAction.delete_account': 'das Konto löschen',
    'requiredAction.webauthn-register': 'einen Passkey einrichten',
    'requiredAction.webauthn-register-passwordless': 'einen Passkey für die Anmeldung ohne Passwort einrichten',
    'linkExpirationFormatter.timePeriodUnit.seconds': '{0,choice,0#Sekunden|1#Sekunde|1<Sekunden}',
    'linkExpirationFormatter.timePeriodUnit.minutes': '{0,choice,0#Minuten|1#Minute|1<Minuten}',
    'linkExpirationFormatter.timePeriodUnit.hours': '{0,choice,0#Stunden|1#Stunde|1<Stunden}',
    'linkExpirationFormatter.timePeriodUnit.days': '{0,choice,0#Tage|1#Tag|1<Tage}',
  },
})
