// The writers of components, a tree that is stored as paths. They check the config of known providers.

import { MASTER } from '../../kinds/built-in/index.ts'
import { type FlatFields, flatten, unflatten } from '../../kinds/compare.ts'
import { getParentComponentPath, parseComponentPath } from '../../kinds/component.ts'
import { toCanonicalConfig } from '../../kinds/component-config.ts'
import { LDAP_MAPPER, userFederationSettings } from '../../kinds/component-types.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readFlag, readTextListMap } from '../../kinds/json.ts'
import { findKeyProvider } from '../../kinds/key-providers.ts'
import { MANAGEMENT_CLIENT } from '../../kinds/management-permissions.ts'
import { selectImportedUsers } from '../../store/users/federated-users.ts'
import type { WriteContext } from '../context/context.ts'
import { invalidObject } from '../context/errors.ts'
import { openSecrets } from '../context/secrets.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { createTreeWriters } from '../objects/tree-writers.ts'
import type { ObjectUpdate, Writers } from '../objects/writers.ts'
import { requireGrantableRoleNames } from '../permissions/privilege-escalation.ts'
import { cancelTasks, scheduleTasks } from '../tasks/scheduled-tasks.ts'
import { isLdapStore, readPositive } from '../users/user-store.ts'
import { deleteImported } from '../users/users.ts'
import { findComponentProblem } from './component-checks.ts'
import { firstValue, getSizeOrCurve, parseRealmKey } from './realm-keys.ts'

const kind = kinds.component
const writers = createTreeWriters(kind.name, getParentComponentPath)

/** The writers of components. */
export const components: Writers = {
  ...writers,
  async create(context, objects) {
    const canonical = objects.map((object) => ({ ...object, representation: toCanonical(object.representation) }))
    for (const { representation } of canonical) checkComponent(representation)
    if (canonical.some(({ representation }) => isMembershipMapper(representation))) requireAllRolesOfRealm(context)
    const created = await writers.create(context, canonical)
    await scheduleSynchronizations(context, created)
    return created
  },
  async update(context, updates) {
    await checkDirectoryChanges(context, updates)
    const updated = await writers.update(
      context,
      updates.map((update) => {
        const current = flatten(kind, openSecrets(context.vault, kind, update.live.representation))
        const next = toCanonical(unflatten(kind, { ...current, ...update.set }))
        checkComponent(next)
        const canonical = flatten(kind, next)
        const set = Object.entries(update.set).map(([path, value]) => [path, canonical[path] ?? value])
        return { ...update, set: { ...Object.fromEntries(set), ...clearOutdatedKey(next, update.set) } }
      }),
    )
    await scheduleSynchronizations(context, updated)
    return updated
  },
  async delete(context, objects) {
    const stores = objects.filter(isLdapStore).map(({ id }) => id)
    for (const store of stores) await deleteImportedUsers(context, store)
    for (const { type } of syncTasks) await cancelTasks(context, type, stores)
    await writers.delete(context, objects)
  },
}

/** The scheduled tasks that synchronize user stores, with the settings of their intervals. */
export const syncTasks = [
  { type: 'user-store-full-sync', mode: 'full', setting: 'fullSyncPeriod' },
  { type: 'user-store-changed-sync', mode: 'changed', setting: 'changedSyncPeriod' },
] as const

/** The longest interval of a task, in seconds. */
const LONGEST_INTERVAL = 2 ** 31 - 1

/** Schedules the synchronizations of user stores, or ends those that are disabled. Four statements at most, and none without user stores. */
async function scheduleSynchronizations(context: WriteContext, objects: readonly LiveObject[]): Promise<void> {
  const stores = objects.filter(isLdapStore).map(({ id, representation }) => {
    const config = readTextListMap(representation.config)
    const isActive = ['enabled', 'importEnabled'].every((name) => readFlag(firstValue(config, name), true))
    return { id, read: (name: string) => (isActive ? readPositive(firstValue(config, name)) : undefined) }
  })
  for (const { type, setting } of syncTasks) {
    const tasks = stores.flatMap(({ id, read }) => {
      const seconds = read(setting)
      const intervalSeconds = seconds === undefined ? undefined : Math.min(Math.ceil(seconds), LONGEST_INTERVAL)
      return intervalSeconds === undefined ? [] : [{ type, subject: id, intervalSeconds }]
    })
    await scheduleTasks(context, tasks)
    const ids = stores.flatMap(({ id, read }) => (read(setting) === undefined ? [id] : []))
    await cancelTasks(context, type, ids)
  }
}

/** Whether a component gives users groups or roles of a directory. */
function isMembershipMapper({ path, providerId }: Representation): boolean {
  return (
    parseComponentPath(String(path)).providerType === LDAP_MAPPER &&
    /^(group|role)-ldap-mapper$/.test(String(providerId))
  )
}

/**
 * Throws forbidden if updates decide which groups and roles a directory gives users, and the caller may not grant all admin roles of the
 * realm. One statement, or none.
 */
async function checkDirectoryChanges(context: WriteContext, updates: readonly ObjectUpdate[]): Promise<void> {
  if (context.permissions.all) return
  if (updates.some(({ live, set }) => isMembershipMapper({ ...live.representation, ...set })))
    return requireAllRolesOfRealm(context)
  const changesAddress = updates.some(
    ({ live, set }) => isLdapStore(live) && userFederationSettings.some((name) => `config.${name}` in set),
  )
  if (!changesAddress) return
  const components = await listObjects(context, 'component', {})
  if (components.some(({ representation }) => isMembershipMapper(representation))) requireAllRolesOfRealm(context)
}

/** Throws forbidden unless the caller may grant all admin roles of the realm, any of which a directory may give a user. */
function requireAllRolesOfRealm(context: WriteContext): void {
  const role =
    context.realm.name === MASTER ? { client: null, name: 'admin' } : { client: MANAGEMENT_CLIENT, name: 'realm-admin' }
  requireGrantableRoleNames(context, [role])
}

/** The users that one statement deletes. */
const CHUNK = 1_000

/** Keycloak: the users of a directory are deleted with its user store. */
async function deleteImportedUsers(context: WriteContext, store: string): Promise<void> {
  for (;;) {
    const ids = await selectImportedUsers(context.tx, context.realm.number, { store, limit: CHUNK })
    if (!ids.length) return
    await deleteImported(context, await listObjects(context, 'user', { ids }))
  }
}

function toCanonical({ config = {}, ...component }: Representation): Representation {
  return { ...component, config: toCanonicalConfig(parseComponentPath(String(component.path)).providerType, config) }
}

/**
 * Returns the generated config to clear if a component's key has another size or curve than its config asks for. A new key
 * is generated when one is needed.
 */
function clearOutdatedKey({ providerId, config: configFields }: Representation, set: FlatFields): FlatFields {
  const provider = findKeyProvider(String(providerId))
  const config = readTextListMap(configFields)
  const sizeOrCurve = provider?.keyParameter && firstValue(config, provider.keyParameter.setting)
  if (!provider || sizeOrCurve === undefined || `config.${provider.secret}` in set) return {}
  const key = parseRealmKey({ id: '', version: 0, providerId: String(providerId), config })
  return !key || getSizeOrCurve(key) === sizeOrCurve
    ? {}
    : Object.fromEntries(provider.generatedSettings.map((name) => [`config.${name}`, null]))
}

function checkComponent(component: Representation): void {
  const problem = findComponentProblem(component)
  if (problem) throw invalidObject(problem)
}
