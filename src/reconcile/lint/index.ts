// `regent lint`: what stated objects say that the field advises against. Pure; it needs no store.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { describe } from '../../kinds/tree.ts'
import type { Position } from '../../lib/position.ts'
import type { SourcePosition } from '../model/plan-input.ts'
import { type Complaint, type LintedObject, Readable } from './rule.ts'
import { rules } from './rules.ts'

/** Something that works, and that the field advises against. */
export interface Finding {
  /** Id of the rule. */
  readonly rule: string
  readonly kind: KindName
  readonly key: Key
  readonly path?: string
  /** What is wrong, and what to do. Never a secret. */
  readonly message: string
  readonly position: Position
}

const byKind = Map.groupBy(Object.entries(rules), ([, { kind }]) => kind)
const ofEveryKind = byKind.get(undefined) ?? []

/** What the rules have against the objects of a realm, as they are stated; less what is said to be meant. */
export function lint(realm: string, objects: readonly LintedObject[]): Finding[] {
  return objects.flatMap((object) => {
    const { kind, named, literal, origin } = object
    // People are many: most have nothing that a rule looks at.
    if (named || !(literal.length || byKind.has(kind))) return []
    // What a new realm has is not of their making: exports repeat it only.
    if (isBuiltIn(realm, kind, object.key) && kind !== 'realm') return []
    const readable = new Readable(object)
    return [...ofEveryKind, ...(byKind.get(kind) ?? [])].flatMap(([rule, { find }]) =>
      find(readable, objects)
        .map((complaint) => finding(rule, object, complaint))
        .filter(({ position }) => !isMeant(rule, origin, position)),
    )
  })
}

function finding(rule: string, object: LintedObject, { path, element, message }: Complaint): Finding {
  const { kind, key, fields, origin } = object
  const stated = path === undefined ? undefined : [...fields].find(([one]) => one === path)?.[1]
  return {
    rule,
    kind,
    key,
    ...(path !== undefined && { path }),
    message: `${describe(kind, key)}: ${message}`,
    position:
      path !== undefined && stated
        ? stated.origin.locate(path, element === undefined ? undefined : [element])
        : origin.position,
  }
}

/**
 * Whether a comment says so: `# regent-lint: allow RULE`, behind the field or the beginning of the object, or on a line of
 * its own above.
 */
function isMeant(rule: string, origin: SourcePosition, { line }: Position): boolean {
  return [line, origin.position.line].some((at) => {
    const above = origin.line(at - 1)
    return [origin.line(at), /^\s*#/.test(above) ? above : ''].some((text) => allowed(text).includes(rule))
  })
}

function allowed(line: string): string[] {
  const [, named = ''] = /(?:^|\s)# regent-lint: allow ([\w, -]+)/.exec(line) ?? []
  return named.split(/[, ]+/)
}
