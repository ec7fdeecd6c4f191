// Rules about clients.
import { against, isPlain, type Readable, type Rule } from './rule.ts'

const BCP = 'https://www.rfc-editor.org/rfc/rfc9700.html'
/** RFC 6750 says that a bearer token is valid for one hour at most. */
export const HOUR = 3600

/** By id. */
export const clientRules: Readonly<Record<string, Rule>> = {
  'wildcard-redirect': {
    kind: 'client',
    finds: 'an address for the way back from log-in or log-out that holds `*`',
    source: ['RFC 9700, section 2.1', `${BCP}#section-2.1`],
    find: (client) =>
      addresses(client)
        .filter(({ element }) => element.includes('*'))
        .map(({ path, element }) => ({
          path,
          element,
          message: `${element} lets people return to addresses that nobody chose: state each address in full`,
        })),
  },
  'plain-redirect': {
    kind: 'client',
    finds: 'a redirect address with `http://` that is not this machine’s own',
    source: ['RFC 9700, section 2.6', `${BCP}#section-2.6`],
    find: (client) =>
      addresses(client)
        .filter(({ element }) => isPlain(element.startsWith('/') ? client.text('rootUrl') : element))
        .map(({ path, element }) => ({
          path,
          element,
          message: `${element} is reached without encryption, so codes can be read on the way: use https`,
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
                'scripts of every page may call the realm for it: list its origins, or use + for those of its redirect addresses',
            },
          ]
        : [],
  },
  'implicit-flow': {
    kind: 'client',
    finds: 'the implicit flow',
    source: ['RFC 9700, section 2.1.2', `${BCP}#section-2.1.2`],
    find: (client) =>
      speaksOidc(client) && client.isOn('implicitFlowEnabled')
        ? against('implicitFlowEnabled', 'tokens come back in the address of a page: use standardFlowEnabled with PKCE')
        : [],
  },
  'password-grant': {
    kind: 'client',
    finds: 'passwords of people that go through the client',
    source: ['RFC 9700, section 2.4', `${BCP}#section-2.4`],
    find: (client) =>
      speaksOidc(client) && client.isOn('directAccessGrantsEnabled')
        ? against(
            'directAccessGrantsEnabled',
            `it takes passwords of people${client.isOn('publicClient') ? ', and anybody can call itself that client' : ''}: let them log in with a browser, or on a device of its own with oauth2.device.authorization.grant.enabled`,
          )
        : [],
  },
  'no-pkce': {
    kind: 'client',
    finds: 'a public client that need not use PKCE with S256',
    source: ['RFC 9700, section 2.1.1', `${BCP}#section-2.1.1`],
    find: (client) =>
      isPublic(client) && client.isOn('standardFlowEnabled') && client.text(PKCE) !== 'S256'
        ? against(PKCE, `a stolen code is a log-in: state ${PKCE}: S256`)
        : [],
  },
  'long-client-tokens': {
    kind: 'client',
    finds: 'access tokens of a client that are valid for more than an hour',
    source: ['RFC 6750, section 5.3', 'https://www.rfc-editor.org/rfc/rfc6750.html#section-5.3'],
    find: (client) =>
      Number(client.text(LIFESPAN)) > HOUR
        ? against(
            LIFESPAN,
            `an access token cannot be taken back: state ${HOUR} seconds or less, and let it be refreshed`,
          )
        : [],
  },
}

const PKCE = 'attributes.pkce.code.challenge.method'
const LIFESPAN = 'attributes.access.token.lifespan'
const LOG_OUT = 'attributes.post.logout.redirect.uris'

/** Addresses that people return to. Those of log-out stand in one text. */
function addresses(client: Readable): { path: string; element: string }[] {
  return [
    ...client.texts('redirectUris').map((element) => ({ path: 'redirectUris', element })),
    ...client
      .text(LOG_OUT)
      .split('##')
      .map((element) => ({ path: LOG_OUT, element })),
  ]
}

function speaksOidc(client: Readable): boolean {
  return client.text('protocol') === 'openid-connect' && !client.isOn('bearerOnly')
}

/** Whether anybody can call itself that client, and get tokens for people. */
export function isPublic(client: Readable): boolean {
  return speaksOidc(client) && client.isOn('publicClient')
}
