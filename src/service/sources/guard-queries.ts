// Facts about a realm that the guards of plans need.
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import {
  countManagedObjects,
  countRealmContent,
  type DeletedRealm,
  findDeletedRealm,
  isManagedByOtherSources,
  type RealmSize,
  selectUserCreators,
} from '../../store/sources/guard-queries.ts'
import type { Context } from '../context/context.ts'
import type { Service } from '../context/service.ts'
import type { Actor, StoredEntry } from '../context/store-types.ts'
import { listLatestEntries } from '../journal/journal.ts'

/** Returns the numbers of users, clients and sessions of the realm. One statement. */
export function getRealmSize({ tx, realm }: Context): Promise<RealmSize> {
  return countRealmContent(tx, realm.number)
}

/** Returns the number of objects that the sources manage in the realm. One statement. */
export function countManagedBy({ tx, realm }: Context, sources: readonly string[]): Promise<number> {
  return countManagedObjects(tx, realm.number, sources)
}

/** Whether sources other than these manage objects in the realm. One statement. */
export function hasOtherSources({ tx, realm }: Context, sources: readonly string[]): Promise<boolean> {
  return isManagedByOtherSources(tx, realm.number, sources)
}

/** Returns the creators of users by id of the user, where the journal has them. One statement. */
export function findUserCreators({ tx, realm }: Context, users: readonly string[]): Promise<Map<string, Actor>> {
  return selectUserCreators(tx, realm.number, users)
}

/** Returns the last deleted realm with a name, in the transaction of a context or in one of its own. One statement. */
export function findFormerRealm(where: Context | Service, name: string): Promise<DeletedRealm | undefined> {
  return 'tx' in where ? findDeletedRealm(where.tx, name) : where.query((tx) => findDeletedRealm(tx, name))
}

/**
 * Returns the journal entries that gave objects their current names, by `kind id`: their creation or last renaming, where the journal
 * has it. Two statements at most, none for no objects.
 */
export async function findNamingEntries(
  context: Context,
  objects: readonly { readonly kind: KindName; readonly object: string }[],
): Promise<Map<string, StoredEntry>> {
  const namingEntries = (await listLatestEntries(context, objects)).filter(
    ({ operation, kind, fields }) => operation === 'create' || kinds[kind].naturalKey in fields,
  )
  // Entries are sorted from the newest, which must win.
  return new Map(namingEntries.toReversed().map((entry) => [`${entry.kind} ${entry.object}`, entry]))
}
