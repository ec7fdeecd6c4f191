import fc from 'fast-check'
import { dump } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import type { DocumentPath } from '../../src/lib/source-position.ts'
import type { Document } from '../../src/realm-file/yaml/document.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { DocumentError, toJsonPointer } from '../../src/realm-file/yaml/problem.ts'

const values = (text: string) => parseDocuments('realm.yaml', text).map(({ value }) => value)
const only = (text: string): Document => parseDocuments('realm.yaml', text)[0]!
const place = (document: Document, path: DocumentPath) => {
  const { line, column } = document.locate(path)
  return `${line}:${column}`
}
const refusal = (text: string): DocumentError => {
  try {
    parseDocuments('realm.yaml', text)
  } catch (error) {
    if (error instanceof DocumentError) return error
    throw error
  }
  throw new Error('was not refused')
}
const message = (text: string) => refusal(text).message

describe('values', () => {
  test('a YAML mapping becomes one document', () => {
    expect(values('realm: shop\nenabled: true\nroles:\n  realm: [{ name: buyer }]\n')).toEqual([
      { realm: 'shop', enabled: true, roles: { realm: [{ name: 'buyer' }] } },
    ])
  })

  test('a file can contain several documents, and empty ones are omitted', () => {
    expect(values('---\n---\nrealm: a\n---\n# nothing here\n---\nrealm: b\n...\n')).toEqual([
      { realm: 'a' },
      { realm: 'b' },
    ])
  })

  test.each(['', '  \n', '# only a comment\n', '---\n'])('a file without content (%j) has no documents', (text) => {
    expect(values(text)).toEqual([])
  })

  test.each(['{"a": \'b // c\'}', '{"a": https://b.example}', '{a: //b}', '{"a": "b"} # c // d'])(
    'slashes in the YAML %s are no comment in JSON',
    (text) => {
      expect(values(text)).toHaveLength(1)
    },
  )

  test('a list of realms is one document for each, and empty elements are omitted', () => {
    expect(values('- realm: a\n-\n- realm: b\n')).toEqual([{ realm: 'a' }, { realm: 'b' }])
    expect(values('[{"realm": "a"}, {"realm": "b"}]')).toEqual([{ realm: 'a' }, { realm: 'b' }])
  })

  test('words and dates that YAML 1.1 would convert stay strings', () => {
    expect(values('a: no\nb: on\nc: 2024-01-01\nd: 12:30:45\ne: .inf\nf: 0x1F')).toEqual([
      { a: 'no', b: 'on', c: '2024-01-01', d: '12:30:45', e: '.inf', f: '0x1F' },
    ])
  })

  test('digits that a number cannot represent stay a string', () => {
    expect(values('a: 007\nb: 12345678901234567890\nc: 7\nd: -1.5e3\ne: "8"')).toEqual([
      { a: '007', b: '12345678901234567890', c: 7, d: -1500, e: '8' },
    ])
  })

  test('line breaks of Windows are accepted', () => {
    const document = only('realm: a\r\nroles:\r\n  - |\r\n    one\r\n    two\r\n')
    expect(document.value).toEqual({ realm: 'a', roles: ['one\ntwo\n'] })
    expect(place(document, ['roles'])).toBe('2:1')
  })

  test('a byte order mark is skipped', () => {
    const document = only('\uFEFFrealm: a\n')
    expect(document.value).toEqual({ realm: 'a' })
    expect(place(document, ['realm'])).toBe('1:1')
  })

  test('the key __proto__ is an ordinary key', () => {
    for (const text of ['{"__proto__": {"polluted": true}}', '__proto__: &p {polluted: true}\nb: *p\n']) {
      const [value] = values(text)
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(Object.keys(value as object)).toContain('__proto__')
    }
    values('a: &a { __proto__: { polluted: true } }\nb: { <<: *a, c: 1 }\n')
    expect({}).not.toHaveProperty('polluted')
  })

  test('a large document is parsed completely', () => {
    const clients = Array.from({ length: 4000 }, (_, index) => ({
      clientId: `client-${index}`,
      description: 'a "text": with\nlines and 🛒',
      redirectUris: [`https://${index}.example.com/*`],
      attributes: { note: 'x'.repeat(600) },
    }))
    const realm = { realm: 'big', clients }
    for (const text of [dump(realm), JSON.stringify(realm), JSON.stringify(realm, null, '\t')]) {
      expect(text.length).toBeGreaterThan(2_500_000)
      const [document] = parseDocuments('big.yaml', text)
      expect(document?.value).toEqual(realm)
      const { line, column } = document!.locate(['clients', 3999, 'attributes', 'note'])
      const keyOnwards = [...(text.split('\n')[line - 1] ?? '')].slice(column - 1, column + 5).join('')
      expect(keyOnwards).toMatch(/^"?note/)
    }
  })
})

describe('JSON', () => {
  test('is parsed like by JSON.parse', () => {
    const indents = fc.constantFrom(undefined, 2, '\t')
    fc.assert(
      fc.property(fc.jsonValue(), indents, (value, indent) => {
        const text = JSON.stringify({ value }, null, indent)
        expect(JSON.stringify(only(text).value)).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['tabs', '\t{\n\t"a"\t:\t1,\n\t"b": [\n\t\t1,\n\t2\n\t]\n}\n\t\n'],
    ['a first line that is indented further than the last', '\n\t  {\n"a": 1\n}'],
    ['a colon on a line of its own', '{"a"\n:\n1}'],
    [
      'escapes and surrogate pairs',
      String.raw`{"a": "\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\", "b": "\ud83d", "c": "\u0000"}`,
    ],
    ['characters that YAML does not print', '{"a": "\x7f\u0085\u2028\u2029\ufeff"}'],
    ['numbers of every form', '{"a": [0, -1, 1.50, 1E3, 1e-7, 9007199254740991, 12345678901234567000]}'],
    ['keys that are like YAML', '{"": 1, "<<": {"x": 1}, "~": 2, "a: b": 3, "# c": 4, "- d": 5, "null": 6, "1.10": 7}'],
    ['a long line', JSON.stringify({ a: Array(20_000).fill({ key: 'x'.repeat(20) }) })],
    ['a long key', JSON.stringify({ ['k'.repeat(5000)]: 1 })],
  ])('may have %s', (_, text) => {
    expect(JSON.stringify(only(text).value)).toBe(JSON.stringify(JSON.parse(text)))
  })
})

describe('positions', () => {
  test('the position of a path is that of its key, or of the list element', () => {
    const document = only(
      'realm: shop\nclients:\n  - clientId: app\n    redirectUris:\n      - https://a\n      - "https://b"\n',
    )
    expect(place(document, [])).toBe('1:1')
    expect(place(document, ['clients'])).toBe('2:1')
    expect(place(document, ['clients', 0])).toBe('3:5')
    expect(place(document, ['clients', 0, 'redirectUris'])).toBe('4:5')
    expect(place(document, ['clients', 0, 'redirectUris', 1])).toBe('6:9')
    expect(document.locate(['realm']).file).toBe('realm.yaml')
  })

  test('the position of a missing path is that of its nearest ancestor', () => {
    const document = only('realm: shop\nclients:\n  - clientId: app\n')
    expect(place(document, ['clients', 0, 'attributes', 'x'])).toBe('3:5')
    expect(place(document, ['clients', 7])).toBe('2:1')
    expect(place(document, ['realm', 'x'])).toBe('1:1')
    expect(place(document, ['toString'])).toBe('1:1')
  })

  test('the position of an empty element is that of its list', () => {
    expect(place(only('a:\n  b:\n    -\n    - x\n'), ['a', 'b', 0])).toBe('2:3')
  })

  test('each document of a file has its own positions', () => {
    const [first, second] = parseDocuments('realm.yaml', 'realm: a\n---\n# b\nrealm: b\nroles: {}\n')
    expect(place(first!, ['roles'])).toBe('1:1')
    expect(second!.start).toEqual({ file: 'realm.yaml', line: 4, column: 1 })
    expect(place(second!, ['roles'])).toBe('5:1')
  })

  test('each element of a list has its own positions', () => {
    const [first, second] = parseDocuments('realms.yaml', '- realm: a\n- realm: b\n  roles:\n    - name: x\n')
    expect(first!.start).toEqual({ file: 'realms.yaml', line: 1, column: 3 })
    expect(second!.start).toEqual({ file: 'realms.yaml', line: 2, column: 3 })
    expect(place(second!, ['roles', 0, 'name'])).toBe('4:7')
  })

  test('columns count characters, also in one long line', () => {
    const document = only('{"realm": "🛒🛒", "é": {"🛒": 1, "roles": [1, "x"]}}')
    expect(place(document, ['realm'])).toBe('1:2')
    expect(place(document, ['é'])).toBe('1:17')
    expect(place(document, ['é', 'roles'])).toBe('1:31')
    expect(place(document, ['é', 'roles', 1])).toBe('1:44')
  })

  test('values from an alias or a merge key have the position where they are written', () => {
    const document = only(
      'base: &base\n  enabled: true\n  roles: [a]\nmore: &more { z: 1 }\nfirst: *base\nsecond:\n  <<: [*base, *more]\n  roles: [b]\n',
    )
    expect(document.value).toMatchObject({ first: { roles: ['a'] }, second: { enabled: true, z: 1, roles: ['b'] } })
    expect(place(document, ['first'])).toBe('5:1')
    expect(place(document, ['first', 'roles', 0])).toBe('3:11')
    expect(place(document, ['second', 'enabled'])).toBe('2:3')
    expect(place(document, ['second', 'z'])).toBe('4:15')
    expect(place(document, ['second', 'roles'])).toBe('8:3')
  })

  test('a JSON pointer escapes ~ and /', () => {
    expect(toJsonPointer([])).toBe('')
    expect(toJsonPointer(['clients', 0, 'a/b~c'])).toBe('/clients/0/a~1b~0c')
  })
})

describe('aliases', () => {
  test('each alias of a value is a copy', () => {
    const [value] = values('a: &a { list: [1] }\nb: *a\n') as [Record<string, { list: number[] }>]
    value.a!.list.push(2)
    expect(value.b).toEqual({ list: [1] })
  })

  test('a merge key merges, and keys beside it take precedence', () => {
    expect(values('base: &b { x: 1, y: 2 }\nuse: { y: 3, <<: *b }\n')).toEqual([
      { base: { x: 1, y: 2 }, use: { y: 3, x: 1 } },
    ])
  })

  test('thousands of clients can share merged settings', () => {
    const clients = Array.from({ length: 5000 }, (_, index) => `  - { <<: *base, clientId: c${index} }`).join('\n')
    const [value] = values(`base: &base { enabled: true, protocol: openid-connect }\nclients:\n${clients}\n`)
    expect(value).toHaveProperty('clients.4999', { enabled: true, protocol: 'openid-connect', clientId: 'c4999' })
  })

  test('aliases that expand exponentially are refused', () => {
    const level = (index: number) =>
      `a${index}: &a${index} [${Array(9)
        .fill(`*a${index - 1}`)
        .join(', ')}]`
    const bomb = ['a0: &a0 [x]', ...Array.from({ length: 9 }, (_, index) => level(index + 1))].join('\n')
    expect(message(bomb)).toMatch(/^realm.yaml:1:1: aliases add more than 16 MB to this document/)
  })

  test('many aliases of a long text are refused', () => {
    expect(message(`a: &a ${'x'.repeat(100_000)}\nb:\n${'  - *a\n'.repeat(1000)}`)).toMatch(
      /aliases add more than 16 MB/,
    )
  })

  test('merge keys that add too many keys are refused', () => {
    const base = Array.from({ length: 1001 }, (_, index) => `k${index}: 1`).join(', ')
    expect(message(`base: &b { ${base} }\nuse:\n${'  - { <<: *b }\n'.repeat(1000)}`)).toMatch(/more than 1000000 keys/)
  })

  test('too many aliases are refused', () => {
    expect(message(`a: &a 1\nb: [${'*a, '.repeat(100_001)}]`)).toMatch(/more than 100000 aliases/)
  })

  test('aliases cannot exceed the nesting limit of a document', () => {
    const chain = Array.from({ length: 200 }, (_, index) => `a${index + 1}: &a${index + 1} { x: *a${index} }`)
    expect(message(['a0: &a0 1', ...chain].join('\n'))).toMatch(
      /^realm.yaml:\d+:\d+: aliases nest this document more than 100/,
    )
  })

  test('an alias that contains itself is refused', () => {
    expect(message('a: &a\n  b: *a\n')).toMatch(/^realm.yaml:2:3: .*an alias contains itself/)
    expect(message('- &a { b: [*a] }\n')).toMatch(/an alias contains itself/)
  })
})

describe('refusals', () => {
  test('every repeated key is reported with both positions', () => {
    const { problems, message } = refusal('realm: a\nroles: { x: 1, "x": 2 }\nrealm: b\n')
    expect(message.split('\n')).toEqual([
      'realm.yaml:2:16: the key "x" appears twice, first at 2:10: keep one of them',
      'realm.yaml:3:1: the key "realm" appears twice, first at 1:1: keep one of them',
    ])
    expect(problems[0]?.position).toEqual({ file: 'realm.yaml', line: 2, column: 16 })
  })

  test.each([
    ['the last value of a key counts', '{"a": 1, "a": 2}', '1:10: the key "a" appears twice, first at 1:2'],
    [
      'an object is not merged',
      '{"b": 1, "a": {"x": 1}, "a": {"y": 2}}',
      '1:25: the key "a" appears twice, first at 1:10',
    ],
    ['escapes say the same key', String.raw`{"a": 1, "\u0061": 2}`, '1:10: the key "a" appears twice, first at 1:2'],
    ['a list of documents', '[{"a": 1}, {"a": [{"x": 1, "x": 2}]}]', '1:28: the key "x" appears twice, first at 1:20'],
  ])('a repeated key in JSON has its last value, with a warning: %s', (_case, text, warning) => {
    const documents = parseDocuments('realm.json', text)
    expect(documents.map(({ value }) => value)).toEqual([JSON.parse(text)].flat())
    const warnings = documents.flatMap((document) => document.warnings)
    expect(warnings.map(({ position, message }) => `${position.line}:${position.column}: ${message}`)).toEqual([
      `${warning}: keep one of them (the last one is used)`,
    ])
  })

  test('the position of a repeated key in JSON is the last one', () => {
    const [document] = parseDocuments('realm.json', '{"a": {"x": 1},\n"a": {"x": 2}}')
    expect(document!.locate(['a', 'x'])).toMatchObject({ line: 2, column: 7 })
  })

  test.each([['{a: 1, a: 2}'], ['{"a": 1, "a": 2,}'], ['"a": 1\n"a": 2\n'], ['{"a": 1, "a": 2} # twice']])(
    'a key that appears twice in YAML is refused: %s',
    (text) => {
      expect(message(text)).toContain('the key "a" appears twice')
    },
  )

  test.each([
    ['a tab as indentation', 'a:\n\tb: 1', '2:1: a tab indents this line: YAML is indented with spaces'],
    ['a line that is indented too far', 'a:\n  b: 1\n   c: 1', '3:5: this does not match the lines above'],
    ['a text with a colon', 'a: b: c', '1:5: this does not match the lines above'],
    ['a missing space', 'a:b\nc: d', '2:2: this is not part of the value above'],
    ['a missing quote', 'a: "b', '1:6: a quoted string is not closed'],
    [
      'a missing quote further up',
      'a: "b\nc: d',
      '2:1: this line must be indented further, or a quote or bracket above',
    ],
    ['a missing bracket', '{"a": [1, 2', '1:12: a "{" or "[" is not closed'],
    [
      'a comment of JavaScript',
      '{"a": "//",\n  // b\n  "b": 2}',
      '2:3: JSON has no comments that begin with //: remove it',
    ],
    ['a comment in the last line', '{"a": 1 /* b */}', '1:9: JSON has no comments that begin with /*: remove it'],
    ['a missing comma', '{"a": "1"\n"b": 2}', '2:1: a comma or a closing bracket is missing'],
    ['a comma too many', '{"a": 1,, "b": 2}', '1:9: a value is missing before this comma'],
    ['an unknown tag', 'a: 1\nb: !Ref x', '2:4: the tag !<!Ref> is unknown'],
    ['a tag that makes no JSON', 'a: !!timestamp 2024-01-01', '1:4: the tag !<tag:yaml.org,2002:timestamp> is unknown'],
    ['a value that does not fit its tag', 'a: !!float .inf', '1:4: the value does not match its tag'],
    ['an alias without an anchor', 'a: *nowhere', '1:5: the alias "nowhere" has no anchor above it'],
    ["an alias of another document's anchor", 'a: &x 1\n---\nb: *x', '3:5: the alias "x" has no anchor above it'],
    ['a bad escape', 'a: "\\q"', '1:6: a backslash begins an escape here'],
    ['a control character', 'a: \u0007', '1:4: this is a control character'],
    ['a NUL', 'a: \0', '1:4: this is a control character'],
    ['a missing key', 'a:\n  : x', '2:5: a key is missing before this ":"'],
    ['a key that is a list', 'a: 1\n? [x]\n: y', '2:3: a key must be a string'],
    ['a template', 'a: {{ .Values.x }}', '1:5: a key must be a string'],
    ['a key that reading would change', '1.10: x', '1:1: this key is a number that would change'],
    ['a merge of something else', 'a: { <<: 3 }', '1:6: a merge key ("<<") takes an object'],
    ['two JSON texts in a row', '{"a": 1}\n{"b": 2}', '2:1: this is not part of the value above'],
    [
      'deep nesting',
      `{"a": ${'['.repeat(100)}${']'.repeat(100)}}`,
      '1:105: this document is nested more than 100 levels deep',
    ],
    ['a document that is a text', 'hello', '1:1: a document is an object'],
    ['a list that holds a text', '- realm: a\n- b', '2:3: a document is an object'],
    ['a list in a list', '- - realm: a', '1:3: a document is an object'],
  ])('%s is refused at its position, with advice', (_, text, expected) => {
    expect(message(text)).toContain(`realm.yaml:${expected}`)
  })

  test('columns of problems count characters too', () => {
    expect(message('{"🛒🛒": "1" "b": 2}')).toMatch(/^realm.yaml:1:12: /)
  })

  test('a document that is only a secret is not in the message', () => {
    expect(message('hunter2')).not.toContain('hunter2')
  })

  test('a file of more than 64 MB is refused', () => {
    expect(message('x'.repeat(64 * 1024 * 1024 + 1))).toMatch(/larger than 64 MB/)
  })
})

test('values and positions of evicted files are parsed again', () => {
  const filler = `notes:\n${'  - a line that says nothing\n'.repeat(100_000)}`
  const documents = ['first', 'second', 'third'].flatMap((realm) =>
    parseDocuments(`${realm}.yaml`, `realm: ${realm}\n${filler}enabled: true\n`),
  )
  expect(documents.map(({ header: head }) => head.realm)).toEqual(['first', 'second', 'third'])
  for (const document of [...documents, ...documents]) {
    expect((document.value as { notes: string[] }).notes).toHaveLength(100_000)
    expect(document.locate(['enabled'])).toEqual({ file: document.file, line: 100_003, column: 1 })
  }
})
