// Rules about what a realm trusts: identity providers and user stores.
import { against, isPlain, type Rule } from './rule.ts'

/** By id. */
export const connectionRules: Readonly<Record<string, Rule>> = {
  'plain-provider': {
    kind: 'identityProvider',
    finds: 'an identity provider that is asked with `http://`',
    source: ['RFC 6749, section 3.1', 'https://www.rfc-editor.org/rfc/rfc6749.html#section-3.1'],
    find: (provider) =>
      ADDRESSES.map((name) => `config.${name}`)
        .filter((path) => isPlain(provider.text(path)))
        .flatMap((path) =>
          against(path, `${path} is reached without encryption, so who logs in can be forged on the way: use https`),
        ),
  },
  'unsigned-saml': {
    kind: 'identityProvider',
    finds: 'a SAML identity provider whose signature is not verified',
    source: [
      'SAML 2.0 profiles, section 4.1.4.5',
      'https://docs.oasis-open.org/security/saml/v2.0/saml-profiles-2.0-os.pdf',
    ],
    find: (provider) =>
      provider.text('providerId') === 'saml' && !provider.isOn('config.validateSignature')
        ? against(
            'config.validateSignature',
            'anybody can say who logs in: state config.validateSignature: "true" with the signing certificate',
          )
        : [],
  },
  'plain-ldap': {
    kind: 'component',
    finds: 'a user store that is asked with `ldap://` and without StartTLS',
    source: ['RFC 4513, section 5.1.3', 'https://www.rfc-editor.org/rfc/rfc4513.html#section-5.1.3'],
    find: (store) =>
      store.text('providerId') === 'ldap' && isPlain(store.text(LDAP), 'ldap') && !store.isOn('config.startTls')
        ? against(LDAP, 'passwords of people go over the network as they are: use ldaps, or state startTls')
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
