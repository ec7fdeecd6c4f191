// The REST operations on LDAP user stores: names, synchronizations, and the users that were imported.
import { parseComponentPath } from '../../../kinds/component.ts'
import { LDAP_MAPPER, USER_STORAGE } from '../../../kinds/component-types.ts'
import { selectImportedUsers } from '../../../store/users/federated-users.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import type { Caller, Service } from '../../context/service.ts'
import { findMembershipMapper } from '../../federation/membership-mapper.ts'
import { type SyncCounts, synchronizeUsers } from '../../federation/synchronize.ts'
import { synchronizeFromDirectory, synchronizeToDirectory } from '../../federation/synchronize-groups.ts'
import { writers } from '../../kinds/index.ts'
import { type LiveObject, listObjects } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { listUserStores, type UserStore } from '../../users/user-store.ts'
import { deleteImported } from '../../users/users.ts'
import { getObject } from '../common/resource.ts'

/** Keycloak: SynchronizationResult. */
export interface SynchronizationResult extends Readonly<SyncCounts> {
  readonly ignored: boolean
  readonly status: string
}

/** The users that one transaction removes or unlinks. */
const CHUNK = 1_000

/** Returns the name of a user federation provider. Throws not_found, forbidden. */
export async function getStoreName(context: Context, id: string): Promise<{ id: string; name: string }> {
  requirePermissions(context, 'list-users')
  const component = await getProvider(context, id)
  return { id, name: parseComponentPath(component.key[0]!).name ?? '' }
}

/** Synchronizes the users of a user store. Must not be called inside a transaction. Throws invalid, not_found, forbidden. */
export async function synchronizeStore(
  service: Service,
  caller: Caller,
  { realm, id, action }: { readonly realm: string; readonly id: string; readonly action: string | undefined },
): Promise<SynchronizationResult> {
  const store = await service.read(caller, realm, async (context) => {
    requirePermissions(context, 'manage-users')
    await getProvider(context, id)
    if (!action) throw failure('invalid', 'Missing action', { form: 'error' })
    if (action !== 'triggerFullSync' && action !== 'triggerChangedUsersSync')
      throw failure('invalid', `Unknown action: ${action}`, { form: 'error' })
    return findStore(context, id)
  })
  if (!store) return { ...NOTHING, ignored: false, status: describeUsers(NOTHING) }
  if (!store.synchronizes)
    throw failure('invalid', `The user federation provider "${store.name}" has importEnabled false: set it to true`)
  const counts = await synchronizeUsers(service, { store, mode: action === 'triggerFullSync' ? 'full' : 'changed' })
  return { ignored: false, ...counts, status: describeUsers(counts) }
}

const NOTHING: SyncCounts = { added: 0, updated: 0, removed: 0, failed: 0 }

/** Keycloak: SynchronizationResult.getStatus. */
function describeUsers({ added, updated, removed, failed }: SyncCounts): string {
  return [
    `${added} imported users, ${updated} updated users`,
    removed && `, ${removed} removed users`,
    failed && `, ${failed} users failed sync! See server log for more details`,
  ]
    .filter(Boolean)
    .join('')
}

/** Synchronizes the groups or roles of a mapper. Must not be called inside a transaction. Throws invalid, not_found, forbidden. */
export async function synchronizeMapper(
  service: Service,
  caller: Caller,
  address: {
    readonly realm: string
    readonly store: string
    readonly id: string
    readonly direction: string | undefined
  },
): Promise<SynchronizationResult> {
  const { direction = 'null' } = address
  const store = await service.read(caller, address.realm, async (context) => {
    requirePermissions(context, 'manage-users')
    await getObject(context, 'component', { id: address.store, notFound: 'Parent model not found' })
    const [mapper] = await listObjects(context, 'component', { ids: [address.id] })
    if (!mapper || parseComponentPath(mapper.key[0]!).providerType !== LDAP_MAPPER)
      throw failure('not_found', 'Mapper model not found')
    if (direction !== 'fedToKeycloak' && direction !== 'keycloakToFed')
      throw failure('invalid', `Unknown direction: ${direction}`, { form: 'error' })
    return findStore(context, address.store)
  })
  const mapper = store?.mappers.find(({ id }) => id === address.id)
  const settings = store && mapper && findMembershipMapper(store, mapper)
  if (!store || !settings) return { ...NOTHING, ignored: false, status: describeUsers(NOTHING) }
  const synchronize = direction === 'fedToKeycloak' ? synchronizeFromDirectory : synchronizeToDirectory
  return { ignored: false, ...(await synchronize(service, store, settings)) }
}

/** Deletes the users that were imported from a user store. Throws not_found, forbidden. */
export async function removeImportedUsers(service: Service, caller: Caller, address: StoreAddress): Promise<void> {
  await changeImportedUsers(service, caller, {
    ...address,
    change: deleteImported,
  })
}

/** Makes the users that were imported from a user store local users. Throws not_found, forbidden. */
export async function unlinkUsers(service: Service, caller: Caller, address: StoreAddress): Promise<void> {
  await changeImportedUsers(service, caller, {
    ...address,
    async change(context, users) {
      await writers.user.update(
        context,
        users.map((live) => ({ live, set: { federationLink: null } })),
      )
    },
  })
}

/** A user store, by the name of the realm and its id. */
export interface StoreAddress {
  readonly realm: string
  readonly id: string
}

interface ImportedUserChange extends StoreAddress {
  readonly change: (context: WriteContext, users: readonly LiveObject[]) => Promise<void>
}

async function changeImportedUsers(
  service: Service,
  caller: Caller,
  { realm, id, change }: ImportedUserChange,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const previous: string = after
    after = await service.write(caller, { realm, isLarge: true }, async (context) => {
      requirePermissions(context, 'manage-users')
      await getProvider(context, id)
      const ids = await selectImportedUsers(context.tx, context.realm.number, {
        store: id,
        limit: CHUNK,
        after: previous,
      })
      if (!ids.length) return undefined
      await change(context, await listObjects(context, 'user', { ids }))
      return ids.at(-1)
    })
  }
}

async function findStore(context: Context, id: string): Promise<UserStore | undefined> {
  return (await listUserStores(context)).find((store) => store.id === id)
}

/** Returns a user federation provider. Throws not_found. */
async function getProvider(context: Context, id: string): Promise<LiveObject> {
  const component = await getObject(context, 'component', { id, notFound: 'Could not find component' })
  if (parseComponentPath(component.key[0]!).providerType !== USER_STORAGE)
    throw failure('not_found', 'found, but not a UserStorageProvider')
  return component
}
