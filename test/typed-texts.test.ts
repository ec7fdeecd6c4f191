// Texts of callers are parsed in linear time, so that no long text blocks the server.
import { expect, test } from 'vitest'
import { parseCookies } from '../src/lib/http/cookies.ts'
import { parseForwarded } from '../src/lib/http/headers.ts'
import { UNRESTRICTED } from '../src/lib/http/outbound.ts'
import { formatMessage } from '../src/lib/keycloak/message-format.ts'
import { insertLink } from '../src/oidc/mail/insert-link.ts'
import { createTranslator, selectLanguage } from '../src/oidc/pages/localize.ts'
import { isRegisteredRedirectUri } from '../src/oidc/redirect-uris.ts'
import { clusterSourceSpec } from '../src/operator/git/cluster-source-spec.ts'
import { isSameRepository, toGitAddress } from '../src/reconcile/read/git-address.ts'
import { pinConnection } from '../src/reconcile/read/git-connection.ts'
import { findClientProblem } from '../src/service/clients/client-checks.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { withConflictErrors } from '../src/service/objects/conflicts.ts'
import { parseWorkflowExpression } from '../src/service/realms/workflow-expressions.ts'
import { runValidator } from '../src/service/users/user-validators.ts'
import { IN_PROPORTION, measureGrowth } from './support/growth.ts'
import { newRealm, testService } from './support/service.ts'

const { service } = await testService()
const text = await service.read(SYSTEM, await newRealm(service), (context) => createTranslator(context, {}, 'en'))

/** Parsers with the texts that would be slow for patterns of quadratic time: a prefix, repeated parts, and a suffix. */
const readers: Readonly<
  Record<string, [read: (text: string) => unknown, prefix: string, parts: readonly string[], suffix: string]>
> = {
  'a name on a page': [(name) => text('x', { name }), '', ['${', '${a', '${a}', '$', '{', '}'], ''],
  'a text on a page': [(key) => text(key), '${', ['${', '${a', '${a}', '$', '{', '}'], ''],
  'a text with placeholders': [
    (pattern) => formatMessage(pattern, ['a']),
    '',
    ['{0,choice,', '{0', '{', "'", "''", "{0,'"],
    '',
  ],
  'a text with many choices': [(pattern) => formatMessage(pattern, ['a']), '{0,choice,', [',', ' ', '0#a|', '0<'], ''],
  'an email in HTML': [
    (html) => insertLink(html, { placeholder: 'p', link: 'l' }),
    '',
    ['<', '"<"', "'<", '<a href="', '<a -', '<a>', '-', '<a b="-"'],
    '',
  ],
  'preferred languages': [(list) => selectLanguage({}, [list]), '', ['a', 'a,', ' ', '-', ',;q=', 'a;q=0.1,'], '\0'],
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
  'an invalid address of a client': [
    (uri) => findClientProblem({ redirectUris: [uri] }),
    'a://',
    [':', '@', 'a@', '?', 'a??/', '%41', 'a'],
    '\0',
  ],
  'an email address': [
    (value) => runValidator('email', [value], { config: { 'max-local-length': 1e9 }, language: 'en' }),
    '',
    ['"', '\\"', 'a', 'a.', '\\ \\"\\'],
    '@a',
  ],
  'the host of an email address': [
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
  'a number': [
    (value) => runValidator('double', [value], { config: {}, language: 'en' }),
    '',
    ['1', '.1', 'e1', ' ', '1f'],
    'x',
  ],
  'a whole number': [
    (value) => runValidator('integer', [value], { config: {}, language: 'en' }),
    '',
    ['1', '+', ' '],
    'x',
  ],
  'a date': [
    (value) => runValidator('local-date', [value], { config: {}, language: 'en' }),
    '',
    [' ', '1', '1/', '/'],
    'x',
  ],
  'a date of ISO 8601': [
    (value) => runValidator('iso-date', [value], { config: {}, language: 'en' }),
    '',
    ['1', '-', '-1', '+'],
    'x',
  ],
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
  'the condition of a workflow': [parseWorkflowExpression, '', ['a', 'a(', 'a("', '!', '"', 'a and ', ' ', ')'], '\\'],
  'a parameter in the condition of a workflow': [
    parseWorkflowExpression,
    'a(',
    ['"\\', '"', '\\', '\\"', '"a"', 'a'],
    '"',
  ],
  'a conflicting name': [
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
        // A text that is no folder is parsed, too.
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
  Object.entries(readers).flatMap(([reader, [, prefix, parts, suffix]]) =>
    parts.map((part) => [reader, { prefix, part, suffix }] as const),
  ),
)('%s is parsed in linear time: %j', async (reader, { prefix, part, suffix }) => {
  const read = readers[reader]![0]
  const ratio = await measureGrowth(250, (size) => {
    const long = prefix + part.repeat(size) + suffix
    return () => read(long)
  })
  expect(ratio).toBeLessThan(IN_PROPORTION)
})
