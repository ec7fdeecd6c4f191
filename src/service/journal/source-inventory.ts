// The inventory of sources in a realm: which objects and fields each of them manages.
import type { Key, KindName } from '../../kinds/kind.ts'
import {
  type InventoryDifference,
  type InventoryRow,
  type MarkedRow,
  type StatedNow,
  selectInventory,
  selectMarkedInventory,
  selectMarkedLists,
  selectOwned,
} from '../../store/sources/inventory.ts'
import type { Context } from '../context/context.ts'

/** What all sources own in the realm, but for what some state with these digests as they did before. One statement. */
export function inventoryOf({ tx, realm }: Context, stated: readonly StatedNow[]): Promise<InventoryDifference> {
  return selectInventory(tx, realm.number, stated)
}

/** What sources own of the objects that they state under these keys. One statement. */
export function ownedOf(
  { tx, realm }: Context,
  sources: readonly string[],
  objects: readonly { kind: KindName; key: Key }[],
): Promise<InventoryRow[]> {
  return selectOwned(tx, realm.number, { sources, objects })
}

/** Names of the sources that prune all and for which somebody made something since. One statement. */
export function marksOfLists({ tx, realm }: Context): Promise<string[]> {
  return selectMarkedLists(tx, realm.number)
}

/** What all sources own in the realm and somebody else has changed since. One statement. */
export function markedInventoryOf({ tx, realm }: Context): Promise<MarkedRow[]> {
  return selectMarkedInventory(tx, realm.number)
}
