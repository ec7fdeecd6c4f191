// Lint findings in the formats that platforms read: SARIF for GitHub code scanning, and GitLab's code quality report.
import { createHash } from 'node:crypto'
import { formatAddress } from '../../kinds/tree.ts'
import { type LintFinding, lintRules } from '../lint/lint.ts'

/** A finding, and the realm that declares the object. */
export interface RealmFinding extends LintFinding {
  readonly realm: string
}

/** Returns findings as a log of SARIF 2.1.0 (OASIS). `version`: that of Regent. */
export function toSarif(findings: readonly RealmFinding[], version: string): object {
  const ids = [...new Set(findings.map(({ rule }) => rule))].sort()
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'regent lint',
            version,
            rules: ids.map((id) => {
              const { finds, source } = lintRules[id]!
              return { id, shortDescription: { text: finds }, helpUri: source[1] }
            }),
          },
        },
        columnKind: 'unicodeCodePoints',
        results: findings.map((finding) => {
          const { rule, message, position } = finding
          return {
            ruleId: rule,
            ruleIndex: ids.indexOf(rule),
            level: 'warning',
            message: { text: message },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: encodeURI(position.file) },
                  region: { startLine: position.line, startColumn: position.column },
                },
              },
            ],
            partialFingerprints: { 'regentFinding/v1': fingerprint(finding) },
          }
        }),
      },
    ],
  }
}

/** Returns findings as a code quality report of GitLab. */
export function toCodeQuality(findings: readonly RealmFinding[]): object[] {
  return findings.map((finding) => ({
    description: finding.message,
    check_name: finding.rule,
    fingerprint: fingerprint(finding),
    severity: 'minor',
    location: { path: finding.position.file, lines: { begin: finding.position.line } },
  }))
}

/** Returns a digest that stays the same when lines are inserted above the finding. */
function fingerprint({ rule, realm, kind, key, path = '', position }: RealmFinding): string {
  const parts = [rule, realm, formatAddress(kind, key), path, position.file]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
