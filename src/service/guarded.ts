// What it takes to judge how much harm a plan may do.
import {
  countContent,
  countOwned,
  type FormerRealm,
  isOwnedByOthers,
  type RealmSize,
  selectFormerRealm,
  selectMakers,
} from '../store/guarded.ts'
import type { Actor, Context } from './context.ts'
import type { Service } from './service.ts'

export type { FormerRealm, RealmSize } from '../store/guarded.ts'

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
