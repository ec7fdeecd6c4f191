// Drift of all realms, as it is now: what statuses tell of it, and what wants to be put back at once.
import type { Drift } from '../reconcile/drift/drift.ts'
import { type DriftUpdate, getDriftWatch } from '../reconcile/drift/drift-watch.ts'
import type { Service } from '../service/context/service.ts'

/** Drift that keeps itself up to date. */
export interface Drifts {
  of(realm: string): Drift[]
  stop(): void
}

/** Calls `changed` after new or settled drift of a realm. `heals`: some of the new drift is to be corrected at once. */
export async function followDrift(service: Service, changed: (realm: string, heals: boolean) => void): Promise<Drifts> {
  const all = new Map<string, Drift>()
  const keyOf = ({ realm, source, kind, key, path = '' }: Drift) => JSON.stringify([realm, source, kind, key, path])
  const told = ({ events }: DriftUpdate) => {
    for (const { event, drift } of events) {
      if (event === 'drift') all.set(keyOf(drift), drift)
      else all.delete(keyOf(drift))
    }
    for (const [realm, own] of Map.groupBy(events, ({ drift }) => drift.realm))
      changed(
        realm,
        own.some(({ event, drift }) => event === 'drift' && drift.policy === 'selfHeal'),
      )
  }
  const watching = await getDriftWatch(service).subscribe(told, 'last')
  for (const drift of [...watching.initialDrift.values()].flat()) all.set(keyOf(drift), drift)
  return { of: (realm) => [...all.values()].filter((drift) => drift.realm === realm), stop: watching.unsubscribe }
}
