// Compares the drift of two moments. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Drift } from './drift.ts'

/** `drift`: new or changed drift. `resolved`: drift that was corrected, declared or became unmanaged, as it was before. */
export interface DriftEvent {
  readonly event: 'drift' | 'resolved'
  readonly drift: Drift
}

/** Returns the events that lead from one list of drift to another: `resolved` events first, then `drift` events. */
export function listDriftEvents(before: readonly Drift[], after: readonly Drift[]): DriftEvent[] {
  const previous = new Map(before.map((drift) => [toDriftKey(drift), drift]))
  const current = new Set(after.map(toDriftKey))
  const resolved = before.filter((drift) => !current.has(toDriftKey(drift)))
  const changed = after.filter((drift) => {
    const counterpart = previous.get(toDriftKey(drift))
    return !counterpart || !isDeepStrictEqual(toPlainJson(counterpart), toPlainJson(drift))
  })
  return [
    ...resolved.map((drift) => ({ event: 'resolved', drift }) as const),
    ...changed.map((drift) => ({ event: 'drift', drift }) as const),
  ]
}

/** Returns the list of drift after an event. */
export function applyDriftEvent(before: readonly Drift[], { event, drift }: DriftEvent): Drift[] {
  const remaining = before.filter((candidate) => toDriftKey(candidate) !== toDriftKey(drift))
  return event === 'drift' ? [...remaining, drift] : remaining
}

/** Drops undefined members: stored drift does not have them. */
const toPlainJson = (drift: Drift): unknown => JSON.parse(JSON.stringify(drift))

/** Returns a text that identifies the drifted field or object. */
function toDriftKey({ realm, source, kind, key, path }: Drift): string {
  return JSON.stringify([realm, source, kind, key, path ?? null])
}
