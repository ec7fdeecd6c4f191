// Approvals and stale plans as text. Pure.
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { describeObject } from '../../kinds/tree.ts'
import type { AppliedApproval, Guard, PendingApproval } from '../model/action.ts'
import { formatTime, renderAttribution } from '../model/attribution.ts'
import type { StaleObject } from '../plan/stale.ts'
import { isBlock, listValueLines, renderLiveChange } from './value-text.ts'

/** The guards of a realm's plan, and its approval. */
export interface ApprovalState {
  readonly guards?: readonly Guard[]
  readonly pendingApproval?: PendingApproval
  readonly approval?: AppliedApproval
}

/** Describes why a plan is pending approval, or who approved it: a line each. */
export function describeApproval({ guards = [], pendingApproval, approval }: ApprovalState): string[] {
  const reasons = guards.map(({ message }) => message)
  if (pendingApproval) {
    const expires = formatTime(pendingApproval.expires)
    return [...reasons, `not applied: pending approval until ${expires}; run "regent approve ${pendingApproval.plan}"`]
  }
  if (guards.length) return [...reasons, 'an apply of this plan needs an approval']
  return approval ? [`approved by ${approval.by} at ${formatTime(approval.at)} (plan ${approval.plan})`] : []
}

/** Renders the changes that made a plan stale, a line each. */
export function renderStaleObjects(stale: readonly StaleObject[]): string {
  return stale.map(renderStaleObject).join('\n')
}

function renderStaleObject({
  realm,
  kind,
  key,
  object,
  path,
  from,
  to,
  add = [],
  remove = [],
  by,
}: StaleObject): string {
  const name = kind === 'realm' ? describeObject(kind, key) : `${describeObject(kind, key)} in realm ${realm}`
  const author = by ? `  by ${renderAttribution(by)}` : ''
  if (object) return `  ${name}: ${object} since${author}`
  const elements = [...add.map((added) => `+${added.slice(-1)}`), ...remove.map((removed) => `-${removed.slice(-1)}`)]
  if (elements.length) return `  ${name}: ${path}: ${elements.join(' ')}${author}`
  if (isSecret(kinds[kind], path!)) return `  ${name}: ${path}: (secret changed)${author}`
  const change = renderLiveChange({ kind, path: path!, from, to })
  const lines = listValueLines(change)
  if (!isBlock(change)) return `  ${name}: ${path}: ${lines[0]}${author}`
  return [`  ${name}: ${path}${author}:`, ...lines.map((line) => `    ${line}`)].join('\n')
}
