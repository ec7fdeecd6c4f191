// What it takes to judge how much harm a plan may do.

import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import {
  countRealmContent,
  countManagedObjects,
  type DeletedRealm,
  isManagedByOtherSources,
  type RealmSize,
  findDeletedRealm,
  selectUserCreators,
} from '../../store/sources/guard-queries.ts'
import type { Context } from '../context/context.ts'
import type { Service } from '../context/service.ts'
import type { Actor, StoredEntry } from '../context/store-types.ts'
import { listLatestEntries } from '../journal/journal.ts'

/** How many people, clients and sessions the realm has. One statement. */
export function getRealmSize({ tx, realm }: Context): Promise<RealmSize> {
  return countRealmContent(tx, realm.number)
}

/** How many objects sources own in the realm. One statement. */
export function countManagedBy({ tx, realm }: Context, sources: readonly string[]): Promise<number> {
  return countManagedObjects(tx, realm.number, sources)
}

/** Whether other sources than these own anything in the realm. One statement. */
export function hasOtherSources({ tx, realm }: Context, sources: readonly string[]): Promise<boolean> {
  return isManagedByOtherSources(tx, realm.number, sources)
}

/** Who made people, by their ids, as far as the journal knows. One statement. */
export function findUserCreators({ tx, realm }: Context, people: readonly string[]): Promise<Map<string, Actor>> {
  return selectUserCreators(tx, realm.number, people)
}

/** The realm that had a name last, if it is gone: looked up within a transaction, or by itself. One statement. */
export function findFormerRealm(where: Context | Service, name: string): Promise<DeletedRealm | undefined> {
  return 'tx' in where ? findDeletedRealm(where.tx, name) : where.query((tx) => findDeletedRealm(tx, name))
}

/**
 * The entries that gave objects the names that they have, by kind and id, as far as the journal has them: they were created, or
 * renamed. Two statements at most, none for none.
 */
export async function findNamingEntries(
  context: Context,
  objects: readonly { kind: KindName; object: string }[],
): Promise<Map<string, StoredEntry>> {
  const naming = (await listLatestEntries(context, objects)).filter(
    ({ operation, kind, fields }) => operation === 'create' || kinds[kind as KindName].naturalKey in fields,
  )
  // Entries come newest first: the last one wins.
  return new Map(naming.toReversed().map((entry) => [`${entry.kind} ${entry.object}`, entry]))
}
