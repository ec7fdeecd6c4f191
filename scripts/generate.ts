// Writes the generated files; with --check only says which of them are out of date, and fails.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { renderSettingsTable } from '../src/config.ts'
import { missingOperations } from '../src/http/admin/index.ts'
import { description, operations } from '../src/http/server.ts'
import { renderCrds } from '../src/operator/crds/crds.ts'
import { createDocumentSchema } from '../src/realm-file/resources/document-schema.ts'
import { renderRules } from './lint-rules.ts'
import { renderSecurity } from './security.ts'

const generated: Record<string, () => string | Promise<string>> = {
  ...Object.fromEntries(Object.entries(renderCrds()).map(([file, text]) => [`crds/${file}`, () => text])),
  'docs/configuration.md': renderSettingsTable,
  'docs/lint.md': renderRules,
  'docs/openapi.json': () => `${JSON.stringify(description(), null, 1)}\n`,
  'docs/operations.txt': renderOperations,
  'docs/security.md': () => renderSecurity(operations),
  'schema/realm.schema.json': () => `${JSON.stringify(createDocumentSchema(), null, 1)}\n`,
}

/** What there is, and what answers 501, a line each. */
function renderOperations(): string {
  const line = ({ method, path, tag }: { method: string; path: string; tag: string }) =>
    `${method.padEnd(6)} ${path}  (${tag})`
  return [
    `There (${operations.length}):`,
    ...operations.map(line),
    '',
    `Not there yet, answers 501 (${missingOperations.length}):`,
    ...missingOperations.map(line),
    '',
  ].join('\n')
}

/** Where two texts begin to differ and cease to, as a diff shows it. Empty when they are equal. */
export function difference(is: string, shouldBe: string): string {
  if (is === shouldBe) return ''
  const [old, fresh] = [is.split('\n'), shouldBe.split('\n')]
  const shorter = Math.min(old.length, fresh.length)
  let start = 0
  while (start < shorter && old[start] === fresh[start]) start++
  let same = 0
  while (same < shorter - start && old.at(-1 - same) === fresh.at(-1 - same)) same++
  const changed = (lines: string[], sign: string) => lines.slice(start, lines.length - same).map((line) => sign + line)
  return [`@@ line ${start + 1} @@`, ...changed(old, '-'), ...changed(fresh, '+')].join('\n')
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  for (const [path, render] of Object.entries(generated)) {
    const content = await render()
    const different = difference(existsSync(path) ? readFileSync(path, 'utf8') : '', content)
    if (different === '') continue
    if (check) {
      console.error(`${path} is out of date; "npm run generate" writes it.\n${different.slice(0, 2000)}`)
      process.exitCode = 1
    } else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      console.log(`${path} written`)
    }
  }
}
