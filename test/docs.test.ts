// What documents say of tests is so: the file is there, and has a test of that title.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test('each test that docs/complaints.md names is there', () => {
  const rows = [...read('docs/complaints.md').matchAll(/^\| \d+ \|.*\| `([^`]+)`: (.*) \|$/gm)]
  expect(rows.length).toBe(54)
  for (const [row, file, title] of rows) expect(read(`test/${file}`), row).toContain(title)
})
