// The drift about which notifications were sent, so that each drift is notified once.
import {
  type DriftNotification,
  lockDriftNotification,
  selectRealmsWithNotifiedDrift,
  updateDriftNotification,
} from '../../store/sources/drift-notifications.ts'
import type { Context } from '../context/context.ts'
import type { Service } from '../context/service.ts'

/** Returns the notified drift of the realm, and locks it until the end of the transaction. One statement. */
export function lockNotifiedDrift({ tx, realm }: Context): Promise<DriftNotification> {
  return lockDriftNotification(tx, realm.number)
}

/** Saves the notified drift of the realm. One statement. */
export function saveNotifiedDrift({ tx, realm }: Context, notified: DriftNotification): Promise<void> {
  return updateDriftNotification(tx, realm.number, notified)
}

/** Returns the numbers of the realms with notified drift that was not resolved yet. One statement. */
export function listRealmsWithNotifiedDrift(service: Service): Promise<number[]> {
  return service.query(selectRealmsWithNotifiedDrift)
}
