// Lint rules for realm settings.
import { isLoopback } from '../../lib/http/loopback.ts'
import { memoizeReused } from '../../lib/timing/memoize.ts'
import { HOUR, isPublic } from './client-rules.ts'
import { type LintedObject, LintSubject, type RealmLintRule, violationAt } from './lint-rule.ts'

const NIST = 'https://pages.nist.gov/800-63-4/sp800-63b.html'
/** The shortest password that NIST allows, in characters. */
const MIN_LENGTH = 8

/** The lint rules for realm settings, by id. */
export const realmRules: Readonly<Record<string, RealmLintRule>> = {
  'no-tls': createRealmRule({
    finds: 'a realm that does not require TLS',
    source: ['RFC 6749, section 3.1', 'https://www.rfc-editor.org/rfc/rfc6749.html#section-3.1'],
    find: (realm) =>
      realm.text('sslRequired').toLowerCase() === 'none'
        ? violationAt('sslRequired', 'passwords and tokens are sent unencrypted: declare external or all')
        : [],
  }),
  'no-brute-force-protection': createRealmRule({
    finds: 'a realm without brute-force protection',
    source: ['NIST SP 800-63B-4, section 3.2.2', NIST],
    find: (realm) =>
      realm.isOn('bruteForceProtected')
        ? []
        : violationAt('bruteForceProtected', 'brute-force protection is off: declare bruteForceProtected: true'),
  }),
  'weak-passwords': createRealmRule({
    finds: `a password policy that allows fewer than ${MIN_LENGTH} characters`,
    source: ['NIST SP 800-63B-4, section 3.1.1.2', NIST],
    find: (realm) => {
      const [, length] = /\blength\((\d+)\)/.exec(realm.text('passwordPolicy')) ?? []
      return Number(length ?? 0) >= MIN_LENGTH
        ? []
        : violationAt(
            'passwordPolicy',
            `passwords may have fewer than ${MIN_LENGTH} characters: declare length(${MIN_LENGTH}) or more`,
          )
    },
  }),
  'unverified-registration': createRealmRule({
    finds: 'self-registration without email verification',
    source: [
      'OWASP WSTG-IDNT-02',
      'https://owasp.org/www-project-web-security-testing-guide/latest/4-Web_Application_Security_Testing/03-Identity_Management_Testing/02-Test_User_Registration_Process',
    ],
    find: (realm) =>
      realm.isOn('registrationAllowed') && !realm.isOn('verifyEmail')
        ? violationAt(
            'registrationAllowed',
            'users may register with the email address of another user: declare verifyEmail: true',
          )
        : [],
  }),
  'long-tokens': createRealmRule({
    finds: 'access tokens that are valid for more than an hour',
    source: ['RFC 6750, section 5.3', 'https://www.rfc-editor.org/rfc/rfc6750.html#section-5.3'],
    find: (realm) =>
      Number(realm.text('accessTokenLifespan')) > HOUR
        ? violationAt(
            'accessTokenLifespan',
            `access tokens cannot be revoked: declare ${HOUR} seconds or less, and use refresh tokens`,
          )
        : [],
  }),
  'reusable-refresh-tokens': createRealmRule({
    finds: 'refresh tokens of public clients that are not rotated',
    source: ['RFC 9700, section 2.2.2', 'https://www.rfc-editor.org/rfc/rfc9700.html#section-2.2.2'],
    find: (realm, objects) => {
      if (realm.isOn('revokeRefreshToken')) return []
      const client = objects.find((object) => object.kind === 'client' && usesRefreshTokens(object))
      return client
        ? violationAt(
            'revokeRefreshToken',
            `a stolen refresh token of client ${client.key.at(-1)} works as long as the session: declare revokeRefreshToken: true`,
          )
        : []
    },
  }),
  'mail-without-server': createRealmRule({
    finds: 'settings that send emails, without an SMTP server',
    source: [
      'Server Administration Guide, Configuring email for a realm',
      'https://www.keycloak.org/docs/latest/server_admin/#_email',
    ],
    find: (realm) => {
      if (realm.text('smtpServer.host') !== '') return []
      return ['resetPasswordAllowed', 'verifyEmail'].flatMap((path) =>
        realm.isOn(path)
          ? violationAt(path, `the realm cannot send the email of ${path}: declare smtpServer, or ${path}: false`)
          : [],
      )
    },
  }),
  'plain-mail': createRealmRule({
    finds: 'emails that are sent to the SMTP server without TLS',
    source: ['RFC 8314, section 3', 'https://www.rfc-editor.org/rfc/rfc8314.html#section-3'],
    find: (realm) => {
      const host = realm.text('smtpServer.host')
      const encrypted = realm.isOn('smtpServer.ssl') || realm.isOn('smtpServer.starttls')
      return host === '' || encrypted || isLoopback(host)
        ? []
        : violationAt(
            'smtpServer.host',
            'emails and the password of the SMTP server are sent unencrypted: declare smtpServer.ssl or smtpServer.starttls',
          )
    },
  }),
}

/** Creates a rule for realm settings. It is skipped where a document declares only the realm's name. */
function createRealmRule(rule: Omit<RealmLintRule, 'kind'>): RealmLintRule {
  return {
    ...rule,
    kind: 'realm',
    find: (realm, objects) => (realm.object.fields.size > 1 ? rule.find(realm, objects) : []),
  }
}

const usesRefreshTokens = memoizeReused((object: LintedObject) => {
  const client = new LintSubject(object)
  const getsTokens = client.isOn('standardFlowEnabled') || client.isOn('directAccessGrantsEnabled')
  const getsRefreshTokens = getsTokens && client.text('attributes.use.refresh.tokens') !== 'false'
  return isPublic(client) && getsRefreshTokens && !client.isOn('attributes.dpop.bound.access.tokens')
})
