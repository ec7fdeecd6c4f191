// Pages refer to existing tests, and decisions and migrations are numbered without gaps.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { migrations } from '../src/store/database/migrate.ts'

const names = (path: string) => readdirSync(new URL(`../${path}`, import.meta.url)).sort()
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test('each test that docs/complaints.md names exists', () => {
  const rows = [...read('docs/complaints.md').matchAll(/^\| \d+ \|.*\| `([^`]+)`: (.*) \|$/gm)]
  expect(rows.length).toBe(54)
  for (const [row, file, title] of rows) expect(read(`test/${file}`), row).toContain(title)
})

/** Numbers of decisions that were never given. */
const UNUSED = ['0032', '0038', '0064']

/** Returns the numbers from 0001 on, as many as there are names. */
const numbersFor = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1).padStart(4, '0'))

test('decisions are numbered without gaps, and each title begins with the number of its file', () => {
  const files = names('docs/decisions')
  const numbers = files.map((file) => file.slice(0, 4))
  expect([...numbers, ...UNUSED].sort()).toEqual(numbersFor(files.length + UNUSED.length))
  const misnamed = files.filter((file) => !read(`docs/decisions/${file}`).startsWith(`# ${file.slice(0, 4)} `))
  expect(misnamed).toEqual([])
})

test('migrations are numbered without gaps, and each is applied under the name of its file', () => {
  const files = names('src/store/migrations')
  expect(files.map((file) => file.slice(0, 4))).toEqual(numbersFor(files.length))
  expect(Object.keys(migrations)).toEqual(files.map((file) => file.replace(/\.ts$/, '')))
})
