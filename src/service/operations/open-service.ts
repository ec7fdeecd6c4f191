// Opens the service: the composition root, which puts its parts together.
import { createOutbound, type Outbound } from '../../lib/http/outbound.ts'
import { Measurements } from '../../lib/measurements.ts'
import { openStore, type StatementListener, type Store, type StoreLocation } from '../../store/database/database.ts'
import { ping } from '../../store/database/store-settings.ts'
import { sendWakeUp } from '../../store/database/wake-up.ts'
import type { AuditSink } from '../../store/journal/audit-outbox.ts'
import { findRealms, listRealms } from '../../store/realms.ts'
import { hasNoPermissions } from '../context/admin-permissions.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { type KeyStoreDirectory, openKeyStoreDirectory } from '../context/key-store-directory.ts'
import { openPasswordBlacklists, type PasswordBlacklists } from '../context/password-blacklists.ts'
import { RealmCache } from '../context/realm-cache.ts'
import type { Caller, Service } from '../context/service.ts'
import type { SourcePermissionLookup } from '../context/source-permissions.ts'
import { openVaultDirectory, type VaultDirectory } from '../context/vault-directory.ts'
import { replaceStoreKey, unlockVault } from '../context/vault-key.ts'
import { writeDirectoryChanges } from '../federation/directory-writes.ts'
import { requireRealmPermission } from '../permissions/require-permissions.ts'
import { createReads, createRuntimeWrites, createWrites } from './reads-and-writes.ts'
import { readCallerPermissions } from './transactions.ts'

/** The store and its key, and parts that settings or tests replace. */
export interface ServiceOptions {
  readonly location: StoreLocation
  /** The key of the key file. */
  readonly key: Uint8Array
  /** Default: none. */
  readonly passwordBlacklists?: PasswordBlacklists
  /** The secrets to which `${vault.key}` refers. Default: none. */
  readonly vaultDirectory?: VaultDirectory
  /** The files of key providers of the type `java-keystore`. Default: none. */
  readonly keyStoreDirectory?: KeyStoreDirectory
  /** Finds the permissions of sources in the settings. Default: none. */
  readonly findSourcePermissions?: SourcePermissionLookup
  /** Whether the authors of a plan may not approve it. Default: they may. */
  readonly requiresSecondApprover?: boolean | undefined
  /** Attributes by which clients can be searched, besides those of Keycloak. */
  readonly searchableClientAttributes?: readonly string[] | undefined
  /** Absent: public addresses only. */
  readonly outbound?: Outbound
  /** Receivers of the audit trail. Default: there is none. */
  readonly auditSinks?: readonly AuditSink[]
  readonly clock?: () => Date
  readonly onStatement?: StatementListener
}

/** Opens the service on its store. Throws FolderInUse, the error of the database, or an error if the key is not that of the store. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { location, key, outbound = createOutbound({}), clock = () => new Date() } = options
  const {
    auditSinks = [],
    searchableClientAttributes = [],
    passwordBlacklists = openPasswordBlacklists(undefined),
  } = options
  const { vaultDirectory = openVaultDirectory(undefined), keyStoreDirectory = openKeyStoreDirectory(undefined) } =
    options
  const store = await openStore(location, options.onStatement)
  const vault = await unlockVault(store, key).catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  const cache = new RealmCache(store, clock)
  const shared = { cache, vault, clock, passwordBlacklists, searchableClientAttributes, auditSinks }
  const parts = {
    store,
    ...shared,
    writeDirectories: (context: WriteContext) => writeDirectoryChanges(service, context),
    wakeOutbox: () => service.outboxWorker?.wake(),
    wakeAudit: () => service.auditWorker?.wake(),
    wakeWorkflows: () => service.workflowRunner?.wake(),
  }
  const service: Service = {
    engine: store.engine,
    ...shared,
    outbound,
    warn: () => {},
    vaultDirectory,
    keyStoreDirectory,
    requiresSecondApprover: options.requiresSecondApprover === true,
    sourcePermissionLookups: options.findSourcePermissions ? [options.findSourcePermissions] : [],
    notificationReceivers: [],
    outboxWorker: undefined,
    auditWorker: undefined,
    workflowRunner: undefined,
    listResourceReadiness: undefined,
    applyCounts: { changed: 0, unchanged: 0, failed: 0 },
    deliveryCounts: { delivered: 0, postponed: 0, dropped: 0 },
    measurements: new Measurements(),
    ...createReads(parts),
    ...createWrites(parts),
    ...createRuntimeWrites(parts),
    ...createPermissionChecks(store, cache),
    ...createStoreAccess(store),
    replaceKey: (newKey) => replaceStoreKey(store, key, newKey),
    async close() {
      await service.workflowRunner?.close()
      await service.outboxWorker?.close()
      await service.auditWorker?.close()
      await store.close()
    },
  }
  return service
}

function createPermissionChecks(
  store: Store,
  cache: RealmCache,
): Pick<Service, 'requirePermission' | 'getPermissions'> {
  const mayHavePolicies = async ({ user, claims }: Caller) => {
    const [realm] = user && claims ? await cache.findRealms([user.realm]) : []
    return realm?.hasAdminPolicies === true
  }
  return {
    async requirePermission(caller, permission, realms) {
      const permissions = await store.read((tx) => readCallerPermissions(tx, caller))
      for (const realm of realms) requireRealmPermission(permissions, realm, permission)
    },
    async getPermissions(caller) {
      const permissions = caller.permissions ?? (await store.read((tx) => readCallerPermissions(tx, caller)))
      if (hasNoPermissions(permissions) && !(await mayHavePolicies(caller)))
        throw failure('forbidden', 'HTTP 403 Forbidden')
      return permissions
    },
  }
}

function createStoreAccess(
  store: Store,
): Pick<Service, 'subscribe' | 'notify' | 'query' | 'findRealms' | 'listRealms' | 'ping' | 'announceUrl'> {
  return {
    subscribe: store.subscribe,
    notify: ({ tx }, wakeUp) => sendWakeUp(tx, wakeUp),
    query: (work) => store.read(work),
    findRealms: (names) => store.read((tx) => findRealms(tx, names)),
    listRealms: () => store.read(listRealms),
    ping: () => store.read(ping),
    announceUrl: (url) => store.announce(url),
  }
}
