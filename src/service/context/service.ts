// The service as its callers see it: every caller gets a context on one realm inside one transaction.
import type { Permission } from '../../kinds/admin-roles.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import type { Deadline } from '../../lib/timing/deadline.ts'
import type { Store } from '../../store/database/database.ts'
import type { Lease } from '../../store/database/leases.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import type { Wake, WakeUps } from '../../store/database/wake.ts'
import type { Actor } from '../../store/journal/journal.ts'
import type { NewUserEvent } from '../../store/journal/user-events.ts'
import type { RealmRow } from '../../store/realms.ts'
import type { Blacklists, Context, Overwritten, RuntimeContext, UserEvent, WriteContext } from './context.ts'
import type { Power } from './power.ts'
import type { Transport } from './transport.ts'
import type { Vault } from './vault.ts'

/** Who calls: Regent itself and its operator on their own store have all power; others have what their roles give. */
export interface Caller {
  readonly actor: Actor
  /** Absent: all power. */
  readonly user?: { readonly realm: string; readonly id: string; readonly session?: string }
  /** Of what the user may, only this is the caller's: more their token does not carry. Absent: all of it. */
  readonly limit?: Power
  /** What is left of it, as it was read a moment ago: whoever only reads need not look it up again. Who writes does. */
  readonly power?: Power
  /** How the request came; absent: not over the network. */
  readonly transport?: Transport
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
  /** Where connections may go that realms, documents and callers name. */
  readonly outbound: Outbound
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

/** Regent itself. */
export const SYSTEM: Caller = { actor: { kind: 'system' } }

/** An event in its realm, as listeners are told of it. */
export interface ToldEvent extends NewUserEvent {
  readonly realm: Pick<RealmRow, 'id' | 'name'>
}

/** Who delivers the outbox in a process. */
export interface Outbox {
  /** Looks for what is due. Somebody must do so every now and then: for what is due again, and what other processes have left. */
  wake(): void
  /** Resolves when everything that was due has been tried. */
  settled(): Promise<void>
  /** Lets what is being delivered end, and takes nothing more. */
  close(): Promise<void>
}
