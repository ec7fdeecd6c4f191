// The documentation agrees with the repository: links, tests, folders and numbers.
import { existsSync, globSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../src/cli/commands.ts'
import { migrations } from '../src/store/database/migrate.ts'
import { listPages, readPage, readSteps } from './support/pages.ts'

const root = join(import.meta.dirname, '..')
const names = (path: string) => readdirSync(join(root, path)).sort()

/** All Markdown pages, as paths from the root of the repository. */
const pages = listPages('*.md', 'docs/**/*.md')

/** Returns a page without its code: links in code are examples. */
const readProse = (page: string) => readPage(page).replace(/^ *```[\s\S]*?^ *```$|`[^`\n]*`/gm, '')

describe('links', () => {
  const links = pages.flatMap((page) =>
    [...readProse(page).matchAll(/\]\(([^)\s]+)\)|(https?:\/\/[^\s)|]+)/g)].map(([, target, bare]) => ({
      page,
      target: target ?? bare!,
    })),
  )

  test('each internal link of a page names an existing file, and an existing heading of it', () => {
    const broken = links.filter(({ page, target }) => {
      if (/^https?:/.test(target)) return false
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), path))
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !listAnchors(file).includes(anchor)
    })
    expect(broken).toEqual([])
  })

  test('only docs/references.md links to other sites', () => {
    const external = links.filter(({ target }) => /^https?:/.test(target)).map(({ page }) => page)
    expect([...new Set(external)]).toEqual(['docs/references.md'])
  })

  test('docs/README.md links to every page of docs, and docs/decisions.md to every decision', () => {
    const targets = (of: string) =>
      links.filter(({ page }) => page === of).map(({ target }) => normalize(join('docs', target)))
    const linked = targets('docs/README.md')
    expect(
      names('docs').filter((name) => /\./.test(name) && name !== 'README.md' && !linked.includes(`docs/${name}`)),
    ).toEqual([])
    const decisions = targets('docs/decisions.md')
    expect(names('docs/decisions').filter((name) => !decisions.includes(`docs/decisions/${name}`))).toEqual([])
  })
})

/** Returns the anchors of the headings of a page, as GitHub computes them. */
function listAnchors(page: string): string[] {
  const headings = [
    ...readPage(page)
      .replace(/^ *```[\s\S]*?^ *```$/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ]
  const counts = new Map<string, number>()
  return headings.map(([, heading = '']) => {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = text.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    return count ? `${anchor}-${count}` : anchor
  })
}

describe('form', () => {
  test('the README has at most 120 lines', () => {
    expect(readPage('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
  })

  test('no line of prose in README, CONTRIBUTING, SECURITY and docs is longer than 160 characters, except in tables', () => {
    const long = pages
      .filter((page) => !/CHANGELOG|docs\/(?:security|lint|cli|configuration|references)\.md/.test(page))
      .flatMap((page) =>
        readProse(page)
          .split('\n')
          .filter((line) => withoutTargets(line).length > 160 && !line.startsWith('|')),
      )
    expect(long).toEqual([])
  })

  test('each page of docs begins with a title, and no two have the same one', () => {
    const titles = globSync('docs/*.md', { cwd: root }).map((page) => /^# .+/.exec(readPage(page))?.[0])
    expect(titles).not.toContain(undefined)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

function withoutTargets(line: string): string {
  return line.replace(/\]\([^)]*\)/g, ']').trimEnd()
}

describe('the command line', () => {
  const all = commands.flatMap(function list(entry): (typeof commands)[number][] {
    return [entry, ...(entry.commands ?? []).flatMap(list)]
  })

  test('help texts are imperative, shorter than 60 characters, and have no full stop', () => {
    const texts = all.flatMap(({ summary, options = [] }) => [
      summary,
      ...options.map(({ description }) => description),
    ])
    expect(texts.filter((text) => !/^[A-Z][a-z]+ .*[^.]$/.test(text) || text.length >= 60)).toEqual([])
    const values = all.flatMap((entry) => (entry.arguments ?? []).map(({ description }) => description))
    expect(values.filter((text) => text.length >= 60 || text.endsWith('.'))).toEqual([])
  })

  test('pages show existing commands and options only', () => {
    const texts = listPages('docs/decisions/*.md').flatMap((page) => [
      ...[...readPage(page).matchAll(/`((?:npx )?regent [^`\n]*)`/g)].map(([, text]) => ({ page, text: text! })),
      ...readSteps(page).flatMap(({ commands }) => commands.map((text) => ({ page, text }))),
    ])
    const unknown = texts.filter(({ text }) => {
      const [, name, child] = /^(?:npx )?regent ([a-z-]+)(?: ([a-z]+))?/.exec(text) ?? []
      if (name === undefined) return false
      const group = commands.find((entry) => entry.name === name)
      if (group?.commands && child === undefined) return false
      const entry = group?.commands ? group.commands.find((entry) => entry.name === child) : group
      const options = entry?.options?.map(({ long }) => long) ?? []
      return !entry || [...text.matchAll(/ (--[a-z][a-z-]*)/g)].some(([, option]) => !options.includes(option!))
    })
    expect(unknown).toEqual([])
  })
})

describe('tests', () => {
  test('each test that docs/complaints.md names exists', () => {
    const rows = [...readPage('docs/complaints.md').matchAll(/^\| \d+ \|.*\| `([^`]+)`: (.*) \|$/gm)]
    expect(rows.length).toBe(54)
    for (const [row, file, title] of rows) expect(readPage(`test/${file}`), row).toContain(title)
  })

  test('each test that docs/oauth-security.md names exists', () => {
    const rows = readPage('docs/oauth-security.md').split('\n')
    for (const row of rows) {
      const files = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => readPage(file!))
      for (const [, title] of row.matchAll(/“([^”]+)”/g))
        expect(
          files.some((file) => file.includes(title!)),
          `${title} in ${row}`,
        ).toBe(true)
    }
  })
})

describe('code', () => {
  test('docs/architecture.md lists the folders of src, and no others', () => {
    const listed = [...readPage('docs/architecture.md').matchAll(/^\| `(src\/[^`]+)\/` \|/gm)].map(
      ([, folder]) => folder,
    )
    const folders = globSync('src/**/*', { cwd: root }).filter((path) => statSync(join(root, path)).isDirectory())
    expect(listed.sort()).toEqual(folders.sort())
    expect(readPage('docs/architecture.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  })

  test('the files that pages name exist', () => {
    const missing = listPages('docs/decisions/*.md', 'CONTRIBUTING.md', 'SECURITY.md').flatMap((page) =>
      [...readPage(page).matchAll(/`((?:src|test|scripts|docs|examples|crds|charts|bench|bin)\/[\w./-]*)`/g)]
        .filter(([, path]) => !existsSync(join(root, path!)))
        .map(([, path]) => `${page}: ${path}`),
    )
    expect(missing).toEqual([])
  })
})

/** Numbers of decisions that were never given. */
const UNUSED = ['0032', '0038', '0064']

/** Returns the numbers from 0001 on, as many as there are names. */
const numbersFor = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1).padStart(4, '0'))

test('decisions are numbered without gaps, and each title begins with the number of its file', () => {
  const files = names('docs/decisions')
  const numbers = files.map((file) => file.slice(0, 4))
  expect([...numbers, ...UNUSED].sort()).toEqual(numbersFor(files.length + UNUSED.length))
  const misnamed = files.filter((file) => !readPage(`docs/decisions/${file}`).startsWith(`# ${file.slice(0, 4)} `))
  expect(misnamed).toEqual([])
})

test('migrations are numbered without gaps, and each is applied under the name of its file', () => {
  const files = names('src/store/migrations')
  expect(files.map((file) => file.slice(0, 4))).toEqual(numbersFor(files.length))
  expect(Object.keys(migrations)).toEqual(files.map((file) => file.replace(/\.ts$/, '')))
})
