// What it takes to judge how much harm a plan may do.

import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import {
  countContent,
  countOwned,
  type FormerRealm,
  isOwnedByOthers,
  type RealmSize,
  selectFormerRealm,
  selectMakers,
} from '../../store/sources/guarded.ts'
import type { Context } from '../context/context.ts'
import type { Service } from '../context/service.ts'
import type { Actor, StoredEntry } from '../context/store-types.ts'
import { entriesOf } from '../journal/journal.ts'

/** How many people, clients and sessions the realm has. One statement. */
export function sizeOf({ tx, realm }: Context): Promise<RealmSize> {
  return countContent(tx, realm.number)
}

/** How many objects sources own in the realm. One statement. */
export function ownedBy({ tx, realm }: Context, sources: readonly string[]): Promise<number> {
  return countOwned(tx, realm.number, sources)
}

/** Whether other sources than these own anything in the realm. One statement. */
export function ownedByOthers({ tx, realm }: Context, sources: readonly string[]): Promise<boolean> {
  return isOwnedByOthers(tx, realm.number, sources)
}

/** Who made people, by their ids, as far as the journal knows. One statement. */
export function makersOf({ tx, realm }: Context, people: readonly string[]): Promise<Map<string, Actor>> {
  return selectMakers(tx, realm.number, people)
}

/** The realm that had a name last, if it is gone: looked up within a transaction, or by itself. One statement. */
export function formerRealm(where: Context | Service, name: string): Promise<FormerRealm | undefined> {
  return 'tx' in where ? selectFormerRealm(where.tx, name) : where.look((tx) => selectFormerRealm(tx, name))
}

/**
 * The entries that gave objects the names that they have, by kind and id, as far as the journal has them: they were created, or
 * renamed. Two statements at most, none for none.
 */
export async function namingEntries(
  context: Context,
  objects: readonly { kind: KindName; object: string }[],
): Promise<Map<string, StoredEntry>> {
  const naming = (await entriesOf(context, objects)).filter(
    ({ operation, kind, fields }) => operation === 'create' || kinds[kind as KindName].naturalKey in fields,
  )
  // Entries come newest first: the last one wins.
  return new Map(naming.toReversed().map((entry) => [`${entry.kind} ${entry.object}`, entry]))
}
