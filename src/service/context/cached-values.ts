// Cached values about users, such as the roles that tokens contain, and about tokens.
import { evictOldest } from '../../lib/timing/evict-oldest.ts'
import type { RealmRow } from '../../store/realms.ts'
import type { TokenReferences } from '../../store/users/token-state.ts'

/** A value about a user: the number of the realm, the id of the user, and the name of the value. */
export interface UserValueKey {
  readonly realm: number
  readonly user: string
  readonly value: string
}

/** Users with cached values, and values of a user. The oldest are evicted. */
const MOST_USERS = 10_000
const MOST_VALUES = 10

/** The values of users that are cached. */
export class UserValues {
  readonly #realms = new Map<number, Map<string, Map<string, unknown>>>()
  #users = 0

  find({ realm, user, value }: UserValueKey): unknown {
    return this.#realms.get(realm)?.get(user)?.get(value)
  }

  set({ realm, user, value: name }: UserValueKey, value: unknown): void {
    const users = this.#realms.get(realm) ?? new Map<string, Map<string, unknown>>()
    const values = users.get(user) ?? new Map<string, unknown>()
    if (!values.size) this.#users++
    this.#realms.set(realm, users.set(user, values.set(name, value)))
    evictOldest(values, MOST_VALUES)
    if (this.#users > MOST_USERS) this.#evictOldestUser()
  }

  /** Removes the values of a user, of all users of a realm, or all. */
  delete(realm: number | undefined, user: string | undefined): void {
    if (realm === undefined) {
      this.#realms.clear()
      this.#users = 0
      return
    }
    const users = this.#realms.get(realm)
    if (!users) return
    const before = users.size
    if (user === undefined) users.clear()
    else users.delete(user)
    this.#users -= before - users.size
    if (!users.size) this.#realms.delete(realm)
  }

  #evictOldestUser(): void {
    const [realm, users] = this.#realms.entries().next().value!
    this.delete(realm, users.keys().next().value)
  }
}

/** An issued token: its realm, and the ids of its client, and of its session or user. */
export interface IssuedToken extends Omit<TokenReferences, 'revoked'> {
  readonly realm: Pick<RealmRow, 'number' | 'name'>
  readonly id: string
  /** In seconds since 1970. */
  readonly issuedAt: number
}

/** A value about a token that is valid until the token expires, or something changes that it depends on. */
export interface TokenValue {
  readonly issued: IssuedToken
  readonly user: { readonly id: string }
  readonly expiresAt: Date
}

/** Tokens with cached values. The oldest are evicted. */
const MOST_TOKENS = 5_000

/** The values of tokens that are cached. */
export class TokenValues {
  readonly #clock: () => Date
  readonly #tokens = new Map<string, TokenValue>()

  constructor(clock: () => Date) {
    this.#clock = clock
  }

  find(key: string): TokenValue | undefined {
    const value = this.#tokens.get(key)
    return value && this.#clock() < value.expiresAt ? value : undefined
  }

  set(key: string, value: TokenValue): void {
    this.#tokens.set(key, value)
    this.#evictExpired()
    evictOldest(this.#tokens, MOST_TOKENS)
  }

  /** Removes the values of the tokens of a user or session, of the token with an id, of a realm, or all. */
  delete(realm: number | undefined, name: string | undefined): void {
    for (const [key, { issued, user }] of this.#tokens) {
      const ids = [issued.id, issued.session, user.id]
      const isConcerned = realm === undefined || realm === issued.realm.number
      if (isConcerned && (name === undefined || ids.includes(name))) this.#tokens.delete(key)
    }
  }

  /** Removes expired tokens up to the first valid one; most tokens are valid for the same time. */
  #evictExpired(): void {
    const now = this.#clock()
    for (const [key, { expiresAt }] of this.#tokens) {
      if (now < expiresAt) return
      this.#tokens.delete(key)
    }
  }
}
