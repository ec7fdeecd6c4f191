// Rules about settings of realms.

import { isLoopback } from '../../lib/http/loopback.ts'
import { HOUR, isPublic } from './clients.ts'
import { against, Readable, type Rule } from './rule.ts'

const NIST = 'https://pages.nist.gov/800-63-4/sp800-63b.html'
/** The shortest password that NIST allows, in characters. */
const SHORTEST = 8

/** By id. */
export const realmRules: Readonly<Record<string, Rule>> = {
  'no-tls': ofSettings({
    finds: 'a realm that does not require TLS',
    source: ['RFC 6749, section 3.1', 'https://www.rfc-editor.org/rfc/rfc6749.html#section-3.1'],
    find: (realm) =>
      realm.text('sslRequired').toLowerCase() === 'none'
        ? against('sslRequired', 'passwords and tokens are sent unencrypted: declare external or all')
        : [],
  }),
  'no-brute-force-protection': ofSettings({
    finds: 'a realm without brute-force protection',
    source: ['NIST SP 800-63B-4, section 3.2.2', NIST],
    find: (realm) =>
      realm.isOn('bruteForceProtected')
        ? []
        : against('bruteForceProtected', 'brute-force protection is off: declare bruteForceProtected: true'),
  }),
  'weak-passwords': ofSettings({
    finds: `a password policy that allows fewer than ${SHORTEST} characters`,
    source: ['NIST SP 800-63B-4, section 3.1.1.2', NIST],
    find: (realm) => {
      const [, length] = /\blength\((\d+)\)/.exec(realm.text('passwordPolicy')) ?? []
      return Number(length ?? 0) >= SHORTEST
        ? []
        : against(
            'passwordPolicy',
            `passwords may have fewer than ${SHORTEST} characters: declare length(${SHORTEST}) or more`,
          )
    },
  }),
  'unverified-registration': ofSettings({
    finds: 'self-registration without email verification',
    source: [
      'OWASP WSTG-IDNT-02',
      'https://owasp.org/www-project-web-security-testing-guide/latest/4-Web_Application_Security_Testing/03-Identity_Management_Testing/02-Test_User_Registration_Process',
    ],
    find: (realm) =>
      realm.isOn('registrationAllowed') && !realm.isOn('verifyEmail')
        ? against(
            'registrationAllowed',
            'users may register with the email address of somebody else: declare verifyEmail: true',
          )
        : [],
  }),
  'long-tokens': ofSettings({
    finds: 'access tokens that are valid for more than an hour',
    source: ['RFC 6750, section 5.3', 'https://www.rfc-editor.org/rfc/rfc6750.html#section-5.3'],
    find: (realm) =>
      ['accessTokenLifespan', 'accessTokenLifespanForImplicitFlow']
        .filter((path) => Number(realm.text(path)) > HOUR)
        .flatMap((path) =>
          against(path, `access tokens cannot be revoked: declare ${HOUR} seconds or less, and use refresh tokens`),
        ),
  }),
  'reusable-refresh-tokens': ofSettings({
    finds: 'refresh tokens of public clients that are neither rotated nor sender-constrained',
    source: ['RFC 9700, section 2.2.2', 'https://www.rfc-editor.org/rfc/rfc9700.html#section-2.2.2'],
    find: (realm, objects) => {
      if (realm.isOn('revokeRefreshToken')) return []
      const holder = objects
        .filter(({ kind }) => kind === 'client')
        .map((one) => new Readable(one))
        .find(isRefreshed)
      return holder
        ? against(
            'revokeRefreshToken',
            `a stolen refresh token of client ${holder.object.key.at(-1)} works as long as the session: declare revokeRefreshToken: true, or dpop.bound.access.tokens for each public client`,
          )
        : []
    },
  }),
  'plain-mail': ofSettings({
    finds: 'emails that are sent to the SMTP server without TLS',
    source: ['RFC 8314, section 3', 'https://www.rfc-editor.org/rfc/rfc8314.html#section-3'],
    find: (realm) => {
      const host = realm.text('smtpServer.host')
      const encrypted = realm.isOn('smtpServer.ssl') || realm.isOn('smtpServer.starttls')
      return host === '' || encrypted || isLoopback(host)
        ? []
        : against(
            'smtpServer.host',
            'emails and the password of the SMTP server are sent unencrypted: declare smtpServer.ssl or smtpServer.starttls',
          )
    },
  }),
}

/** A rule about settings: skipped where a document declares only the name of the realm. */
function ofSettings(rule: Omit<Rule, 'kind'>): Rule {
  const find: Rule['find'] = (realm, objects) => (realm.object.fields.size > 1 ? rule.find(realm, objects) : [])
  return { ...rule, kind: 'realm', find }
}

function isRefreshed(client: Readable): boolean {
  const gets = client.isOn('standardFlowEnabled') || client.isOn('directAccessGrantsEnabled')
  const refresh = client.text('attributes.use.refresh.tokens') !== 'false'
  return isPublic(client) && gets && refresh && !client.isOn('attributes.dpop.bound.access.tokens')
}
