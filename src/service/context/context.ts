// The first argument of every function of the service: one call by one actor on one realm, in one transaction.

import type { FlatFields } from '../../kinds/compare.ts'
import type { UnenforcedValue } from '../../kinds/effects/find-unenforced.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { UserEventType } from '../../kinds/user-events.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import type { WakeUp } from '../../store/database/wake-up.ts'
import type { AdminEvent } from '../../store/journal/admin-events.ts'
import type { AuditSink } from '../../store/journal/audit-outbox.ts'
import type { Actor, JournalEntry } from '../../store/journal/journal.ts'
import type { RealmRow } from '../../store/realms.ts'
import type { AdminPolicies } from '../policy-evaluation/policy-grants.ts'
import type { AdminPermissions } from './admin-permissions.ts'
import type { PasswordBlacklists } from './password-blacklists.ts'
import type { RealmCache } from './realm-cache.ts'
import type { Vault } from './vault.ts'

/** A call by an actor on a realm, inside a transaction. */
export interface Context {
  readonly tx: Transaction
  readonly realm: RealmRow
  readonly actor: Actor
  readonly now: Date
  readonly vault: Vault
  readonly passwordBlacklists: PasswordBlacklists
  /** Attributes by which clients can be searched, besides those of Keycloak. */
  readonly searchableClientAttributes: readonly string[]
  readonly cache: RealmCache
  /** Receivers of the audit trail; empty: there is none. */
  readonly auditSinks: readonly AuditSink[]
  /** Objects that may be found in caches. Absent: none, so that all are in the state that the transaction sees. */
  readonly cached?: 'configuration' | 'configuration and users' | undefined
  /** The admin permissions of the actor. */
  readonly permissions: AdminPermissions
  /** Returns the policies about the administrators of the realm; undefined if there are none. They are cached. */
  readonly findAdminPolicies: (context: Context) => Promise<AdminPolicies | undefined>
  /** The user who calls, with the claims of the token. Absent: the caller has no fine-grained admin permissions. */
  readonly callingUser?: CallingUser | undefined
  /** The caller confirms a change that leaves no administrator of all realms, or takes their own access. */
  readonly allowLockOut?: true | undefined
  /** The caller confirms a change of what a source manages and refuses to have changed. */
  readonly allowDrift?: true | undefined
  /** The transaction applies what sources declare, which was checked for conflicts between them before. */
  readonly isApply?: true
  /** Collects what the caller should know about the changes, for the response. Absent: it is not reported. */
  readonly writeReport?: WriteReport | undefined
  /** Ids of objects by address, such as those that this transaction has created. They are not looked up. */
  readonly knownIds?: ReadonlyMap<string, string>
  readonly afterCommit: AfterCommit
}

/** The user of a token, with its claims. */
export interface CallingUser {
  readonly id: string
  /** The name of their realm. */
  readonly realm: string
  readonly claims: Readonly<Record<string, unknown>>
}

/** The effects of a transaction that cause work after its commit. */
export interface AfterCommit {
  /** It has added messages to the outbox, whose worker is woken. */
  hasMessages: boolean
  /** It has added entries to the audit trail, whose worker is woken. */
  hasAuditEntries: boolean
  /** Steps of workflows are due, whose runner is woken. */
  hasDueSteps: boolean
  /** Number of journal entries. If there are many, the statistics of the query planner are updated. */
  journalEntries: number
  /** The transaction announces them to other processes. The cache of this process is updated after the commit. */
  readonly accessChanges: AccessChange[]
}

/** A change of a user, session or token, whose id is the name, or of any object of a realm on which tokens depend. */
export interface AccessChange extends WakeUp {
  readonly topic: 'access'
  readonly realm: number
}

/** A context that may write runtime data such as log-ins and sessions, but neither configuration nor users. The realm is not locked. */
export interface RuntimeContext extends Context {
  /** The user events of the call, written at its end. */
  readonly userEvents: UserEvent[]
}

/** A context that may write, under the lock of the realm. `flushJournal` writes its journal entries before the commit. */
export interface WriteContext extends Context {
  /** The number of the first journal entry of this transaction, which is the version of every object that it writes. */
  readonly version: number
  /** The time of its journal entries. No other revision of the realm has it. */
  readonly changedAt: Date
  /** Entries of the configuration stream. */
  readonly entries: JournalEntry[]
  /** Entries of the users stream. */
  readonly userEntries: JournalEntry[]
  /** The new values of the fields in an entry, where they are known. */
  readonly newValues: Map<JournalEntry, FlatFields>
  /** Admin events, written together with the journal. */
  readonly adminEvents: AdminEvent[]
  /** Details that the operation adds to its admin event; `none`: it has no event. */
  readonly adminEvent: Partial<AdminEvent> & { none?: true }
  /** Changes of users of writable directories, which are written there before the commit. */
  readonly directoryChanges: DirectoryChange[]
  /** The values that client policies have set in declared clients, beside those of their documents. */
  readonly policyValues: PolicyValue[]
  /** Other users may be created at the same time, so that the transaction may write nothing but new users. */
  readonly createsUsersOnly?: true
  /** Requested ids of the service accounts that clients create, by username. */
  readonly accountIds?: ReadonlyMap<string, string>
  /** The number of entries of the configuration stream that are written already. */
  flushedEntries: number
  readonly lastChanges: LastChanges
}

/** A change of a user of a directory. */
export interface DirectoryChange {
  readonly operation: 'create' | 'update' | 'delete'
  /** The id of the user store. */
  readonly store: string
  /** The user before an update or deletion, or after the creation. */
  readonly user: { readonly id: string; readonly representation: Representation }
  /** New values by path, null for none. */
  readonly set: FlatFields
  /** Keys of groups and roles by field. */
  readonly relations: Readonly<Record<string, { readonly add?: readonly Key[]; readonly remove?: readonly Key[] }>>
  /** The new password. */
  readonly password?: string | undefined
}

/** A value that a client policy has set in a new client. */
export interface PolicyValue {
  readonly clientId: string
  readonly path: string
  readonly value: Json
  readonly policy: string
}

/** The last changes of a locked realm, as far as the transaction can know them. */
export interface LastChanges {
  /** The revision at which the realm was locked. */
  readonly lockedAt: number
  /** A revision after which kinds without an entry in `byKind` did not change. */
  readonly knownSince: number
  /** By kind, the revision of the last change, or a later one. This transaction adds its own changes. */
  readonly byKind: Map<KindName, number>
}

/** Something that happened to a user or client; with an error, an attempt that failed. */
export interface UserEvent {
  readonly type: UserEventType
  /** The client id as the request gave it, whether such a client exists or not. */
  readonly client?: string | undefined
  /** Id of the user. */
  readonly user?: string | undefined
  /** Id of the session. */
  readonly session?: string | undefined
  /** The network address. Absent: that of the actor. */
  readonly address?: string | undefined
  /** Keycloak: an error code such as `user_not_found`. */
  readonly error?: string | undefined
  readonly details?: Readonly<Record<string, string | undefined>>
}

/** A report about the changes of a call, for its caller. */
export interface WriteReport {
  readonly overwrittenDeclarations: OverwrittenDeclaration[]
  readonly unenforcedValues: WrittenUnenforcedValue[]
}

/** Creates a report that is still empty. */
export const createWriteReport = (): WriteReport => ({ overwrittenDeclarations: [], unenforcedValues: [] })

/** A written value that is not enforced. */
export interface WrittenUnenforcedValue extends UnenforcedValue {
  /** The kind and name of the object, for messages. */
  readonly object: string
}

/** A declaration of a source that a call overwrites. */
export interface OverwrittenDeclaration {
  readonly source: string
  /** The kind and name of the object, for messages. */
  readonly object: string
  /** The field. Absent: the object is deleted. */
  readonly path?: string
  /** `file:line`. */
  readonly position: string
  /** Whether the source refuses it. */
  readonly refused: boolean
}
