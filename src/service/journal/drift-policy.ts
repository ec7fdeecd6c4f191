// The policy for drift: that of the sources, or the default one. Most drift is corrected, some is only reported. Pure.
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { DriftRule, SourceSettings } from '../../kinds/source-settings.ts'
import type { Actor } from '../context/store-types.ts'

/**
 * `correct`: the next apply writes the declared value; `report`: the live value stays and is shown as drift; `accept`: it stays
 * and is not shown; `selfHeal`: the declared value is written at once.
 */
export type DriftPolicy = DriftRule['policy']

/** The policies, the one that changes least first. */
const MILDEST_FIRST: readonly DriftPolicy[] = ['report', 'accept', 'correct', 'selfHeal']

/** Fields that administrators change in operation, and whose declared value is the initial one. */
const OPERATIONAL_FIELDS: Partial<Record<KindName, readonly string[]>> = {
  user: ['enabled', 'notBefore'],
  client: ['notBefore'],
  realm: ['notBefore'],
}

/** The actors whose changes are not corrected. */
const REPORTED_ACTORS: ReadonlySet<Actor['kind']> = new Set(['user', 'workflow', 'system'])

/** A field that has drifted, or an object if there is no path, and who changed it. */
export interface DriftedField {
  readonly kind: KindName
  readonly path: string | undefined
  readonly by: Pick<Actor, 'kind'> | undefined
}

/** Returns the policy for drift, given the settings of the sources that declare the field. Of different policies, the one that changes least applies. */
export function getDriftPolicy(sources: readonly SourceSettings[], drifted: DriftedField): DriftPolicy {
  const defaultPolicy = getDefaultPolicy(drifted)
  const policies = sources.map(
    ({ drift = [] }) => drift.findLast((rule) => matches(rule, drifted))?.policy ?? defaultPolicy,
  )
  return MILDEST_FIRST.find((policy) => policies.includes(policy)) ?? defaultPolicy
}

/** Whether a rule matches a field or an object. A rule with a path matches no object. */
function matches(rule: DriftRule, { kind, path }: DriftedField): boolean {
  if (rule.kind !== undefined && rule.kind !== kind) return false
  return rule.path === undefined || path === rule.path || path?.startsWith(`${rule.path}.`) === true
}

/**
 * Returns the policy where no rule matches. Accepted: what a directory determines. Reported only: changes by users themselves, by workflows and by Regent (such as after failed log-ins),
 * secrets, and fields that administrators change in operation.
 */
function getDefaultPolicy({ kind, path, by }: DriftedField): DriftPolicy {
  if (by?.kind === 'federation') return 'accept'
  if (by && REPORTED_ACTORS.has(by.kind)) return 'report'
  if (path === undefined) return 'correct'
  return OPERATIONAL_FIELDS[kind]?.includes(path) || isSecret(kinds[kind], path) ? 'report' : 'correct'
}
