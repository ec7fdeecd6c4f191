// What every function of the service takes first, and the unit of work that it stands for.
import type { FlatFields } from '../../kinds/compare.ts'
import type { UserEventType } from '../../kinds/user-events.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import type { AdminEvent } from '../../store/journal/admin-events.ts'
import type { Actor, JournalEntry } from '../../store/journal/journal.ts'
import type { RealmRow } from '../../store/realms.ts'
import type { Power } from './power.ts'
import type { Vault } from './vault.ts'

/** One call by one actor on one realm, inside one transaction. */
export interface Context {
  readonly tx: Transaction
  readonly realm: RealmRow
  readonly actor: Actor
  readonly now: Date
  readonly vault: Vault
  /** Lists of passwords that nobody may choose. */
  readonly blacklists: Blacklists
  /** What the actor may administer. */
  readonly power: Power
  /** Whether the actor says that nobody may be left who administers every realm. */
  readonly mayLockOut?: true | undefined
  /** Whether the actor says that what sources state is to be changed nevertheless. */
  readonly mayDrift?: true | undefined
  /** What is done is what sources state: they have vetoed each other before. */
  readonly ofSources?: true
  /** What sources state and the actor changed: whoever answers tells it. Absent: nobody does. */
  readonly overwritten?: Overwritten[] | undefined
  /** Ids of objects that this transaction has made, by address, where the work keeps them: they need not be looked up. */
  readonly made?: ReadonlyMap<string, string>
  /** Whether there is something in the outbox for which whoever delivers it is to be woken after the commit. */
  readonly outbox: { filled: boolean }
}

/** A context that may write what is neither configuration nor people: log-ins, sessions. The realm is not locked. */
export interface RuntimeContext extends Context {
  /** What happened: see user-events.ts. */
  readonly userEvents: UserEvent[]
}

/** A context under the realm's lock, which may write. What it journals is written by `flush`, before the commit. */
export interface WriteContext extends Context {
  /** Number of the first journal entry of this transaction: the version of everything that it writes. */
  readonly version: number
  readonly entries: JournalEntry[]
  /** Entries of the people stream. */
  readonly people: JournalEntry[]
  /** What the fields that an entry names say after it, where that is known. */
  readonly became: Map<JournalEntry, FlatFields>
  /** Admin events that are written together with the journal, in the same transaction. */
  readonly events: AdminEvent[]
  /** What the work says of the event of its operation, because the operation's description cannot know it: `none`, that it leaves none. */
  readonly event: Partial<AdminEvent> & { none?: true }
  /** How many entries `flush` has written already. */
  flushed: number
}

/** What happened; with an error, what was tried. */
export interface UserEvent {
  readonly type: UserEventType
  /** As it called itself, whether there is such a client or not. */
  readonly client?: string | undefined
  /** Ids. */
  readonly user?: string | undefined
  readonly session?: string | undefined
  /** The network address. Absent: that of the actor. */
  readonly address?: string | undefined
  /** Keycloak: a word for programs, such as `user_not_found`. */
  readonly error?: string | undefined
  readonly details?: Readonly<Record<string, string | undefined>>
}

/** Something that a source states, and a call changes. */
export interface Overwritten {
  readonly source: string
  /** How people call the object. */
  readonly object: string
  /** Absent: the object goes. */
  readonly path?: string
  /** `file:line`. */
  readonly at: string
  readonly refused: boolean
}

/** The lists that there are. */
export interface Blacklists {
  /** Whether there is a list of that name. */
  has(name: string): boolean
  /** Whether the password is on the list. Throws what reading says where the list is gone meanwhile. */
  holds(name: string, password: string): Promise<boolean>
}
