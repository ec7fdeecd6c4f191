// What was told of drift to those who asked for notices of it.
import { updateDriftNotification, lockDriftNotification, selectRealmsWithNotifiedDrift, type DriftNotification } from '../../store/sources/drift-notifications.ts'
import type { Context } from '../context/context.ts'
import type { Service } from '../context/service.ts'

/** What was told of the realm: who reads it is alone with it until the transaction ends. One statement. */
export function lockNotifiedDrift({ tx, realm }: Context): Promise<DriftNotification> {
  return lockDriftNotification(tx, realm.number)
}

/** Keeps what was told of the realm. One statement. */
export function saveNotifiedDrift({ tx, realm }: Context, told: DriftNotification): Promise<void> {
  return updateDriftNotification(tx, realm.number, told)
}

/** The numbers of the realms of which drift was told that is not settled yet. One statement. */
export function listRealmsWithNotifiedDrift(service: Service): Promise<number[]> {
  return service.query(selectRealmsWithNotifiedDrift)
}
