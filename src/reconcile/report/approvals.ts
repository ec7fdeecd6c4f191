// Approvals and stale plans as text. Pure.
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { describe } from '../../kinds/tree.ts'
import type { Approval, Guard, PendingApproval } from '../model/action.ts'
import { by, moment } from '../model/attribution.ts'
import type { StaleObject } from '../plan/stale.ts'
import { text } from './words.ts'

/** The guards of a realm's plan, and its approval. */
export interface ApprovalState {
  readonly guards?: readonly Guard[]
  readonly pendingApproval?: PendingApproval
  readonly approval?: Approval
}

/** Describes why a plan is pending approval, or who approved it: a line each. */
export function describeApproval({ guards = [], pendingApproval, approval: approved }: ApprovalState): string[] {
  const reasons = guards.map(({ message }) => message)
  if (pendingApproval) {
    const until = moment(pendingApproval.expires)
    return [...reasons, `not applied: pending approval until ${until}; run "regent approve ${pendingApproval.plan}"`]
  }
  if (guards.length) return [...reasons, 'an apply of this plan needs an approval']
  return approved ? [`approved by ${approved.by} at ${moment(approved.at)} (plan ${approved.plan})`] : []
}

/** Renders the changes that made a plan stale, a line each. */
export function renderStale(moved: readonly StaleObject[]): string {
  return moved.map(movedLine).join('\n')
}

function movedLine({ realm, kind, key, object, path, from, to, add = [], remove = [], by: who }: StaleObject): string {
  const name = kind === 'realm' ? describe(kind, key) : `${describe(kind, key)} in realm ${realm}`
  const whose = who ? `  by ${by(who)}` : ''
  if (object) return `  ${name}: ${object} since${whose}`
  const elements = [...add.map((one) => `+${one.slice(-1)}`), ...remove.map((one) => `-${one.slice(-1)}`)]
  const values = elements.length
    ? elements.join(' ')
    : isSecret(kinds[kind], path!)
      ? '(secret changed)'
      : `${text(from ?? null)} → ${text(to ?? null)}`
  return `  ${name}: ${path}: ${values}${whose}`
}
