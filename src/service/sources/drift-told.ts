// What was told of drift to those who asked for notices of it.
import { keepTold, lockTold, selectTold, type Told } from '../../store/sources/drift-told.ts'
import type { Context } from '../context/context.ts'
import type { Service } from '../context/service.ts'

/** What was told of the realm: who reads it is alone with it until the transaction ends. One statement. */
export function toldOf({ tx, realm }: Context): Promise<Told> {
  return lockTold(tx, realm.number)
}

/** Keeps what was told of the realm. One statement. */
export function keep({ tx, realm }: Context, told: Told): Promise<void> {
  return keepTold(tx, realm.number, told)
}

/** The numbers of the realms of which drift was told that is not settled yet. One statement. */
export function realmsTold(service: Service): Promise<number[]> {
  return service.look(selectTold)
}
