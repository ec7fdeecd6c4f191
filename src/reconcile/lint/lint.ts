// Lints declared objects: finds settings that work and that security standards advise against. Pure.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { describeObject } from '../../kinds/tree.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import { memoizeReused } from '../../lib/timing/memoize.ts'
import type { DeclarationOrigin } from '../model/plan-input.ts'
import { clientRules } from './client-rules.ts'
import { type LintedObject, type LintRule, LintSubject, type RuleViolation } from './lint-rule.ts'
import { realmRules } from './realm-rules.ts'

/** A violation of a lint rule. */
export interface LintFinding {
  /** Id of the rule. */
  readonly rule: string
  readonly kind: KindName
  readonly key: Key
  readonly path?: string
  /** Says what is wrong and what to do. Never contains a secret or an encrypted value. */
  readonly message: string
  readonly position: SourcePosition
}

/** The rules for single objects, by id. */
const objectRules: Readonly<Record<string, LintRule>> = {
  'plain-secret': {
    finds: 'a secret or password in plain text in a document',
    source: ['CWE-798', 'https://cwe.mitre.org/data/definitions/798.html'],
    find: ({ object: { literal } }) =>
      literal.map((path) => ({
        path,
        message: `${path}: the secret, or the default of its variable, is in plain text: rotate it, and use $(env:NAME), $(file:PATH) or $(generated:NAME)`,
      })),
  },
  ...clientRules,
}

/** The rules by id, each with the standard that it is from. They recommend only what Regent enforces. */
export const lintRules = { ...objectRules, ...realmRules }

const rulesByKind = Map.groupBy(Object.entries(objectRules), ([, { kind }]) => kind)
const rulesOfAllKinds = rulesByKind.get(undefined) ?? []

/** Returns the findings in the declared objects of a realm, except those that a comment allows. */
export function findLintFindings(realm: string, objects: readonly LintedObject[]): LintFinding[] {
  return objects.flatMap((object) => {
    const { kind, key, isReference, literal } = object
    if (isReference) return []
    if (kind === 'realm') return [...lintObject(object), ...lintRealm(object, objects)]
    // Skips most users, which may be many and have nothing to check.
    if (!literal.length && !rulesByKind.has(kind)) return []
    // Built-in objects are declared in exports, and are not the author's choice.
    return isBuiltIn(realm, kind, key) ? [] : lintObject(object)
  })
}

const lintObject = memoizeReused((object: LintedObject): LintFinding[] => {
  const subject = new LintSubject(object)
  const rules = [...rulesOfAllKinds, ...(rulesByKind.get(object.kind) ?? [])]
  return rules.flatMap(([rule, { find }]) => toFindings(rule, object, find(subject)))
})

function lintRealm(realm: LintedObject, objects: readonly LintedObject[]): LintFinding[] {
  const subject = new LintSubject(realm)
  return Object.entries(realmRules).flatMap(([rule, { find }]) => toFindings(rule, realm, find(subject, objects)))
}

function toFindings(rule: string, object: LintedObject, violations: readonly RuleViolation[]): LintFinding[] {
  return violations
    .map((violation) => toFinding(rule, object, violation))
    .filter(({ position }) => !isAllowed(rule, object.origin, position))
}

function toFinding(rule: string, object: LintedObject, { path, element, message }: RuleViolation): LintFinding {
  const { kind, key, fields, encrypted, origin } = object
  const declared = path === undefined ? undefined : [...fields].find(([fieldPath]) => fieldPath === path)?.[1]
  // A message quotes at most the element.
  const isQuoted = path !== undefined && element !== undefined && encrypted?.has(path)
  const text = isQuoted ? message.replace(element, () => '(encrypted)') : message
  return {
    rule,
    kind,
    key,
    ...(path !== undefined && { path }),
    message: `${describeObject(kind, key)}: ${text}`,
    position:
      path !== undefined && declared
        ? declared.origin.locate(path, element === undefined ? undefined : [element])
        : origin.position,
  }
}

/**
 * Whether a comment `# regent-lint: allow RULE` allows the finding: at the end of the line where the field or the object begins, or on
 * the line above.
 */
function isAllowed(rule: string, origin: DeclarationOrigin, { line }: SourcePosition): boolean {
  return [line, origin.position.line].some((number) => {
    const above = origin.getLine(number - 1)
    return [origin.getLine(number), /^\s*#/.test(above) ? above : ''].some((text) =>
      parseAllowedRules(text).includes(rule),
    )
  })
}

function parseAllowedRules(line: string): string[] {
  const [, rules = ''] = /(?:^|\s)# regent-lint: allow ([\w, -]+)/.exec(line) ?? []
  return rules.split(/[, ]+/)
}
