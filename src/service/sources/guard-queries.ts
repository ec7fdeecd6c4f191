// Facts about a realm that the guards of plans need.
import type { FlatFields } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { selectKeys } from '../../store/objects.ts'
import {
  countManagedObjects,
  countRealmContent,
  type DeletedRealm,
  findDeletedRealm,
  isManagedByOtherSources,
  type RealmSize,
  selectFlowBindings,
  selectUserCreators,
} from '../../store/sources/guard-queries.ts'
import { selectExpandedRoles } from '../../store/users/effective-roles.ts'
import type { Context } from '../context/context.ts'
import type { Service } from '../context/service.ts'
import type { Actor, StoredEntry } from '../context/store-types.ts'
import { listLatestEntries } from '../journal/journal.ts'
import { findFullAccessRole } from '../permissions/require-permissions.ts'
import { listFlows } from '../realms/authentication-executions.ts'

/** Returns the numbers of users, clients and sessions of the realm. One statement. */
export function getRealmSize({ tx, realm }: Context): Promise<RealmSize> {
  return countRealmContent(tx, realm.number)
}

/** Returns the number of objects that the sources manage in the realm. One statement. */
export function countManagedBy({ tx, realm }: Context, sources: readonly string[]): Promise<number> {
  return countManagedObjects(tx, realm.number, sources)
}

/** Whether sources other than these manage objects in the realm. One statement. */
export function hasOtherSources({ tx, realm }: Context, sources: readonly string[]): Promise<boolean> {
  return isManagedByOtherSources(tx, realm.number, sources)
}

/** Returns the creators of users by id of the user, where the journal has them. One statement. */
export function findUserCreators({ tx, realm }: Context, users: readonly string[]): Promise<Map<string, Actor>> {
  return selectUserCreators(tx, realm.number, users)
}

/** Returns the last deleted realm with a name, in the transaction of a context or in one of its own. One statement. */
export function findFormerRealm(where: Context | Service, name: string): Promise<DeletedRealm | undefined> {
  return 'tx' in where ? findDeletedRealm(where.tx, name) : where.query((tx) => findDeletedRealm(tx, name))
}

/**
 * Returns the journal entries that gave objects their current names, by `kind id`: their creation or last renaming, where the journal
 * has it. Two statements at most, none for no objects.
 */
export async function findNamingEntries(
  context: Context,
  objects: readonly { readonly kind: KindName; readonly object: string }[],
): Promise<Map<string, StoredEntry>> {
  const namingEntries = (await listLatestEntries(context, objects)).filter(
    ({ operation, kind, fields }) => operation === 'create' || kinds[kind].naturalKey in fields,
  )
  // Entries are sorted from the newest, which must win.
  return new Map(namingEntries.toReversed().map((entry) => [`${entry.kind} ${entry.object}`, entry]))
}

/** A role or group, by its id, or by its natural key if the id is unknown. */
export interface RoleOrGroup {
  readonly kind: 'role' | 'group'
  readonly key: Key
  readonly id: string | undefined
}

/** A role that a role or group contains, directly or in composite roles. A role counts as one of its own roles. */
export interface ContainedRole {
  readonly container: Pick<RoleOrGroup, 'kind' | 'key'>
  readonly id: string
  readonly key: Key
}

/**
 * Returns the roles that live roles contain, and those that groups have themselves, without those of their parents. Three statements
 * at most, none for no objects.
 */
export async function findContainedRoles(
  { tx, realm }: Context,
  containers: readonly RoleOrGroup[],
): Promise<ContainedRole[]> {
  if (!containers.length) return []
  const byId = new Map<string, ContainedRole['container']>()
  for (const { kind, key, id } of containers) if (id !== undefined) byId.set(id, { kind, key })
  for (const kind of ['role', 'group'] as const) {
    const keys = containers.filter((container) => container.kind === kind && container.id === undefined)
    if (!keys.length) continue
    const filter = { keys: keys.map(({ key }) => key) }
    for (const { id, key } of await selectKeys(tx, realm.number, { kind, filter })) byId.set(id, { kind, key })
  }
  const listIds = (kind: RoleOrGroup['kind']) => [...byId].flatMap(([id, root]) => (root.kind === kind ? [id] : []))
  const roots = { roles: listIds('role'), groups: listIds('group'), stop: findFullAccessRole(realm.name) }
  const roles = await selectExpandedRoles(tx, realm.number, roots)
  return roles.map(({ root, id, name, client }) => ({
    container: byId.get(root)!,
    id,
    key: client === null ? [name] : ['client', client, name],
  }))
}

/** A flow with its executions, or a realm or client with the fields that bind flows. */
export interface FlowObject {
  readonly kind: 'authenticationFlow' | 'realm' | 'client'
  readonly key: Key
  readonly fields: FlatFields
}

/** Returns the flows of the realm, the realm itself, and the clients with flows of their own. Three statements. */
export async function listFlowObjects(context: Context): Promise<FlowObject[]> {
  const flows = await listFlows(context, {})
  const bindings = await selectFlowBindings(context.tx, context.realm.number)
  const owners = Map.groupBy(bindings, ({ client }) => client)
  return [
    ...flows.map(({ live: { key, representation } }): FlowObject => {
      const { authenticationExecutions = null } = representation
      return { kind: 'authenticationFlow', key, fields: { authenticationExecutions } }
    }),
    ...[...owners].map(([client, rows]): FlowObject => {
      const fields = Object.fromEntries(rows.map(({ path, alias }) => [path, alias]))
      return client === null
        ? { kind: 'realm', key: [context.realm.name], fields }
        : { kind: 'client', key: [client], fields }
    }),
  ]
}
