// What waits for an approval, and what has moved since a plan was made, as text for people. Pure.
import { isSecret } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import { describe } from '../kinds/tree.ts'
import type { Approved, Guard, Guarded } from './action.ts'
import type { Moved } from './moved.ts'
import { by, moment, text } from './words.ts'

/** What of a realm's outcome is about approvals. */
export interface Guarding {
  readonly guards?: readonly Guard[]
  readonly guarded?: Guarded
  readonly approved?: Approved
}

/** Why a realm waits, or who let it go on, in words. */
export function waitingWords({ guards = [], guarded, approved }: Guarding): string[] {
  const reasons = guards.map(({ message }) => message)
  if (guarded) {
    const until = moment(guarded.expires)
    return [...reasons, `not applied: it waits until ${until} for "regent approve ${guarded.plan}"`]
  }
  if (guards.length) return [...reasons, 'an apply of this waits for the approval of a person']
  return approved ? [`approved by ${approved.by} at ${moment(approved.at)} (plan ${approved.plan})`] : []
}

/** What has moved since a plan was made, a line each. */
export function renderMoved(moved: readonly Moved[]): string {
  return moved.map(movedLine).join('\n')
}

function movedLine({ realm, kind, key, object, path, from, to, add = [], remove = [], by: who }: Moved): string {
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
