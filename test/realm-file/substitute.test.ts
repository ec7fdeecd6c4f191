import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { escapeVariables, substituteVariables } from '../../src/realm-file/substitute-variables.ts'
import type { VariableOptions } from '../../src/realm-file/variables.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { DocumentError } from '../../src/realm-file/yaml/problem.ts'

const env = {
  HOST: 'example.com',
  PORT: '8443',
  EMPTY: '',
  UNSET: undefined,
  PASSWORD: 'hunter2',
  RAW: '$(env:HOST) {"a": [',
}
const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'migrate-from-keycloak-config-cli.md'), 'utf8')
const files: Record<string, string> = {
  '/run/secret': 'from a file\n',
  '/run/windows': 'x\r\n',
  '/run/lines': 'a\nb\n\n',
}
const readFile = (path: string) => {
  if (files[path] === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`)
  return files[path]
}
const options: VariableOptions = { env, readFile, isAllowed: () => true }

const read = (text: string, changed: Partial<VariableOptions> = {}) =>
  substituteVariables(parseDocuments('realm.yaml', text)[0]!, { ...options, ...changed })
/** Returns the substituted text. */
const result = (text: string, changed: Partial<VariableOptions> = {}) =>
  (read(JSON.stringify({ text }), changed).value as { text: string }).text
const refusal = (text: string, changed: Partial<VariableOptions> = {}): DocumentError => {
  try {
    read(text, changed)
  } catch (error) {
    if (error instanceof DocumentError) return error
    throw error
  }
  throw new Error('was not refused')
}
const complaint = (text: string, changed: Partial<VariableOptions> = {}) =>
  refusal(JSON.stringify({ text }), changed).message

describe('variables', () => {
  test.each([
    ['an environment variable', '$(env:HOST)', 'example.com'],
    ['several in one text', 'https://$(env:HOST):$(env:PORT)/', 'https://example.com:8443/'],
    ['a default that is not needed', '$(env:HOST:-other)', 'example.com'],
    ['a default that is needed', '$(env:NOWHERE:-other)', 'other'],
    ['an empty default', '[$(env:NOWHERE:-)]', '[]'],
    ['a default with colons', '$(env:NOWHERE:-https://a:-b)', 'https://a:-b'],
    ['a variable in a default', '$(env:NOWHERE:-$(env:ALSO:-http://$(env:HOST)))', 'http://example.com'],
    ['a variable in a name', '$(env:$(env:NOWHERE:-HOST))', 'example.com'],
    ['an empty variable, which counts as set', '[$(env:EMPTY:-other)]', '[]'],
    ['a file', '$(file:/run/secret)', 'from a file'],
    ['a file with its encoding', '$(file:UTF-8:/run/secret)', 'from a file'],
    ['a file whose path comes from a variable', '$(file:UTF-8:/run/$(env:NAME:-secret))', 'from a file'],
    ['a default for a file', '$(file:/run/nothing:-other)', 'other'],
  ])('%s', (_, text, expected) => {
    expect(result(text)).toBe(expected)
  })

  test('one line break at the end of a file is removed', () => {
    expect(result('$(file:/run/windows)')).toBe('x')
    expect(result('$(file:/run/lines)')).toBe('a\nb\n')
  })

  test('variables in values are not replaced', () => {
    expect(result('$(env:RAW)')).toBe('$(env:HOST) {"a": [')
  })

  test('a default that is not needed is not evaluated', () => {
    expect(result('$(env:HOST:-$(env:NOWHERE))')).toBe('example.com')
  })

  test('an unquoted variable works in place of another type', () => {
    expect(read('{"port": $(env:PORT), "hosts": [$(env:HOST), $(env:PORT:-x)]}').value).toEqual({
      port: '8443',
      hosts: ['example.com', '8443'],
    })
  })

  test('keys are not changed', () => {
    expect(read('"$(env:HOST)": { a: $(env:HOST) }').value).toEqual({ '$(env:HOST)': { a: 'example.com' } })
  })

  test('names of the prototype are not variables', () => {
    expect(complaint('$(env:constructor)')).toContain('is not set')
  })

  test('the key __proto__ stays an ordinary key', () => {
    const { value } = read('{"__proto__": {"a": "$(env:HOST)"}, "b": "$(env:HOST)"}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":"example.com"},"b":"example.com"}')
  })
})

describe('texts without variables', () => {
  test.each([
    ['a message key of Keycloak', '${role_admin} $${x} ${env:HOST}', '${role_admin} $${x} ${env:HOST}'],
    ['dollars and parentheses', '$5 (or $ (6)) $', '$5 (or $ (6)) $'],
    ['an escape', '$$(env:HOST)', '$(env:HOST)'],
    ['an escape after a dollar', '$$$(env:HOST)', '$$(env:HOST)'],
    ['an escape of what is not closed', '$$(', '$('],
    ['an escape around a variable', '$$(env:$(env:HOST))', '$(env:example.com)'],
    ['an escape in a default', '$(env:NOWHERE:-$$(x) y)', '$(x) y'],
  ])('%s', (_, text, expected) => {
    expect(result(text)).toBe(expected)
  })

  test('an escaped text is substituted to the original', () => {
    const pieces = fc.array(fc.constantFrom('$', '(', ')', '$(', '$$(', 'env:HOST', ':-', '${x}', ' '))
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('')
        expect(result(escapeVariables(text))).toBe(text)
      }),
    )
  })

  test('a document without variables is not copied, and reads no values', () => {
    const document = parseDocuments('realm.yaml', 'realm: shop\nroles: ["${x}"]\n')[0]!
    const allowed = vi.fn(() => true)
    const { value, substituted } = substituteVariables(document, { ...options, isAllowed: allowed })
    expect(value).toBe(document.value)
    expect(substituted.size).toBe(0)
    expect(allowed).not.toHaveBeenCalled()
  })

  test('a document is not changed, and its parts without variables are shared', () => {
    const document = parseDocuments('realm.yaml', 'a: { x: $(env:HOST) }\nb: { x: y }\n')[0]!
    const { value } = substituteVariables(document, options)
    expect(document.value).toEqual({ a: { x: '$(env:HOST)' }, b: { x: 'y' } })
    expect((value as { b: unknown }).b).toBe((document.value as { b: unknown }).b)
  })
})

describe('the substituted document', () => {
  test('each changed text is listed with its source', () => {
    const { substituted } = read('a: x$(env:HOST)\nb: [y, "$(env:NOWHERE:-z)"]\n"c/d": $$(env:HOST)\n')
    expect([...substituted]).toEqual([
      ['/a', 'x$(env:HOST)'],
      ['/b/1', '$(env:NOWHERE:-z)'],
      ['/c~1d', '$$(env:HOST)'],
    ])
  })

  test('positions are those of the file', () => {
    const document = read('realm: a\nname: $(env:HOST)\n')
    expect(document.start).toEqual({ file: 'realm.yaml', line: 1, column: 1 })
    expect(document.locate(['name'])).toEqual({ file: 'realm.yaml', line: 2, column: 1 })
  })
})

describe('refusals', () => {
  test('all problems are reported at once, each at its position', () => {
    const { problems, message } = refusal('a: $(env:NOWHERE)\nb:\n  - ok\n  - $(foo:bar)\nc: $(env:HOST)\n')
    expect(message.split('\n').map((line) => line.slice(0, 15))).toEqual(['realm.yaml:1:1:', 'realm.yaml:4:5:'])
    expect(problems.map(({ path }) => path)).toEqual(['/a', '/b/1'])
  })

  test.each([
    [
      'an unset variable',
      '$(env:NOWHERE)',
      '$(env:NOWHERE): the environment variable is not set: set it, or give a default',
    ],
    ['a misspelt variable', '$(env:PASWORD)', 'did you mean PASSWORD?'],
    ['a default without its dash', '$(env:HOST:http://x)', 'a default follows ":-", as in $(env:NAME:-default)'],
    ['a variable without a name', '$(env:)', 'write $(env:NAME)'],
    [
      'a missing file',
      '$(file:/run/nothing)',
      'the file cannot be read (ENOENT: no such file or directory): create it',
    ],
    ['a file without a path', '$(file:UTF-8:)', 'write $(file:PATH)'],
    ['another encoding', '$(file:ISO-8859-1:/run/secret)', 'files are read as UTF-8, not as ISO-8859-1'],
    [
      'an unknown form',
      '$(secret:NAME)',
      '$(secret:NAME) is unknown: use $(env:NAME), $(file:PATH) or $(generated:NAME)',
    ],
    [
      'a lookup of keycloak-config-cli',
      '$(sys:user.dir)',
      '$(sys:user.dir) is not read: set an environment variable to the value, and write $(env:NAME).',
    ],
    ['a misspelt form', '$(ENV:HOST)', 'did you mean $(env:…)?'],
    ['a property', '$(some.property)', '$(some.property) is unknown'],
    ['what is not closed', '$(env:HOST', 'has no closing ")": add it, or write "$$(" for the text "$("'],
    ['too much nesting', `${'$(env:A:-'.repeat(11)}${')'.repeat(11)}`, 'nested more than 10 levels deep'],
    ['a script', '$${javascript: 1 + 1}', 'is not supported'],
  ])('%s is refused with advice', (_, text, expected) => {
    expect(complaint(text)).toContain(expected)
  })

  test('each lookup that the guide for keycloak-config-cli lists is refused with what replaces it', () => {
    const lookups = [...guide.matchAll(/\$\((\w+):…\)/g)].map(([, name]) => name!)
    expect(lookups.length).toBeGreaterThan(15)
    for (const name of lookups)
      expect(complaint(`$(${name}:value)`), name).toMatch(/ is not read: .*(\$\(env:NAME\)|\$\(file:PATH\)|constant)/)
  })

  test('a variable that the settings do not allow is refused, with or without a default, and never read', () => {
    const reading = vi.fn(readFile)
    const allowed = (kind: string, name: string) => kind === 'env' && name === 'HOST'
    expect(result('$(env:HOST)', { isAllowed: allowed })).toBe('example.com')
    expect(complaint('$(env:PASSWORD:-x)', { isAllowed: allowed })).toContain(
      '$(env:PASSWORD) is not allowed in documents',
    )
    expect(complaint('$(file:/run/secret:-x)', { isAllowed: allowed, readFile: reading })).toContain(
      'is not allowed in documents',
    )
    expect(reading).not.toHaveBeenCalled()
  })

  test('only allowed variables are suggested', () => {
    expect(complaint('$(env:PASWORD)', { isAllowed: (_, name) => name !== 'PASSWORD' })).not.toContain('PASSWORD?')
  })

  test('a file is refused if files are not available', () => {
    expect(complaint('$(file:/run/secret:-x)', { readFile: undefined })).toContain('files are not available here')
  })

  test('no message contains the value of a variable', () => {
    for (const text of ['$(foo:$(env:PASSWORD))', '$(env:$(env:PASSWORD))', '$(file:/run/$(env:PASSWORD))']) {
      expect(complaint(text)).not.toContain('hunter2')
    }
  })
})

describe('with replacesPlaceholders', () => {
  const replacesPlaceholders = true
  test.each([
    ['${HOST}', 'example.com'],
    ['https://${HOST}:${PORT}/${env.EMPTY}', 'https://example.com:8443/'],
    ['${HOST:localhost}', 'example.com'],
    ['${NO_SUCH_VARIABLE:localhost}', 'localhost'],
    ['${NO_SUCH_VARIABLE:$(x)}', '$(x)'],
    // Texts, vault references and templates of Keycloak are no placeholders.
    [
      '${role_admin} ${vault.smtp} ${CLAIM.email} ${NO_SUCH_VARIABLE}',
      '${role_admin} ${vault.smtp} ${CLAIM.email} ${NO_SUCH_VARIABLE}',
    ],
  ])('%s becomes %s', (text, expected) => {
    expect(result(text, { replacesPlaceholders })).toBe(expected)
  })

  test('a placeholder needs the same permission as a variable, and without it is a text', () => {
    const isAllowed = () => false
    expect(refusal('text: ${HOST}', { replacesPlaceholders, isAllowed }).message).toContain(
      '$(env:HOST) is not allowed',
    )
    expect(result('${HOST} ${HOST:x}')).toBe('${HOST} ${HOST:x}')
  })
})
