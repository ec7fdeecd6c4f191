// What becomes of drift: what a source settles, or else what is usual: most is put back at the next apply, some is only reported. Pure.
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { Actor } from '../context/store-types.ts'
import type { DriftRule, SourceSettings } from './source-settings.ts'

/**
 * `correct`: the next apply writes what is stated; `report`: the live value stays, and is shown as drift; `accept`: it stays,
 * and is none; `selfHeal`: what is stated is written at once.
 */
export type DriftPolicy = DriftRule['policy']

/** From the policy that interferes least. */
const MILDEST_FIRST: readonly DriftPolicy[] = ['report', 'accept', 'correct', 'selfHeal']

/** Fields that administrators change while things run, and that documents state for the beginning. */
const OFTEN: Partial<Record<KindName, readonly string[]>> = {
  user: ['enabled', 'notBefore'],
  client: ['notBefore'],
  realm: ['notBefore'],
}

/**
 * What becomes of a field, or without a path of a whole object, that is not as it was applied, given the settings of the
 * sources that state it and who changed it: of several sources the one that interferes least decides.
 */
export function driftPolicy(
  stating: readonly SourceSettings[],
  kind: KindName,
  path: string | undefined,
  by: Pick<Actor, 'kind'> | undefined,
): DriftPolicy {
  const usual = usualPolicy(kind, path, by)
  const policies = stating.map(({ drift = [] }) => drift.findLast((rule) => isAbout(rule, kind, path))?.policy ?? usual)
  return MILDEST_FIRST.find((one) => policies.includes(one)) ?? usual
}

/** Whether a rule is about a field, or a whole object: one that names a field is not. */
function isAbout(rule: DriftRule, kind: KindName, path: string | undefined): boolean {
  if (rule.kind !== undefined && rule.kind !== kind) return false
  return rule.path === undefined || path === rule.path || path?.startsWith(`${rule.path}.`) === true
}

/**
 * Where no rule says more. What people did themselves and what follows from guesses at their passwords is only reported; so is
 * whether somebody may log in, from when on tokens count, and a secret that somebody chose.
 */
function usualPolicy(kind: KindName, path: string | undefined, by: Pick<Actor, 'kind'> | undefined): DriftPolicy {
  if (by?.kind === 'person' || by?.kind === 'system') return 'report'
  if (path === undefined) return 'correct'
  return OFTEN[kind]?.includes(path) || isSecret(kinds[kind], path) ? 'report' : 'correct'
}
