// The format of Java's property files.
import { expect, test } from 'vitest'
import { parseProperties } from '../../src/lib/keycloak/java-properties.ts'

test('keys and values end where java.util.Properties ends them, and escapes are replaced', () => {
  const text = [
    '# a comment',
    '  ! another one',
    '',
    'a=1',
    'b : 2 ',
    'c 3',
    'd\\=e\\ f=4',
    'long=one \\',
    '    two \\',
    '    three',
    'path=C:\\\\dir\\\\',
    'unicode=\\u00e4\\u20AC',
    'tabs=\\t\\n\\q',
    'empty=',
    'alone',
    'a=last',
    '\\#key=\\#value # no comment',
  ].join('\r\n')
  expect([...parseProperties(text)]).toEqual([
    ['a', 'last'],
    ['b', '2 '],
    ['c', '3'],
    ['d=e f', '4'],
    ['long', 'one two three'],
    ['path', 'C:\\dir\\'],
    ['unicode', '\u00e4\u20ac'],
    ['tabs', '\t\nq'],
    ['empty', ''],
    ['alone', ''],
    ['#key', '#value # no comment'],
  ])
})
