// A cache of what requests need before their own statements: the rows of realms, and the access that tokens give.
import { evictOldest } from '../../lib/timing/evict-oldest.ts'
import type { Store } from '../../store/database/database.ts'
import type { WakeUp } from '../../store/database/wake-up.ts'
import { findRealms, type PermissionVersions, type RealmRow } from '../../store/realms.ts'
import type { TokenReferences } from '../../store/users/token-state.ts'
import type { AdminPermissions } from './admin-permissions.ts'
import { failure } from './errors.ts'

/** An issued token: its realm, and the ids of its client, and of its session or user. */
export interface IssuedToken extends Omit<TokenReferences, 'revoked'> {
  readonly realm: Pick<RealmRow, 'number' | 'name'>
  readonly id: string
  /** In seconds since 1970. */
  readonly issuedAt: number
}

/** The access that a token gives, until it expires or something changes that it depends on. */
export interface TokenAccess {
  readonly token: IssuedToken
  readonly user: { readonly id: string; readonly username: string }
  /** The client ID. */
  readonly client: string
  /** The admin permissions of the user, within those of the token. */
  readonly permissions?: AdminPermissions | undefined
  /** The versions of what the permissions depend on. */
  readonly versions?: PermissionVersions | undefined
  readonly expiresAt: Date
}

/** Realms, and tokens, that are cached at a time. The oldest are evicted. */
const MOST_REALMS = 10_000
const MOST_TOKENS = 1_000

/**
 * Caches rows of realms, and the access of tokens. Each change is announced at its commit: see `AccessChange`. While announcements by other
 * processes might not arrive, nothing cached is used.
 */
export class RealmCache {
  readonly #store: Pick<Store, 'read' | 'subscribe' | 'isUpToDate'>
  readonly #clock: () => Date
  readonly #realms = new Map<string, RealmRow>()
  readonly #tokens = new Map<string, TokenAccess>()
  #epoch: object = {}
  /** Counts the changes. What was read before a change is not cached after it. */
  #changes = 0
  #isStarted = false

  constructor(store: Pick<Store, 'read' | 'subscribe' | 'isUpToDate'>, clock: () => Date) {
    this.#store = store
    this.#clock = clock
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

  /** Returns the access that a token gives. `load` reads it, and returns undefined if the token is not valid. */
  async findAccess(key: string, load: () => Promise<TokenAccess | undefined>): Promise<TokenAccess | undefined> {
    const cached = this.#isUsable() ? this.#tokens.get(key) : undefined
    if (cached && this.#clock() < cached.expiresAt) return cached
    const changes = this.#changes
    const access = await load()
    if (access && changes === this.#changes && this.#isStarted) this.#tokens.set(key, access)
    this.#evictExpired()
    evictOldest(this.#tokens, MOST_TOKENS)
    return access
  }

  /** Removes what a change concerns; without a realm, everything. */
  forget({ realm, name }: Pick<WakeUp, 'realm' | 'name'>): void {
    this.#changes++
    if (realm === undefined) this.#epoch = {}
    const concerns = (number: number) => realm === undefined || realm === number
    for (const [key, { token, user }] of this.#tokens) {
      const ids = [token.id, token.session, user.id]
      if (concerns(token.realm.number) && (name === undefined || ids.includes(name))) this.#tokens.delete(key)
    }
    if (name !== undefined) return
    for (const [key, row] of this.#realms) if (concerns(row.number)) this.#realms.delete(key)
  }

  /** Removes expired tokens up to the first valid one; most tokens are valid for the same time. */
  #evictExpired(): void {
    const now = this.#clock()
    for (const [key, { expiresAt }] of this.#tokens) {
      if (now < expiresAt) return
      this.#tokens.delete(key)
    }
  }

  #isUsable(): boolean {
    return this.#isStarted && this.#store.isUpToDate()
  }
}
