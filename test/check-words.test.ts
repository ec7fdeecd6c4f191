import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkRepository, type WordRules } from '../scripts/check-words.ts'

const rules: WordRules = {
  words: { gizmo: 'part' },
  phrases: { '\\bget rid\\b(?! of)': 'remove' },
  names: ['one'],
  exceptions: [],
}

/** Returns the problems of a repository of these files, as `file:line violation`. */
async function problemsOf(files: Readonly<Record<string, string>>, exceptions: WordRules['exceptions'] = []) {
  const root = await mkdtemp(join(tmpdir(), 'regent-words-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const all = { 'tsconfig.json': '{ "include": ["src"] }', 'docs/openapi.json': '{}', 'src/empty.ts': '', ...files }
  for (const [file, text] of Object.entries(all)) {
    await mkdir(join(root, dirname(file)), { recursive: true })
    await writeFile(join(root, file), text)
  }
  return checkRepository(root, { ...rules, exceptions }).map(
    ({ file, line, violation }) => `${file}:${line} ${violation}`,
  )
}

const words = (count: number) => `${'go '.repeat(count - 1)}go.`

test.each<[title: string, file: string, text: string, expected: readonly string[]]>([
  ['a word within a name is refused', 'src/a.ts', 'export const isGizmo = 1\n', ['src/a.ts:1 words']],
  ['a word in a comment is refused', 'src/a.ts', '\n// It is gizmo.\n', ['src/a.ts:2 words']],
  ['a word in a string is refused', 'src/a.ts', "export const a = 'Gizmo'\n", ['src/a.ts:1 words']],
  ['a word in a template is refused', 'src/a.ts', 'export const a = `\n${1} gizmo`\n', ['src/a.ts:2 words']],
  ['a word in a regular expression is accepted', 'src/a.ts', 'export const a = /gizmo/\n', []],
  ['a word that is only imported is accepted', 'src/a.ts', "import 'gizmo'\n", []],
  ['a word within a longer word is accepted', 'src/a.ts', 'export const begizmoed = 1\n', []],
  ['a phrase in a string is refused', 'src/a.ts', "export const a = 'it can get rid'\n", ['src/a.ts:1 words']],
  ['a phrase with what makes it another is accepted', 'src/a.ts', "export const a = 'get rid of 3'\n", []],
  ['a name that names nothing is refused', 'src/a.ts', 'export const f = (one: number) => one\n', ['src/a.ts:1 names']],
  ['a property that is only read is accepted', 'src/a.ts', 'export const f = (x: any) => x.one\n', []],
  [
    'a docstring that opens with What is refused',
    'src/a.ts',
    '/** What it is. */\nexport const a = 1\n',
    ['src/a.ts:1 docstrings'],
  ],
  [
    'a docstring of several lines that opens with How is refused',
    'src/a.ts',
    '/**\n * How it is.\n */\nexport const a = 1\n',
    ['src/a.ts:1 docstrings'],
  ],
  ['a comment that opens with What is accepted', 'src/a.ts', '// What it is.\n', []],
  ['a word on a page is refused', 'docs/a.md', 'It is\ngizmo.\n', ['docs/a.md:2 words']],
  ['a word in code on a page is accepted', 'docs/a.md', '`gizmo`\n\n    gizmo\n\n```sh\ngizmo\n```\n', []],
  ['a sentence of 36 words is refused', 'docs/a.md', `First.\n\n${words(36)}\n`, ['docs/a.md:3 sentences']],
  ['a sentence of 35 words is accepted', 'docs/a.md', `${words(35)} Next.\n`, []],
  ['a row of a table of 36 words is accepted', 'docs/a.md', `| ${words(36)} |\n`, []],
  ['a line of 161 characters is refused', 'README.md', `${'a'.repeat(161)}\n`, ['README.md:1 lines']],
  ['a line that is long by the address of a link is accepted', 'README.md', `[a](${'a'.repeat(161)})\n`, []],
  ['a word on a generated page is refused', 'docs/lint.md', 'gizmo\n', ['docs/lint.md:1 words']],
  ['a long line of a generated page is accepted', 'docs/lint.md', `${'a'.repeat(161)}\n`, []],
  ['a word in an example is refused', 'examples/a.yaml', '# gizmo\n', ['examples/a.yaml:1 words']],
  ['a word in the name of a file is refused', 'test/a/lost-gizmo.test.ts', '', ['test/a/lost-gizmo.test.ts:1 words']],
  ['a word in the name of a folder is refused', 'docs/Gizmo/a.json', '{}', ['docs/Gizmo/a.json:1 words']],
  ['a word within a longer word of a file name is accepted', 'bench/begizmoed-gizmos.ts', '', []],
  ['a word in the name of a file of another folder is accepted', 'charts/gizmo.json', '{}', []],
  [
    'a long sentence of a description is refused',
    'docs/openapi.json',
    JSON.stringify({ paths: { '/a': { summary: words(36) } } }),
    ['docs/openapi.json:1 sentences'],
  ],
])('%s', async (_title, file, text, expected) => {
  expect(await problemsOf({ [file]: text })).toEqual(expected)
})

test('a type name that exists in two files is refused in both', async () => {
  const files = {
    'src/a.ts': 'export interface A {}\n',
    'src/b.ts': '\nexport type A = 1\n',
    'src/c.ts': 'export type C = 1\n',
  }
  expect(await problemsOf(files)).toEqual(['src/a.ts:1 types', 'src/b.ts:2 types'])
})

test('an exception counts for its word, its file and the text around it', async () => {
  const exceptions = [{ word: 'gizmo', within: 'wentGizmo', file: 'src/a', reason: 'the name of a library' }]
  const text = 'export const wentGizmo = 1\nexport const gizmo = 1\n'
  expect(await problemsOf({ 'src/a.ts': text, 'src/b.ts': text }, exceptions)).toEqual([
    'src/a.ts:2 words',
    'src/b.ts:1 words',
    'src/b.ts:2 words',
  ])
})
