// A cache of what requests need before their own statements: the rows of realms, and values about tokens and users.
import { evictOldest } from '../../lib/timing/evict-oldest.ts'
import type { Store } from '../../store/database/database.ts'
import type { WakeUp } from '../../store/database/wake-up.ts'
import { findRealms, type RealmRow } from '../../store/realms.ts'
import { type TokenValue, TokenValues, type UserValueKey, UserValues } from './cached-values.ts'
import { failure } from './errors.ts'

/** Realms that are cached at a time. The oldest are evicted. */
const MOST_REALMS = 10_000

/**
 * Caches rows of realms, and values about tokens and users. Each change is announced at its commit: see `AccessChange`. While announcements by other
 * processes might not arrive, nothing cached is used.
 */
export class RealmCache {
  readonly #store: Pick<Store, 'read' | 'subscribe' | 'isUpToDate'>
  readonly #realms = new Map<string, RealmRow>()
  readonly #tokens: TokenValues
  readonly #users = new UserValues()
  #epoch: object = {}
  /** Counts the changes. What was read before a change is not cached after it. */
  #changes = 0
  #isStarted = false

  constructor(store: Pick<Store, 'read' | 'subscribe' | 'isUpToDate'>, clock: () => Date) {
    this.#store = store
    this.#tokens = new TokenValues(clock)
  }

  /** A key for further caches, which is replaced when everything is forgotten. */
  get epoch(): object {
    return this.#epoch
  }

  /** Starts caching, which servers do. It needs a connection of its own for the announcements. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#store.subscribe((wakeUp) => {
      if (wakeUp.topic === 'access' || wakeUp.topic === 'everything') this.forget(wakeUp)
    })
  }

  /** Returns the realms with these names that exist. One statement, or none. */
  async findRealms(names: readonly string[]): Promise<RealmRow[]> {
    const cached = this.#isUsable() ? names.map((name) => this.#realms.get(name)) : []
    const realms = cached.filter((realm) => realm !== undefined)
    if (names.length && realms.length === names.length) return [...new Set(realms)]
    const changes = this.#changes
    const rows = await this.#store.read((tx) => findRealms(tx, names))
    if (changes === this.#changes && this.#isStarted) for (const row of rows) this.#realms.set(row.name, row)
    evictOldest(this.#realms, MOST_REALMS)
    return rows
  }

  /** Returns the realm with the name, or the realm itself. Throws not_found. One statement, or none. */
  async getRealm(nameOrRealm: string | RealmRow): Promise<RealmRow> {
    const [realm] = typeof nameOrRealm === 'string' ? await this.findRealms([nameOrRealm]) : [nameOrRealm]
    if (!realm) throw failure('not_found', 'Realm not found.')
    return realm
  }

  /** Returns the value about a token with the key. `load` reads it, and returns undefined if the token is not valid. */
  async findTokenValue<T extends TokenValue>(key: string, load: () => Promise<T | undefined>): Promise<T | undefined> {
    const cached = this.#isUsable() ? this.#tokens.find(key) : undefined
    // It was loaded for the same key, so that it has the same type.
    if (cached) return cached as T
    const changes = this.#changes
    const value = await load()
    if (value && changes === this.#changes && this.#isStarted) this.#tokens.set(key, value)
    return value
  }

  /**
   * Returns a value about a user that depends on nothing but the user and the configuration of the realm. `load` reads it. Undefined is not
   * cached: the user does not exist yet.
   */
  async getUserValue<T>(key: UserValueKey, load: () => Promise<T>): Promise<T> {
    const cached = this.#isUsable() ? this.#users.find(key) : undefined
    // It was loaded for the same key, so that it has the same type.
    if (cached !== undefined) return cached as T
    const changes = this.#changes
    const value = await load()
    if (value !== undefined && changes === this.#changes && this.#isStarted) this.#users.set(key, value)
    return value
  }

  /** Removes what a change concerns; without a realm, everything. */
  forget({ realm, name, keepsTokens }: Pick<WakeUp, 'realm' | 'name' | 'keepsTokens'>): void {
    this.#changes++
    if (realm === undefined) this.#epoch = {}
    this.#users.delete(realm, name)
    if (!keepsTokens) this.#tokens.delete(realm, name)
    if (name !== undefined) return
    for (const [key, row] of this.#realms) if (realm === undefined || realm === row.number) this.#realms.delete(key)
  }

  #isUsable(): boolean {
    return this.#isStarted && this.#store.isUpToDate()
  }
}
