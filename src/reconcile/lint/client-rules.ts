// Lint rules for clients.
import { isUnencrypted, type LintRule, type LintSubject, violationAt } from './lint-rule.ts'

const BCP = 'https://www.rfc-editor.org/rfc/rfc9700.html'
/** The longest lifespan of a bearer token that RFC 6750 recommends, in seconds. */
export const HOUR = 3600

/** The lint rules for clients, by id. */
export const clientRules: Readonly<Record<string, LintRule>> = {
  'wildcard-redirect': {
    kind: 'client',
    finds: 'a redirect URI or post-logout redirect URI with a wildcard',
    source: ['RFC 9700, section 2.1', `${BCP}#section-2.1`],
    find: (client) =>
      listRedirectUris(client)
        .filter(({ element }) => element.includes('*'))
        .map(({ path, element }) => ({
          path,
          element,
          message: `the redirect URI ${element} has a wildcard: declare each redirect URI in full`,
        })),
  },
  'plain-redirect': {
    kind: 'client',
    finds: 'a redirect URI with `http://` that is not a loopback address',
    source: ['RFC 9700, section 2.6', `${BCP}#section-2.6`],
    find: (client) =>
      listRedirectUris(client)
        .filter(({ element }) => isUnencrypted(element.startsWith('/') ? client.text('rootUrl') : element))
        .map(({ path, element }) => ({
          path,
          element,
          message: `the redirect URI ${element} is not encrypted, so authorization codes can be intercepted: use https`,
        })),
  },
  'any-origin': {
    kind: 'client',
    finds: 'the web origin `*`',
    source: [
      'OWASP WSTG-CLNT-07',
      'https://owasp.org/www-project-web-security-testing-guide/latest/4-Web_Application_Security_Testing/11-Client-side_Testing/07-Testing_Cross_Origin_Resource_Sharing',
    ],
    find: (client) =>
      client.texts('webOrigins').includes('*')
        ? [
            {
              path: 'webOrigins',
              element: '*',
              message:
                'every web page may send cross-origin requests for the client: declare its origins, or + for those of its redirect URIs',
            },
          ]
        : [],
  },
  'implicit-flow': {
    kind: 'client',
    finds: 'the implicit flow',
    source: ['RFC 9700, section 2.1.2', `${BCP}#section-2.1.2`],
    find: (client) =>
      isOidcClient(client) && client.isOn('implicitFlowEnabled')
        ? violationAt('implicitFlowEnabled', 'tokens are returned in the URL: use the standard flow with PKCE')
        : [],
  },
  'password-grant': {
    kind: 'client',
    finds: 'direct access grants (the password grant)',
    source: ['RFC 9700, section 2.4', `${BCP}#section-2.4`],
    find: (client) =>
      isOidcClient(client) && client.isOn('directAccessGrantsEnabled')
        ? violationAt(
            'directAccessGrantsEnabled',
            `the client handles passwords of users${client.isOn('publicClient') ? ' without authenticating itself' : ''}: use the standard flow`,
          )
        : [],
  },
  'unused-secret': {
    kind: 'client',
    finds: 'a secret of a public client',
    source: ['RFC 6749, section 2.1', 'https://www.rfc-editor.org/rfc/rfc6749.html#section-2.1'],
    find: (client) =>
      isPublic(client) && client.object.fields.has('secret')
        ? violationAt(
            'secret',
            'the client is public, so that its secret is not used: remove it, or publicClient: true',
          )
        : [],
  },
  'no-pkce': {
    kind: 'client',
    finds: 'a public client without PKCE (S256)',
    source: ['RFC 9700, section 2.1.1', `${BCP}#section-2.1.1`],
    find: (client) =>
      isPublic(client) && client.isOn('standardFlowEnabled') && client.text(PKCE) !== 'S256'
        ? violationAt(PKCE, `an intercepted authorization code can be redeemed: declare ${PKCE}: S256`)
        : [],
  },
  'long-client-tokens': {
    kind: 'client',
    finds: 'access tokens of a client that are valid for more than an hour',
    source: ['RFC 6750, section 5.3', 'https://www.rfc-editor.org/rfc/rfc6750.html#section-5.3'],
    find: (client) =>
      Number(client.text(LIFESPAN)) > HOUR
        ? violationAt(
            LIFESPAN,
            `access tokens cannot be revoked: declare ${HOUR} seconds or less, and use refresh tokens`,
          )
        : [],
  },
}

const PKCE = 'attributes.pkce.code.challenge.method'
const LIFESPAN = 'attributes.access.token.lifespan'
const LOG_OUT = 'attributes.post.logout.redirect.uris'

/** Lists redirect URIs and post-logout redirect URIs. The latter are one text, separated by `##`. */
function listRedirectUris(client: LintSubject): { path: string; element: string }[] {
  return [
    ...client.texts('redirectUris').map((element) => ({ path: 'redirectUris', element })),
    ...client
      .text(LOG_OUT)
      .split('##')
      .map((element) => ({ path: LOG_OUT, element })),
  ]
}

function isOidcClient(client: LintSubject): boolean {
  return client.text('protocol') === 'openid-connect' && !client.isOn('bearerOnly')
}

/** Whether the client is a public client that gets tokens. */
export function isPublic(client: LintSubject): boolean {
  return isOidcClient(client) && client.isOn('publicClient')
}
