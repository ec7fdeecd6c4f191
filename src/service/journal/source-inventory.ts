// The inventory of a realm: the objects and fields that sources manage.
import type { Key, KindName } from '../../kinds/kind.ts'
import {
  type InventoryDifference,
  type InventoryRow,
  type MarkedInventoryRow,
  type SourceDeclaration,
  selectFieldsByPrefix,
  selectInventory,
  selectInventoryByKeys,
  selectMarkedInventory,
  selectSourcesWithUndeclaredObjects,
} from '../../store/sources/inventory.ts'
import type { Context } from '../context/context.ts'
import { SEALED } from '../context/vault.ts'
import { openValues } from './sealed-values.ts'

/** Returns the inventory of the realm, except for declarations that have the digests of the last run. One statement. */
export async function getInventoryDifference(
  { tx, realm, vault }: Context,
  declarations: readonly SourceDeclaration[],
): Promise<InventoryDifference> {
  const { rows, ...difference } = await selectInventory(tx, realm.number, declarations)
  return { rows: rows.map((row) => openValues(vault, row)), ...difference }
}

/** Returns the inventory rows of sources for objects with these keys. One statement. */
export async function listManagedByKeys(
  { tx, realm, vault }: Context,
  sources: readonly string[],
  objects: readonly { readonly kind: KindName; readonly key: Key }[],
): Promise<InventoryRow[]> {
  const rows = await selectInventoryByKeys(tx, realm.number, { sources, objects })
  return rows.map((row) => openValues(vault, row))
}

/** Returns the names of sources with `prune: all` for which undeclared objects were created since their last run. One statement. */
export function listSourcesWithUndeclaredObjects({ tx, realm }: Context): Promise<string[]> {
  return selectSourcesWithUndeclaredObjects(tx, realm.number)
}

/** Returns the inventory rows of objects that were changed since the last run of their source. One statement. */
export async function listMarkedInventory({ tx, realm, vault }: Context): Promise<MarkedInventoryRow[]> {
  return (await selectMarkedInventory(tx, realm.number)).map((row) => openValues(vault, row))
}

/** Returns whether a source has applied an encrypted value to a field of an object, by kind, id and path. */
export type EncryptedFieldLookup = (kind: KindName, object: string, path: string) => boolean

/** Returns a lookup of the fields with encrypted values, which nothing shows but the admin API. One statement. */
export async function findEncryptedFields({ tx, realm }: Context): Promise<EncryptedFieldLookup> {
  const fields = await selectFieldsByPrefix(tx, realm.number, SEALED)
  const names = new Set(fields.map(({ kind, object, path }) => JSON.stringify([kind, object, path])))
  return (kind, object, path) => names.size > 0 && names.has(JSON.stringify([kind, object, path]))
}
