// The current drift of all realms, for statuses and for the correction of drift.
import type { Drift } from '../../reconcile/drift/drift.ts'
import { type DriftUpdate, getDriftWatch } from '../../reconcile/drift/drift-watch.ts'
import type { Service } from '../../service/context/service.ts'

/** The current drift by realm. It updates itself until it is stopped. */
export interface DriftIndex {
  listDrift(realm: string): Drift[]
  stop(): void
}

/** Called when drift of a realm appeared or disappeared. `needsCorrection`: some of it has the policy `selfHeal`. */
export type OnDriftChange = (realm: string, needsCorrection: boolean) => void

/** Creates an index of the drift of all realms. Drift that exists already is not reported. */
export async function watchDrift(service: Service, onDriftChange: OnDriftChange): Promise<DriftIndex> {
  const current = new Map<string, Drift>()
  const getKey = ({ realm, source, kind, key, path = '' }: Drift) => JSON.stringify([realm, source, kind, key, path])
  const update = ({ events }: DriftUpdate) => {
    for (const { event, drift } of events) {
      if (event === 'drift') current.set(getKey(drift), drift)
      else current.delete(getKey(drift))
    }
    for (const [realm, ofRealm] of Map.groupBy(events, ({ drift }) => drift.realm)) {
      const needsCorrection = ofRealm.some(({ event, drift }) => event === 'drift' && drift.policy === 'selfHeal')
      onDriftChange(realm, needsCorrection)
    }
  }
  const { initialDrift, unsubscribe } = await getDriftWatch(service).subscribe(update, 'last')
  for (const drift of [...initialDrift.values()].flat()) current.set(getKey(drift), drift)
  return { listDrift: (realm) => [...current.values()].filter((drift) => drift.realm === realm), stop: unsubscribe }
}
