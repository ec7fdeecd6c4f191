import { randomBytes } from 'node:crypto'
import { type Finding, lint as find } from '../../reconcile/lint/index.ts'
import { desiredRealms } from '../../reconcile/merge/desired-realm.ts'
import { markdownTable } from '../../reconcile/report/markdown.ts'
import { at } from '../../reconcile/report/words.ts'
import { openVault } from '../../service/context/vault.ts'
import { type Format, print } from '../print.ts'
import { readSource, type SourceFlags } from './source.ts'

/** `regent lint`: what documents state that is advised against. It needs no store. Findings are no errors, unless strict. */
export async function lint(path: string, flags: SourceFlags & { output: Format; strict?: true }): Promise<void> {
  const source = await readSource(path, flags)
  const realms = desiredRealms(source.documents, openVault(randomBytes(32)), source.unknownFields)
  const found = realms.flatMap(({ name, objects }) =>
    find(name, [...objects.values()]).map((finding) => ({ realm: name, ...finding })),
  )
  const render = (make: () => string) => () =>
    found.length ? `${make()}\n${advice(found)}` : 'Nothing is advised against.'
  print(flags.output, found, {
    text: render(() => found.map(({ rule, message, position }) => `${at(position)}: ${message} (${rule})`).join('\n')),
    markdown: render(() =>
      markdownTable(
        ['Where', 'What', 'Rule'],
        found.map(({ rule, message, position }) => [at(position), message, rule]),
      ),
    ),
  })
  if (found.length && flags.strict) process.exitCode = 1
}

function advice(found: readonly Finding[]): string {
  const count = found.length === 1 ? '1 finding' : `${found.length} findings`
  return `\n${count}. What is meant so: write "# regent-lint: allow ${found[0]!.rule}" behind it, or on a line above.`
}
