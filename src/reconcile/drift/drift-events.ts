// What became of drift between two looks at it. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Drift } from './drift.ts'

/** Something has drifted, or otherwise than before; or what had drifted is put back, stated or let go of: told as it was. */
export interface DriftEvent {
  readonly event: 'drift' | 'settled'
  readonly drift: Drift
}

/** What leads from drift as it was to drift as it is: what is settled comes first. */
export function driftEvents(before: readonly Drift[], now: readonly Drift[]): DriftEvent[] {
  const known = new Map(before.map((drift) => [nameOf(drift), drift]))
  const live = new Set(now.map(nameOf))
  const settled = before.filter((drift) => !live.has(nameOf(drift)))
  const changed = now.filter((drift) => {
    const other = known.get(nameOf(drift))
    return !other || !isDeepStrictEqual(plain(other), plain(drift))
  })
  return [
    ...settled.map((drift) => ({ event: 'settled', drift }) as const),
    ...changed.map((drift) => ({ event: 'drift', drift }) as const),
  ]
}

/** Drift after an event. */
export function afterEvent(before: readonly Drift[], { event, drift }: DriftEvent): Drift[] {
  const others = before.filter((one) => nameOf(one) !== nameOf(drift))
  return event === 'drift' ? [...others, drift] : others
}

/** As JSON has it: what is kept or sent has no members without a value, and any order of them. */
const plain = (drift: Drift): unknown => JSON.parse(JSON.stringify(drift))

/** What tells it from other drift. */
function nameOf({ realm, source, kind, key, path }: Drift): string {
  return JSON.stringify([realm, source, kind, key, path ?? null])
}
