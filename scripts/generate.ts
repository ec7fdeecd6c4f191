// Writes the generated files. With --check, it prints which of them are out of date and exits with 1 if there are any.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { renderSettingsTable } from '../src/config.ts'
import { description, operations } from '../src/http/server.ts'
import { renderCrds } from '../src/operator/crds/crds.ts'
import { createDocumentSchema } from '../src/realm-file/resources/document-schema.ts'
import { renderChartSchema } from './chart-schema.ts'
import { renderCommands } from './cli.ts'
import { renderEffects } from './effects.ts'
import { renderRules } from './lint-rules.ts'
import { renderReferences } from './references.ts'
import { renderSecurity } from './security.ts'

const generated: Record<string, () => string | Promise<string>> = {
  ...Object.fromEntries(Object.entries(renderCrds()).map(([file, text]) => [`crds/${file}`, () => text])),
  'charts/regent/values.schema.json': renderChartSchema,
  'docs/cli.md': renderCommands,
  'docs/configuration.md': renderSettingsTable,
  'docs/effects.md': renderEffects,
  'docs/lint.md': renderRules,
  'docs/openapi.json': () => `${JSON.stringify(description(), null, 1)}\n`,
  'docs/operations.txt': renderOperations,
  'docs/references.md': renderReferences,
  'docs/security.md': () => renderSecurity(operations),
  'schema/realm.schema.json': () => `${JSON.stringify(createDocumentSchema(), null, 1)}\n`,
}

/** Returns the operations, one per line. */
function renderOperations(): string {
  const line = ({ method, path, tag }: { method: string; path: string; tag: string }) =>
    `${method.padEnd(6)} ${path}  (${tag})`
  return [`${operations.length} operations:`, ...operations.map(line), ''].join('\n')
}

/** Returns the differing lines of two texts as a diff; empty if the texts are equal. */
export function difference(actual: string, expected: string): string {
  if (actual === expected) return ''
  const [old, generated] = [actual.split('\n'), expected.split('\n')]
  const shorter = Math.min(old.length, generated.length)
  let start = 0
  while (start < shorter && old[start] === generated[start]) start++
  let equalAtEnd = 0
  while (equalAtEnd < shorter - start && old.at(-1 - equalAtEnd) === generated.at(-1 - equalAtEnd)) equalAtEnd++
  const changed = (lines: string[], sign: string) =>
    lines.slice(start, lines.length - equalAtEnd).map((line) => sign + line)
  return [`@@ line ${start + 1} @@`, ...changed(old, '-'), ...changed(generated, '+')].join('\n')
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  for (const [path, render] of Object.entries(generated)) {
    const content = await render()
    const diff = difference(existsSync(path) ? readFileSync(path, 'utf8') : '', content)
    if (diff === '') continue
    if (check) {
      console.error(`${path} is out of date. Update it with: npm run generate\n${diff.slice(0, 2000)}`)
      process.exitCode = 1
    } else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      console.log(`${path} written`)
    }
  }
}
