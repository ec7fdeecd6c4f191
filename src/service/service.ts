// The service: opens the store, and gives every caller a context on one realm inside one transaction.
import { MASTER } from '../kinds/built-in/index.ts'
import type { Representation } from '../kinds/kind.ts'
import type { Deadline } from '../lib/deadline.ts'
import {
  openStore,
  type StatementListener,
  type Store,
  type StoreLocation,
  type Transaction,
} from '../store/database.ts'
import { boundSilence, type Lease } from '../store/leases.ts'
import { findRealm, findRealms, listRealms, lockRealms, type RealmRow, rowOf } from '../store/realms.ts'
import { ping } from '../store/settings.ts'
import { type Wake, type WakeUps, wakeAll } from '../store/wake.ts'
import { demandIn, type Permission, powerOf } from './administrators.ts'
import { type Actor, type Context, flush, type RuntimeContext, type WriteContext, writable } from './context.ts'
import { failure, Refusal, ServiceError } from './errors.ts'
import { mailsEvents } from './event-mails.ts'
import { demandAdministrator, isAdministered } from './last-administrator.ts'
import { demandLease } from './leases.ts'
import { createRealm } from './new-realm.ts'
import type { Outbox } from './outbox.ts'
import type { Overwritten } from './ownership.ts'
import { type Blacklists, openBlacklists } from './password-blacklists.ts'
import { everything, isNothing, type Power, within } from './power.ts'
import { type ToldEvent, type UserEvent, writeUserEvents } from './user-events.ts'
import type { Vault } from './vault.ts'
import { replaceKey, unlock } from './vault-key.ts'

export { Rollback, type StatementListener, type StoreLocation } from '../store/database.ts'
export { FolderInUse, serverHolding } from '../store/lock.ts'
export type { RealmRow } from '../store/realms.ts'
export type { Wake } from '../store/wake.ts'

/** Who calls: Regent itself and its operator on their own store have all power; others have what their roles give. */
export interface Caller {
  readonly actor: Actor
  /** Absent: all power. */
  readonly user?: { readonly realm: string; readonly id: string; readonly session?: string }
  /** Of what the user may, only this is the caller's: more their token does not carry. Absent: all of it. */
  readonly limit?: Power
  /** What is left of it, as it was read a moment ago: whoever only reads need not look it up again. Who writes does. */
  readonly power?: Power
  /** The caller says that nobody may be left who administers every realm. */
  readonly mayLockOut?: true
  /** The caller says that what sources state is to be changed nevertheless. */
  readonly mayDrift?: true
  /** What of what sources state the caller has changed: filled by what is written for them. */
  readonly overwritten?: Overwritten[]
  /** What is written is kept only while this is the caller's. Absent: they need none, as a person does. */
  readonly lease?: Lease
  /** By when a snapshot or a change must have ended: later, nothing of it is kept. */
  readonly deadline?: Deadline | undefined
}

/** An open service. */
export interface Service {
  readonly engine: Store['engine']
  readonly vault: Vault
  readonly clock: () => Date
  /** Who delivers what transactions leave in the outbox. Absent: another process. */
  outbox: Outbox | undefined
  /** Lists of passwords that nobody may choose. */
  readonly blacklists: Blacklists
  /** How applies of sources ended since the service was opened. */
  readonly applies: Record<'changed' | 'unchanged' | 'failed', number>
  /** How attempts to deliver messages ended since the service was opened. */
  readonly attempts: Record<'delivered' | 'postponed' | 'dropped', number>
  /** Reads a realm: by name, or as its row was read a moment ago, which is not looked up again then. Throws not_found. */
  read<T>(caller: Caller, realm: string | RealmRow, work: (context: Context) => Promise<T>): Promise<T>
  /** Reads a realm as it was at one moment. */
  snapshot<T>(caller: Caller, realm: string, work: (context: Context | undefined) => Promise<T>): Promise<T>
  /** Changes a realm under its lock; all or nothing. `master`: it writes in the master realm too. */
  write<T>(
    caller: Caller,
    realm: string,
    work: (context: WriteContext) => Promise<T>,
    options?: { master?: boolean },
  ): Promise<T>
  /** Writes log-ins, sessions and the like, without the realm's lock; a `Refusal` is thrown after what was written is committed. */
  runtime<T>(caller: Caller, realm: string | RealmRow, work: (context: RuntimeContext) => Promise<T>): Promise<T>
  /** Writes what the realm keeps of events that no work stands behind, and tells who listens. One statement, or none. */
  tell(realm: RealmRow, events: readonly UserEvent[]): Promise<void>
  /** Tells of events of people that belong into a log, once they are kept. Gives how to stop that. */
  listen(listener: (event: ToldEvent) => void): () => void
  /**
   * Tells of what there is to look at, in any process over the same store, as soon as what causes it is committed; see `Wake`.
   * Gives how to stop that.
   */
  readonly subscribe: WakeUps['subscribe']
  /** Wakes those who subscribed, in all processes, when the transaction is committed. One statement. */
  notify(context: Pick<Context, 'tx'>, wake: Wake): Promise<void>
  /** Makes a realm and goes on in it; all or nothing. */
  create<T>(caller: Caller, realm: NewRealm, work: (context: WriteContext) => Promise<T>): Promise<T>
  /** Throws forbidden unless the caller may do this in every one of the realms, whether they exist or not. */
  demand(caller: Caller, permission: Permission, realms: readonly string[]): Promise<void>
  /** What the caller may administer. Throws forbidden when that is nothing in any realm. */
  demandPower(caller: Caller): Promise<Power>
  /** A read that is about no realm in particular. */
  look<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** The realms of these names, as far as they are there. One statement. */
  find(names: readonly string[]): Promise<RealmRow[]>
  /** All realms, by name. */
  realms(): Promise<RealmRow[]>
  /** Throws when the store does not answer. */
  ping(): Promise<void>
  /** From now on, the store is opened with another key. */
  replaceKey(next: Uint8Array): Promise<void>
  announce(url: string): Promise<void>
  close(): Promise<void>
}

/** A realm to make: its settings, and ids that are wished for its objects, by address. */
export interface NewRealm {
  readonly representation: Representation
  readonly id?: string | undefined
  readonly ids?: ReadonlyMap<string, string>
}

/** What opening needs: where the store is, the key of its secrets, lists of passwords, and what may be watched or set by tests. */
export interface ServiceOptions {
  readonly location: StoreLocation
  readonly key: Uint8Array
  /** The folder of lists of passwords that nobody may choose. */
  readonly passwordLists?: string | undefined
  readonly clock?: () => Date
  readonly onStatement?: StatementListener
}

/** Regent itself. */
export const SYSTEM: Caller = { actor: { kind: 'system' } }

/** Opens the service on its store. Throws FolderInUse, what the database says, or that the key is not the store's. */
export async function openService({
  location,
  key,
  passwordLists,
  clock = () => new Date(),
  onStatement,
}: ServiceOptions): Promise<Service> {
  const store = await openStore(location, onStatement)
  const blacklists = openBlacklists(passwordLists)
  const vault = await unlock(store, key).catch(async (error: unknown) => {
    await store.close()
    throw error
  })

  const contextFor = async (
    tx: Transaction,
    caller: Caller,
    realm: RealmRow,
    outbox = { filled: false },
    power?: Power,
  ): Promise<Context> => {
    return {
      tx,
      realm,
      actor: caller.actor,
      now: clock(),
      vault,
      blacklists,
      power: power ?? (await powerFor(tx, caller)),
      mayLockOut: caller.mayLockOut,
      mayDrift: caller.mayDrift,
      overwritten: caller.overwritten,
      outbox,
    }
  }
  const found = (realm: RealmRow | undefined): RealmRow => {
    if (!realm) throw failure('not_found', 'Realm not found.')
    return realm
  }
  const rowFor = async (tx: Transaction, realm: string | RealmRow): Promise<RealmRow> =>
    typeof realm === 'string' ? found(await findRealm(tx, realm)) : realm
  /** One transaction, after whose commit leaves what it has put into the outbox. The lease is looked at last of all. */
  const committed = async <T>(
    work: (tx: Transaction, outbox: Context['outbox']) => Promise<T>,
    { lease, deadline }: Pick<Caller, 'lease' | 'deadline'> = {},
  ): Promise<T> => {
    const outbox = { filled: false }
    const result = await store.transaction(
      async (tx) => {
        if (lease) await boundSilence(tx, lease.seconds)
        const done = await work(tx, outbox)
        if (lease) await demandLease(tx, lease)
        return done
      },
      { deadline },
    )
    if (outbox.filled) service.outbox?.wake()
    return result
  }
  const listeners = new Set<(event: ToldEvent) => void>()
  const tellAll = (events: readonly ToldEvent[]) => {
    for (const listener of listeners) events.forEach(listener)
  }
  const finish = async <T>(context: WriteContext, work: (context: WriteContext) => Promise<T>): Promise<T> => {
    const result = await work(context)
    await demandAdministrator(context)
    await flush(context)
    return result
  }

  const service: Service = {
    engine: store.engine,
    vault,
    clock,
    outbox: undefined,
    blacklists,
    applies: { changed: 0, unchanged: 0, failed: 0 },
    attempts: { delivered: 0, postponed: 0, dropped: 0 },
    read: (caller, realm, work) =>
      store.read(async (tx) => work(await contextFor(tx, caller, await rowFor(tx, realm), undefined, caller.power))),
    snapshot: (caller, name, work) =>
      store.transaction(
        async (tx) => {
          const realm = await findRealm(tx, name)
          return work(realm && (await contextFor(tx, caller, realm)))
        },
        { snapshot: true, deadline: caller.deadline },
      ),
    async write(caller, name, work, { master } = {}) {
      const attempt = (caller: Caller) =>
        committed(async (tx, outbox) => {
          const locked = await lockRealms(tx, master ? [name, MASTER] : [name])
          const realm = found(locked.find((one) => one.name === name))
          return finish(await writable(await contextFor(tx, caller, realm, outbox)), work)
        }, caller)
      try {
        return await attempt(caller)
      } catch (error) {
        // Where nobody administered before, nobody is locked out by this.
        if (!(error instanceof ServiceError && error.code === 'lock_out')) throw error
        if (await service.read(SYSTEM, MASTER, isAdministered)) throw error
        return attempt({ ...caller, mayLockOut: true })
      }
    },
    async runtime(caller, which, work) {
      const { refusal, value, told } = await committed(async (tx, outbox) => {
        const realm = await rowFor(tx, which)
        const context = { ...(await contextFor(tx, caller, realm, outbox)), userEvents: [] }
        const outcome = await work(context).then(
          (value) => ({ value, refusal: undefined }),
          (error) => {
            if (error instanceof Refusal) return { value: undefined as never, refusal: error }
            throw error
          },
        )
        return { ...outcome, told: await writeUserEvents(context, context.userEvents) }
      })
      tellAll(told)
      if (refusal) throw refusal
      return value
    },
    async tell(realm, events) {
      const write = async (tx: Transaction, outbox: Context['outbox']) =>
        writeUserEvents(await contextFor(tx, SYSTEM, realm, outbox), events)
      // One statement needs no transaction; mails go with the event or not at all.
      const told = mailsEvents(realm) ? committed(write) : store.read((tx) => write(tx, { filled: false }))
      tellAll(await told)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    subscribe: store.subscribe,
    notify: ({ tx }, wake) => wakeAll(tx, wake),
    create: (caller, realm, work) =>
      committed(async (tx, outbox) => {
        // Locked is master only when its own part is written: what is new, nobody else waits for.
        const master = await findRealm(tx, MASTER)
        // The first realm of a store is master itself, which nobody but Regent makes.
        const context = await contextFor(tx, caller, master ?? rowOf({ number: 0, id: '', name: '' }, {}), outbox)
        return finish(await createRealm(context, realm.representation, realm), work)
      }, caller),
    async demand(caller, permission, realms) {
      const power = await store.read((tx) => powerFor(tx, caller))
      for (const name of realms) demandIn(power, name, permission)
    },
    async demandPower(caller) {
      const power = caller.power ?? (await store.read((tx) => powerFor(tx, caller)))
      if (isNothing(power)) throw failure('forbidden', 'HTTP 403 Forbidden')
      return power
    },
    look: (work) => store.read(work),
    find: (names) => store.read((tx) => findRealms(tx, names)),
    realms: () => store.read(listRealms),
    ping: () => store.read(ping),
    replaceKey: (next) => replaceKey(store, key, next),
    announce: (url) => store.announce(url),
    async close() {
      await service.outbox?.close()
      await store.close()
    },
  }
  return service
}

async function powerFor(tx: Transaction, { user, limit }: Caller): Promise<Power> {
  const power = user ? await powerOf(tx, user) : everything
  return limit ? within(power, limit) : power
}
