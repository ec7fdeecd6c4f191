// The interface of the service. Each call gets a context on one realm, inside one transaction.
import type { Permission } from '../../kinds/admin-roles.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import type { Measurements } from '../../lib/measurements.ts'
import type { Deadline } from '../../lib/timing/deadline.ts'
import type { Store } from '../../store/database/database.ts'
import type { Lease } from '../../store/database/leases.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import type { WakeUp, WakeUpChannel } from '../../store/database/wake-up.ts'
import type { AuditSink } from '../../store/journal/audit-outbox.ts'
import type { Actor } from '../../store/journal/journal.ts'
import type { NewUserEvent } from '../../store/journal/user-events.ts'
import type { PermissionVersions, RealmRow } from '../../store/realms.ts'
import type { AdminPermissions } from './admin-permissions.ts'
import type { IssuedToken } from './cached-values.ts'
import type { Context, RuntimeContext, UserEvent, WriteContext, WriteReport } from './context.ts'
import type { KeyStoreDirectory } from './key-store-directory.ts'
import type { NotificationReceiver } from './notification-receiver.ts'
import type { PasswordBlacklists } from './password-blacklists.ts'
import type { RealmCache } from './realm-cache.ts'
import type { SourcePermissionLookup } from './source-permissions.ts'
import type { Transport } from './transport.ts'
import type { Vault } from './vault.ts'
import type { VaultDirectory } from './vault-directory.ts'

/** The caller of the service. Regent itself, and commands on the store, have all permissions; users have those of their roles. */
export interface Caller {
  readonly actor: Actor
  /** The caller has no admin permissions, such as an application that registers itself as a client. */
  readonly isUnprivileged?: true
  /** Absent, without `isUnprivileged`: all permissions. */
  readonly user?: { readonly realm: string; readonly id: string; readonly session?: string }
  /** The token of the request. Its status and permissions are evaluated again where the cached ones may be outdated. */
  readonly token?: IssuedToken
  /** The resulting permissions as they were read a moment ago: reads use them, and writes if the versions are current. */
  readonly permissions?: AdminPermissions
  /** The versions of what the permissions depend on. */
  readonly permissionVersions?: PermissionVersions
  /** The transport of the request. Absent: not over the network. */
  readonly transport?: Transport
  /** The claims of the token, for fine-grained admin permissions. Absent: the caller has none. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** The caller confirms a change that leaves no administrator of all realms, or takes their own access. */
  readonly allowLockOut?: true
  /** The caller confirms a change of what a source manages and refuses to have changed. */
  readonly allowDrift?: true
  /** Collects what the caller should know about the changes. */
  readonly writeReport?: WriteReport
  /** Writes are committed only while the caller has this lease. Absent: always. */
  readonly lease?: Lease
  /** The end of a snapshot or write; afterwards it is rolled back. */
  readonly deadline?: Deadline | undefined
}

/** The number of Kubernetes resources of a kind in a namespace with the same condition `Ready`. */
export interface ResourceReadiness {
  readonly kind: string
  readonly namespace: string
  /** The reason of the condition; `Unknown` before the first status. */
  readonly reason: string
  readonly isReady: boolean
  readonly count: number
}

/** An open store with its vault, clock and connections: reads and writes realms. */
export interface Service {
  readonly engine: Store['engine']
  readonly cache: RealmCache
  readonly vault: Vault
  readonly clock: () => Date
  /** Guards connections to addresses that realms, documents and callers name. */
  readonly outbound: Outbound
  /** Delivers the messages of the outbox. Absent: another process does. */
  outboxWorker: OutboxWorker | undefined
  /** Delivers the audit trail. Absent: another process does. */
  auditWorker: OutboxWorker | undefined
  /** Receivers of the audit trail; empty: there is none. */
  readonly auditSinks: readonly AuditSink[]
  /** Receivers of notifications. The server sets them; without a server, there are none. */
  notificationReceivers: readonly NotificationReceiver[]
  /** Executes the steps of workflows that are due. Absent: another process does. */
  workflowRunner: TaskRunner | undefined
  /** Writes a warning to the log. The server replaces it; without a server, warnings are dropped. */
  warn: (message: string) => void
  /** The secrets to which `${vault.key}` refers. */
  readonly vaultDirectory: VaultDirectory
  /** The files of key providers of the type `java-keystore`. */
  readonly keyStoreDirectory: KeyStoreDirectory
  readonly passwordBlacklists: PasswordBlacklists
  /** Whether the authors of a plan may not approve it. */
  readonly requiresSecondApprover: boolean
  /** Find permissions of sources by their names. A cluster adds its own. */
  readonly sourcePermissionLookups: SourcePermissionLookup[]
  /** Returns the readiness of Kubernetes resources. Absent: another process applies them, or none does. */
  listResourceReadiness: (() => ResourceReadiness[]) | undefined
  /** Attributes by which clients can be searched, besides those of Keycloak. */
  readonly searchableClientAttributes: readonly string[]
  /** Applies by their outcome, since the service was opened. */
  readonly applyCounts: Record<'changed' | 'unchanged' | 'failed', number>
  /** Attempts to deliver messages by their outcome, since the service was opened. */
  readonly deliveryCounts: Record<'delivered' | 'postponed' | 'dropped', number>
  /** Measures work in the background, for metrics. */
  readonly measurements: Measurements
  /** Reads a realm, by its name or by a row that was read a moment ago and is not looked up again. Throws not_found. */
  read<T>(caller: Caller, realm: string | RealmRow, work: (context: Context) => Promise<T>): Promise<T>
  /** Reads a realm in one snapshot of the store; the context is undefined if the realm does not exist. */
  readSnapshot<T>(caller: Caller, realm: string, work: (context: Context | undefined) => Promise<T>): Promise<T>
  /** Writes to a realm in one transaction, under its lock. Throws not_found. */
  write<T>(caller: Caller, target: WriteTarget, work: (context: WriteContext) => Promise<T>): Promise<T>
  /** Writes runtime data such as log-ins and sessions, without a lock. A `Refusal` is thrown after the commit. */
  writeRuntime<T>(caller: Caller, realm: string | RealmRow, work: (context: RuntimeContext) => Promise<T>): Promise<T>
  /** Records user events that no transaction belongs to, as far as the realm stores them. One statement, or none. */
  recordUserEvents(realm: RealmRow, events: readonly UserEvent[]): Promise<void>
  /** Calls the listener with each user event that belongs in the log, after its commit. Returns a function that ends that. */
  onUserEvent(listener: (event: RealmUserEvent) => void): () => void
  /** Calls a function with each wake-up of any process over the same store: see `WakeUp`. Returns a function that ends that. */
  readonly subscribe: WakeUpChannel['subscribe']
  /** Wakes the subscribers of all processes when the transaction is committed. One statement. */
  notify(context: Pick<Context, 'tx'>, wakeUp: WakeUp): Promise<void>
  /** Creates a realm and continues in it, in one transaction. */
  createRealm<T>(caller: Caller, realm: NewRealm, work: (context: WriteContext) => Promise<T>): Promise<T>
  /** Throws forbidden unless the caller has the permission in each of the realms, whether they exist or not. */
  requirePermission(caller: Caller, permission: Permission, realms: readonly string[]): Promise<void>
  /** Returns the admin permissions of the caller. Throws forbidden if they are empty, and there are no policies about administrators in their realm. */
  getPermissions(caller: Caller): Promise<AdminPermissions>
  /** Runs statements that concern no realm in particular; each is a transaction of its own. */
  query<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Returns the realms with these names that exist. One statement. */
  findRealms(names: readonly string[]): Promise<RealmRow[]>
  /** Returns all realms, by name. */
  listRealms(): Promise<RealmRow[]>
  /** Throws if the store does not respond. */
  ping(): Promise<void>
  /** Replaces the key with which the store is opened. */
  replaceKey(newKey: Uint8Array): Promise<void>
  /** Writes the URL of this server into the lock of its folder, for commands on the same folder. */
  announceUrl(url: string): Promise<void>
  close(): Promise<void>
}

/** The name of a realm to write to, or more about the write. */
export type WriteTarget =
  | string
  | {
      readonly realm: string
      /** Master is locked and written too. */
      readonly withMaster?: boolean
      /** Nothing is written but new users with these names and email addresses, so that other users can be created at the same time. */
      readonly newUserNames?: readonly string[]
      /** Other writes do not share its transaction, which takes long. */
      readonly isLarge?: true
    }

/** A realm to create: its representation, and ids to use for its objects, by address. */
export interface NewRealm {
  readonly representation: Representation
  readonly id?: string | undefined
  readonly ids?: ReadonlyMap<string, string>
}

/** The caller of what Regent does by itself, such as the deletion of expired sessions. */
export const SYSTEM: Caller = { actor: { kind: 'system' } }

/** A user event with its realm, as listeners get it. */
export interface RealmUserEvent extends NewUserEvent {
  readonly realm: Pick<RealmRow, 'id' | 'name'>
}

/** Delivers the messages of the outbox in this process. */
export interface OutboxWorker {
  /** Looks for messages that are due. Call it regularly: for retries, and for messages of other processes. */
  wake(): void
  /** Resolves when every message that was due has been tried. */
  whenIdle(): Promise<void>
  /** Ends after the deliveries in progress. */
  close(): Promise<void>
}

/** Runs periodic work that is due, of any realm. Of several processes over a store, one runs each. */
export interface TaskRunner {
  /** Looks for tasks that are due. Call it regularly. */
  wake(): void
  /** Resolves when every task that was due has run. */
  whenIdle(): Promise<void>
  /** Ends after the tasks in progress. */
  close(): Promise<void>
}
