// The inventory of a realm: the objects and fields that sources manage.
import type { Key, KindName } from '../../kinds/kind.ts'
import {
  type InventoryDifference,
  type InventoryRow,
  type MarkedInventoryRow,
  type SourceDeclaration,
  selectInventory,
  selectInventoryByKeys,
  selectMarkedInventory,
  selectSourcesWithUndeclaredObjects,
} from '../../store/sources/inventory.ts'
import type { Context } from '../context/context.ts'

/** Returns the inventory of the realm, except for declarations that have the digests of the last run. One statement. */
export function getInventoryDifference(
  { tx, realm }: Context,
  declarations: readonly SourceDeclaration[],
): Promise<InventoryDifference> {
  return selectInventory(tx, realm.number, declarations)
}

/** Returns the inventory rows of sources for objects with these keys. One statement. */
export function listManagedByKeys(
  { tx, realm }: Context,
  sources: readonly string[],
  objects: readonly { readonly kind: KindName; readonly key: Key }[],
): Promise<InventoryRow[]> {
  return selectInventoryByKeys(tx, realm.number, { sources, objects })
}

/** Returns the names of sources with `prune: all` for which undeclared objects were created since their last run. One statement. */
export function listSourcesWithUndeclaredObjects({ tx, realm }: Context): Promise<string[]> {
  return selectSourcesWithUndeclaredObjects(tx, realm.number)
}

/** Returns the inventory rows of objects that were changed since the last run of their source. One statement. */
export function listMarkedInventory({ tx, realm }: Context): Promise<MarkedInventoryRow[]> {
  return selectMarkedInventory(tx, realm.number)
}
