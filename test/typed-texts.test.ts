// What callers type is read in time that grows with its length, not with the square of it: nobody stops the server with a long text.
import { expect, test } from 'vitest'
import { readCookies } from '../src/lib/http/cookies.ts'
import { parseForwarded } from '../src/lib/http/forwarded.ts'
import { ANYWHERE } from '../src/lib/http/outbound.ts'
import { formatMessage } from '../src/lib/keycloak/message-format.ts'
import { withLink } from '../src/oidc/mail/link.ts'
import { languageOf, textsFor } from '../src/oidc/pages/localize.ts'
import { isRegistered } from '../src/oidc/redirect-uris.ts'
import { clusterSourceSpec } from '../src/operator/source-spec.ts'
import { placeOf, sameRepository } from '../src/reconcile/read/git-address.ts'
import { pinnedTo } from '../src/reconcile/read/git-connection.ts'
import { clientProblem } from '../src/service/clients/client-uris.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { unlessTaken } from '../src/service/objects/conflicts.ts'
import { namesIn } from '../src/service/realms/workflow-expressions.ts'
import { validate } from '../src/service/users/user-validators.ts'
import { growth, IN_PROPORTION } from './support/growth.ts'
import { newRealm, testService } from './support/service.ts'

const { service } = await testService()
const text = await service.read(SYSTEM, await newRealm(service), (context) => textsFor(context, {}, 'en'))

/** What reads a text; before, again and again, and behind: parts of texts that patterns of quadratic time are slow with. */
const readers: Readonly<
  Record<string, [read: (text: string) => unknown, before: string, parts: readonly string[], behind: string]>
> = {
  'a name on a page': [(name) => text('x', { name }), '', ['${', '${a', '${a}', '$', '{', '}'], ''],
  'a text on a page': [(key) => text(key), '${', ['${', '${a', '${a}', '$', '{', '}'], ''],
  'a text with places': [(one) => formatMessage(one, ['a']), '', ['{0,choice,', '{0', '{', "'", "''", "{0,'"], ''],
  'a text with many choices': [(one) => formatMessage(one, ['a']), '{0,choice,', [',', ' ', '0#a|', '0<'], ''],
  'an email in HTML': [
    (html) => withLink(html, 'l'),
    '',
    ['<', '"<"', "'<", '<a href="', '<a -', '<a>', '-', '<a b="-"'],
    '',
  ],
  'languages that are wished for': [
    (list) => languageOf({}, [list]),
    '',
    ['a', 'a,', ' ', '-', ',;q=', 'a;q=0.1,'],
    '\0',
  ],
  cookies: [readCookies, '', ['a', '=', ';', 'a=b;', ' '], ''],
  'a header of a proxy': [parseForwarded, '', ['for=a;', 'for="\\"";', ' ', '"', 'a', '\\"'], ''],
  'a redirect address': [
    (address) => isRegistered(address, { redirectUris: ['https://a.example/*'] }),
    'https://a.example/',
    ['a', '/', '..;', '%2e', ' ', '@', '.', '.;/'],
    '?',
  ],
  'addresses of a client': [
    (uri) => clientProblem({ redirectUris: [uri], baseUrl: uri, rootUrl: uri, adminUrl: uri }),
    'http://',
    [':0', ':', '@', 'a@:', ']', '?', 'a??/', '{', '{a}', '%41', '::'],
    '@',
  ],
  'an address of a client that is none': [
    (uri) => clientProblem({ redirectUris: [uri] }),
    'a://',
    [':', '@', 'a@', '?', 'a??/', '%41', 'a'],
    '\0',
  ],
  'a mail address': [
    (value) => validate('email', [value], { 'max-local-length': 1e9 }, 'en'),
    '',
    ['"', '\\"', 'a', 'a.', '\\ \\"\\'],
    '@a',
  ],
  'the host of a mail address': [
    (value) => validate('email', [value], {}, 'en'),
    'a@',
    ['a', 'a.', 'a-', '.', '@'],
    '-',
  ],
  'an address in an attribute': [
    (value) => validate('uri', [value], {}, 'en'),
    'a://',
    ['a', '@', '[', '[::]', ':', '%41', '/', '?', '☃'],
    '\0',
  ],
  'a number': [(value) => validate('double', [value], {}, 'en'), '', ['1', '.1', 'e1', ' ', '1f'], 'x'],
  'a whole number': [(value) => validate('integer', [value], {}, 'en'), '', ['1', '+', ' '], 'x'],
  'a day': [(value) => validate('local-date', [value], {}, 'en'), '', [' ', '1', '1/', '/'], 'x'],
  'a day of ISO 8601': [(value) => validate('iso-date', [value], {}, 'en'), '', ['1', '-', '-1', '+'], 'x'],
  'a name of a user': [
    (value) => validate('username-prohibited-characters', [value], {}, 'en'),
    '',
    ['a', '-', 'é'],
    '"',
  ],
  'a name in Latin letters': [
    (value) => validate('up-username-not-idn-homograph', [value], {}, 'en'),
    '',
    ['a', '-', 'é'],
    'я',
  ],
  'the condition of a workflow': [namesIn, '', ['a', 'a(', 'a("', '!', '"', 'a and ', ' ', ')'], '\\'],
  'a parameter in it': [namesIn, 'a(', ['"\\', '"', '\\', '\\"', '"a"', 'a'], '"'],
  'a name that is taken': [
    (name) =>
      unlessTaken({ title: 'user', conflict: {} } as never, 'create', async () => {
        throw { code: '23505', detail: `Key (realm, username)=(${name}` }
      }).catch(() => {}),
    '',
    ['=(s', ', ', '=(', ') already exists', '(', ')'],
    '',
  ],
  'a URL of a webhook': [
    (url) => sameRepository(url, 'https://a/b'),
    '',
    ['/', ':/', '@', ':', 'a/', '//a', '\n'],
    '\na',
  ],
  'a folder of a repository': [
    (folder) => {
      try {
        placeOf({ url: 'https://a/b', folder })
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
    (url) => pinnedTo({ url, protocol: 'ssh' }, ANYWHERE).catch(() => {}),
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
  const ratio = await growth(250, (size) => {
    const long = before + part.repeat(size) + behind
    return () => read(long)
  })
  expect(ratio).toBeLessThan(IN_PROPORTION)
})
