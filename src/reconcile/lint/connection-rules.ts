// Lint rules for identity providers and user storage providers.
import { isUnencrypted, type LintRule, violationAt } from './lint-rule.ts'

/** The lint rules for identity providers and user storage providers, by id. */
export const connectionRules: Readonly<Record<string, LintRule>> = {
  'plain-provider': {
    kind: 'identityProvider',
    finds: 'an identity provider whose endpoints use `http://`',
    source: ['RFC 6749, section 3.1', 'https://www.rfc-editor.org/rfc/rfc6749.html#section-3.1'],
    find: (provider) =>
      ADDRESSES.map((name) => `config.${name}`)
        .filter((path) => isUnencrypted(provider.text(path)))
        .flatMap((path) => violationAt(path, `${path} is not encrypted, so a login can be forged: use https`)),
  },
  'unsigned-saml': {
    kind: 'identityProvider',
    finds: 'a SAML identity provider whose signatures are not verified',
    source: [
      'SAML 2.0 profiles, section 4.1.4.5',
      'https://docs.oasis-open.org/security/saml/v2.0/saml-profiles-2.0-os.pdf',
    ],
    find: (provider) =>
      provider.text('providerId') === 'saml' && !provider.isOn('config.validateSignature')
        ? violationAt(
            'config.validateSignature',
            'unsigned assertions are accepted: declare config.validateSignature: "true" with the signing certificate',
          )
        : [],
  },
  'plain-ldap': {
    kind: 'component',
    finds: 'an LDAP user store without TLS (`ldap://` without StartTLS)',
    source: ['RFC 4513, section 5.1.3', 'https://www.rfc-editor.org/rfc/rfc4513.html#section-5.1.3'],
    find: (store) =>
      store.text('providerId') === 'ldap' && isUnencrypted(store.text(LDAP), 'ldap') && !store.isOn('config.startTls')
        ? violationAt(LDAP, 'passwords of users are sent unencrypted: use ldaps, or declare startTls')
        : [],
  },
}

const LDAP = 'config.connectionUrl'
const ADDRESSES = [
  'authorizationUrl',
  'tokenUrl',
  'userInfoUrl',
  'jwksUrl',
  'logoutUrl',
  'singleSignOnServiceUrl',
  'singleLogoutServiceUrl',
]
