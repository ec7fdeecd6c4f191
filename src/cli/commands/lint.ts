import { randomBytes } from 'node:crypto'
import { formatPosition } from '../../lib/source-position.ts'
import { version } from '../../lib/version.ts'
import { findLintFindings as find, type LintFinding } from '../../reconcile/lint/lint.ts'
import { readDesiredRealms } from '../../reconcile/merge/desired-realm.ts'
import { FORMAT_VERSION } from '../../reconcile/model/action.ts'
import { type RealmFinding, toCodeQuality, toSarif } from '../../reconcile/report/lint-formats.ts'
import { renderMarkdownTable } from '../../reconcile/report/markdown-format.ts'
import { openVault } from '../../service/context/vault.ts'
import { setExitCode } from '../exit-codes.ts'
import { type Format, print } from '../print.ts'
import { readDocuments, type SourceFlags } from './source.ts'

/** `regent lint`: prints risky settings in documents, without a store. With `--strict` findings are errors. */
export async function lint(
  paths: readonly string[],
  flags: SourceFlags & { output: Format | 'sarif' | 'gitlab'; strict?: true },
): Promise<void> {
  const source = await readDocuments(paths, flags)
  const realms = readDesiredRealms(source.documents, {
    vault: openVault(randomBytes(32)),
    unknownFields: source.unknownFields,
  })
  const findings = realms.flatMap(({ name, objects }) =>
    find(name, [...objects.values()]).map((finding) => ({ realm: name, ...finding })),
  )
  if (flags.output === 'sarif') print('json', toSarif(findings, version), { text: () => '' })
  else if (flags.output === 'gitlab') print('json', toCodeQuality(findings), { text: () => '' })
  else printFindings(findings, flags.output)
  if (findings.length && flags.strict) setExitCode('error')
}

function printFindings(findings: readonly RealmFinding[], output: Format): void {
  const render = (renderFindings: () => string) => () =>
    findings.length ? `${renderFindings()}\n${advice(findings)}` : 'No findings.'
  print(
    output,
    { formatVersion: FORMAT_VERSION, findings },
    {
      text: render(() =>
        findings.map(({ rule, message, position }) => `${formatPosition(position)}: ${message} (${rule})`).join('\n'),
      ),
      markdown: render(() =>
        renderMarkdownTable(
          ['Position', 'Finding', 'Rule'],
          findings.map(({ rule, message, position }) => [formatPosition(position), message, rule]),
        ),
      ),
    },
  )
}

function advice(findings: readonly LintFinding[]): string {
  const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`
  return `\n${count}. To allow one, add "# regent-lint: allow ${findings[0]!.rule}" at the end of its line or on the line above.`
}
