// What callers type is read in time that grows with its length, not with the square of it: nobody stops the server with a long text.
import { expect, test } from 'vitest'
import { parseCookies } from '../src/lib/http/cookies.ts'
import { parseForwarded } from '../src/lib/http/headers.ts'
import { UNRESTRICTED } from '../src/lib/http/outbound.ts'
import { formatMessage } from '../src/lib/keycloak/message-format.ts'
import { insertLink } from '../src/oidc/mail/insert-link.ts'
import { createTranslator, selectLanguage } from '../src/oidc/pages/localize.ts'
import { isRegisteredRedirectUri } from '../src/oidc/redirect-uris.ts'
import { clusterSourceSpec } from '../src/operator/source-spec.ts'
import { isSameRepository, toGitAddress } from '../src/reconcile/read/git-address.ts'
import { pinConnection } from '../src/reconcile/read/git-connection.ts'
import { findClientProblem } from '../src/service/clients/client-checks.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { withConflictErrors } from '../src/service/objects/conflicts.ts'
import { parseExpressionNames } from '../src/service/realms/workflow-expressions.ts'
import { runValidator } from '../src/service/users/user-validators.ts'
import { measureGrowth, IN_PROPORTION } from './support/growth.ts'
import { newRealm, testService } from './support/service.ts'

const { service } = await testService()
const text = await service.read(SYSTEM, await newRealm(service), (context) => createTranslator(context, {}, 'en'))

/** What reads a text; before, again and again, and behind: parts of texts that patterns of quadratic time are slow with. */
const readers: Readonly<
  Record<string, [read: (text: string) => unknown, before: string, parts: readonly string[], behind: string]>
> = {
  'a name on a page': [(name) => text('x', { name }), '', ['${', '${a', '${a}', '$', '{', '}'], ''],
  'a text on a page': [(key) => text(key), '${', ['${', '${a', '${a}', '$', '{', '}'], ''],
  'a text with places': [(one) => formatMessage(one, ['a']), '', ['{0,choice,', '{0', '{', "'", "''", "{0,'"], ''],
  'a text with many choices': [(one) => formatMessage(one, ['a']), '{0,choice,', [',', ' ', '0#a|', '0<'], ''],
  'an email in HTML': [
    (html) => insertLink(html, 'l'),
    '',
    ['<', '"<"', "'<", '<a href="', '<a -', '<a>', '-', '<a b="-"'],
    '',
  ],
  'languages that are wished for': [
    (list) => selectLanguage({}, [list]),
    '',
    ['a', 'a,', ' ', '-', ',;q=', 'a;q=0.1,'],
    '\0',
  ],
  cookies: [parseCookies, '', ['a', '=', ';', 'a=b;', ' '], ''],
  'a header of a proxy': [parseForwarded, '', ['for=a;', 'for="\\"";', ' ', '"', 'a', '\\"'], ''],
  'a redirect address': [
    (address) => isRegisteredRedirectUri(address, { redirectUris: ['https://a.example/*'] }),
    'https://a.example/',
    ['a', '/', '..;', '%2e', ' ', '@', '.', '.;/'],
    '?',
  ],
  'addresses of a client': [
    (uri) => findClientProblem({ redirectUris: [uri], baseUrl: uri, rootUrl: uri, adminUrl: uri }),
    'http://',
    [':0', ':', '@', 'a@:', ']', '?', 'a??/', '{', '{a}', '%41', '::'],
    '@',
  ],
  'an address of a client that is none': [
    (uri) => findClientProblem({ redirectUris: [uri] }),
    'a://',
    [':', '@', 'a@', '?', 'a??/', '%41', 'a'],
    '\0',
  ],
  'a mail address': [
    (value) => runValidator('email', [value], { config: { 'max-local-length': 1e9 }, language: 'en' }),
    '',
    ['"', '\\"', 'a', 'a.', '\\ \\"\\'],
    '@a',
  ],
  'the host of a mail address': [
    (value) => runValidator('email', [value], { config: {}, language: 'en' }),
    'a@',
    ['a', 'a.', 'a-', '.', '@'],
    '-',
  ],
  'an address in an attribute': [
    (value) => runValidator('uri', [value], { config: {}, language: 'en' }),
    'a://',
    ['a', '@', '[', '[::]', ':', '%41', '/', '?', '☃'],
    '\0',
  ],
  'a number': [(value) => runValidator('double', [value], { config: {}, language: 'en' }), '', ['1', '.1', 'e1', ' ', '1f'], 'x'],
  'a whole number': [(value) => runValidator('integer', [value], { config: {}, language: 'en' }), '', ['1', '+', ' '], 'x'],
  'a day': [(value) => runValidator('local-date', [value], { config: {}, language: 'en' }), '', [' ', '1', '1/', '/'], 'x'],
  'a day of ISO 8601': [(value) => runValidator('iso-date', [value], { config: {}, language: 'en' }), '', ['1', '-', '-1', '+'], 'x'],
  'a name of a user': [
    (value) => runValidator('username-prohibited-characters', [value], { config: {}, language: 'en' }),
    '',
    ['a', '-', 'é'],
    '"',
  ],
  'a name in Latin letters': [
    (value) => runValidator('up-username-not-idn-homograph', [value], { config: {}, language: 'en' }),
    '',
    ['a', '-', 'é'],
    'я',
  ],
  'the condition of a workflow': [parseExpressionNames, '', ['a', 'a(', 'a("', '!', '"', 'a and ', ' ', ')'], '\\'],
  'a parameter in it': [parseExpressionNames, 'a(', ['"\\', '"', '\\', '\\"', '"a"', 'a'], '"'],
  'a name that is taken': [
    (name) =>
      withConflictErrors({ title: 'user', conflict: {} } as never, 'create', async () => {
        throw { code: '23505', detail: `Key (realm, username)=(${name}` }
      }).catch(() => {}),
    '',
    ['=(s', ', ', '=(', ') already exists', '(', ')'],
    '',
  ],
  'a URL of a webhook': [
    (url) => isSameRepository(url, 'https://a/b'),
    '',
    ['/', ':/', '@', ':', 'a/', '//a', '\n'],
    '\na',
  ],
  'a folder of a repository': [
    (folder) => {
      try {
        toGitAddress({ url: 'https://a/b', folder })
      } catch {
        // What names no folder is read as well.
      }
    },
    '\0',
    ['/', './', '../', 'a/', ' ', ':'],
    '\0/a',
  ],
  'the URL of a resource': [(url) => clusterSourceSpec.shape.url.safeParse(url), '', ['@h', 'a', '/', 'ssh:', '@'], ''],
  'the host of a repository': [
    (url) => pinConnection({ url, protocol: 'ssh' }, UNRESTRICTED).catch(() => {}),
    '',
    ['@\0', '@', 'a', '@:', ' '],
    '',
  ],
}

test.each(
  Object.entries(readers).flatMap(([what, [, before, parts, behind]]) =>
    parts.map((part) => [what, { before, part, behind }] as const),
  ),
)('%s is read in time that grows with its length: %j', async (what, { before, part, behind }) => {
  const read = readers[what]![0]
  const ratio = await measureGrowth(250, (size) => {
    const long = before + part.repeat(size) + behind
    return () => read(long)
  })
  expect(ratio).toBeLessThan(IN_PROPORTION)
})
