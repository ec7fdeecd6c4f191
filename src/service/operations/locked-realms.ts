// Realms under their lock: what this process knows of them is read again only where it has changed.
import type { KindName } from '../../kinds/kind.ts'
import { evictOldest } from '../../lib/timing/evict-oldest.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import {
  findLockedRealm,
  findRealmsByNumber,
  kindsInRealmRow,
  type RealmRow,
  type RealmToLock,
} from '../../store/realms.ts'
import type { LastChanges } from '../context/context.ts'
import type { RealmCache } from '../context/realm-cache.ts'

/** A realm that is locked, as its row is now. */
export interface RealmUnderLock {
  readonly realm: RealmRow
  readonly lastChanges: LastChanges
  /** The time of the last change; null if there is none. */
  readonly lastChangeAt: Date | null
  /** Whether the requested versions are current. */
  readonly areCurrent: boolean
}

/** A realm as it was when its lock was held last. */
interface EarlierRealm extends Omit<LastChanges, 'lockedAt'> {
  readonly realm: RealmRow
}

/** Number of realms that are known at a time. The oldest are evicted. */
const MOST_REALMS = 1_000

/** The realms that a process has locked before. */
export class LockedRealms {
  readonly #cache: RealmCache
  #epoch: object = {}
  readonly #realms = new Map<string, EarlierRealm>()

  /** @param cache when it forgets everything, so do the known realms */
  constructor(cache: RealmCache) {
    this.#cache = cache
  }

  /**
   * Locks realms, and returns the one with the name; undefined if it is not among the locked ones. Two statements that are sent together, and
   * one more if the row of a known realm has changed, or much else of it.
   */
  async lock(tx: Transaction, target: Omit<RealmToLock, 'knownRevision'>): Promise<RealmUnderLock | undefined> {
    const before = this.#find(target.name)
    const locked = await findLockedRealm(tx, { ...target, knownRevision: before?.realm.revision })
    if (!locked) return undefined
    const { number, revision, rowVersion, changedKinds, lastChangeAt, areCurrent } = locked
    const earlier = before?.realm.number === number ? before : undefined
    const isCurrent =
      changedKinds?.every((kind) => !kindsInRealmRow.has(kind)) && earlier?.realm.rowVersion === rowVersion
    const row = locked.realm ?? (isCurrent ? earlier.realm : await getRealm(tx, number))
    const realm = { ...row, revision }
    const lastChanges =
      earlier && changedKinds
        ? { ...earlier, byKind: new Map([...earlier.byKind, ...changedKinds.map((kind) => [kind, revision] as const)]) }
        : { knownSince: revision, byKind: new Map<KindName, number>() }
    const { knownSince, byKind } = lastChanges
    this.#realms.delete(target.name)
    this.#realms.set(target.name, { knownSince, byKind, realm })
    evictOldest(this.#realms, MOST_REALMS)
    const changesHere = { knownSince, byKind: new Map(byKind), lockedAt: revision }
    return { realm, lastChanges: changesHere, lastChangeAt, areCurrent }
  }

  /** Forgets a realm whose row a transaction changes. */
  forget({ name }: RealmRow): void {
    this.#realms.delete(name)
  }

  #find(name: string): EarlierRealm | undefined {
    if (this.#epoch !== this.#cache.epoch) this.#realms.clear()
    this.#epoch = this.#cache.epoch
    return this.#realms.get(name)
  }
}

async function getRealm(tx: Transaction, number: number): Promise<RealmRow> {
  const [realm] = await findRealmsByNumber(tx, [number])
  return realm!
}
