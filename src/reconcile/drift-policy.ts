// What becomes of drift: most is put back at the next apply, some is only reported. Pure.
import { isSecret } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import type { KindName } from '../kinds/kind.ts'
import type { Attribution } from './action.ts'

/** `put-back`: the next apply writes what is stated; `report`: the live value stays, and is shown as drift. */
export type DriftPolicy = 'put-back' | 'report'

/** Fields that administrators change while things run, and that documents state for the beginning. */
const OFTEN: Partial<Record<KindName, readonly string[]>> = {
  user: ['enabled', 'notBefore'],
  client: ['notBefore'],
  realm: ['notBefore'],
}

/**
 * What becomes of a field, or without a path of a whole object, that is not as it was applied. What people did themselves and what
 * follows from guesses at their passwords is only reported; so is whether somebody may log in, from when on tokens count, and a
 * secret that somebody chose.
 */
export function driftPolicy(kind: KindName, path: string | undefined, by: Attribution | undefined): DriftPolicy {
  if (by?.kind === 'person' || by?.kind === 'system') return 'report'
  if (path === undefined) return 'put-back'
  return OFTEN[kind]?.includes(path) || isSecret(kinds[kind], path) ? 'report' : 'put-back'
}
