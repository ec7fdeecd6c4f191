// The roles of clients and of their service accounts in the API of version 2, which declares them by name.
import type { EventOperation, EventType } from '../../../kinds/admin-events.ts'
import { kinds } from '../../../kinds/index.ts'
import { relationFields } from '../../../kinds/kind.ts'
import { toRelationKeys } from '../../../kinds/relations.ts'
import { listServiceAccounts } from '../../clients/service-accounts.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { hasAdminEvents } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { toParent } from '../common/resource.ts'
import { userRoleMappings } from '../roles/role-mapping-owners.ts'
import { addRoles, removeRoles } from '../roles/role-mappings.ts'

/** The id of a client, and its client id. */
interface ClientName {
  readonly id: string
  readonly clientId: string
}

/** The names of the roles of a client, and of those of its service account. */
export interface NamedRoles {
  readonly roles: readonly string[]
  readonly accountRoles: readonly string[]
}

/** Returns the names of the roles of clients and of their service accounts, by the id of the client. Three statements at most. */
export async function listNamedRoles(
  context: Context,
  clients: readonly ClientName[],
): Promise<(client: ClientName) => NamedRoles> {
  const ids = clients.map(({ id }) => id)
  const roles = ids.length ? await writers.role.list(context, { parents: { kind: 'client', ids } }) : []
  const rolesByClient = Map.groupBy(roles, ({ parent }) => parent!.id)
  const accounts = await listServiceAccounts(context, clients)
  const accountsByClient = new Map(
    accounts.map((account) => [String(account.representation.serviceAccountClientId), account]),
  )
  return ({ id, clientId }) => {
    const account = accountsByClient.get(clientId)
    return {
      roles: (rolesByClient.get(id) ?? []).map(getName),
      accountRoles: account ? listMappedKeys(account).map((key) => key.at(-1)!) : [],
    }
  }
}

const getName = ({ key }: Pick<LiveObject, 'key'>): string => key.at(-1)!

function listMappedKeys(account: LiveObject) {
  return relationFields(kinds.user)
    .filter(([, { refersTo }]) => refersTo === 'role')
    .flatMap(([name, field]) => {
      const value = account.representation[name]
      return value == null ? [] : toRelationKeys(field, value)
    })
}

/** Creates and deletes roles of a client, so that it has those with the names. */
export async function replaceRoles(context: WriteContext, client: LiveObject, names: readonly string[]): Promise<void> {
  const roles = await writers.role.list(context, { parents: { kind: 'client', ids: [client.id] } })
  const existing = new Set(roles.map(getName))
  const created = [...new Set(names)].filter((name) => !existing.has(name))
  const deleted = roles.filter((role) => !names.includes(getName(role)))
  if (created.length)
    await writers.role.create(
      context,
      created.map((name) => ({ representation: { name, description: '' }, parent: toParent(client) })),
    )
  if (deleted.length) await writers.role.delete(context, deleted)
  const path = (name: string) => `clients/${client.id}/roles/${name}`
  for (const name of created) recordEvent(context, 'CREATE', { type: 'CLIENT_ROLE', path: path(name) })
  for (const role of deleted) recordEvent(context, 'DELETE', { type: 'CLIENT_ROLE', path: path(getName(role)) })
}

/**
 * Maps and removes roles of the service account of a client, so that it has those with the names: roles that it has already, roles of the
 * client, and realm roles. The permissions are those of role mappings. `isNew`: the account was created in the same request, so that nobody
 * relies on its default role.
 */
export async function replaceAccountRoles(
  context: WriteContext,
  client: LiveObject,
  { names, isNew }: { readonly names: readonly string[]; readonly isNew: boolean },
): Promise<void> {
  const [account] = await listServiceAccounts(context, [client])
  if (!account) return
  const mapped = await writers.role.list(context, { keys: listMappedKeys(account) })
  const missing = [...new Set(names)].filter((name) => !mapped.some((role) => getName(role) === name))
  const added = await findRoles(context, client, missing)
  const removed = mapped.filter((role) => !names.includes(getName(role)))
  if (isNew) await removeDefaultRoles(context, account, removed)
  else
    await forEachContainer(removed, (change) =>
      removeRoles(context, userRoleMappings, { owner: account.id, ...change }),
    )
  await forEachContainer(added, (change) => addRoles(context, userRoleMappings, { owner: account.id, ...change }))
  recordMappingEvents(context, account, { CREATE: added, DELETE: removed })
}

/** Returns the roles with the names: of the client, or else of the realm. Throws invalid if there is none. */
async function findRoles(context: Context, client: LiveObject, names: readonly string[]): Promise<LiveObject[]> {
  if (!names.length) return []
  const keys = names.flatMap((name) => [['client', ...client.key, name], [name]])
  const roles = await writers.role.list(context, { keys })
  return names.map((name) => {
    const candidates = roles.filter((role) => getName(role) === name)
    const role = candidates.find(({ parent }) => parent) ?? candidates[0]
    if (!role)
      throw failure(
        'invalid',
        "Cannot assign role to the service account (field 'serviceAccount.roles') as it does not exist",
        { form: 'error' },
      )
    return role
  })
}

async function removeDefaultRoles(context: WriteContext, account: LiveObject, roles: readonly LiveObject[]) {
  if (!roles.length) return
  const remove = roles.map(({ key }) => key)
  await writers.user.update(context, [{ live: account, set: {}, relations: { realmRoles: { remove } } }])
}

/** Roles of a client, or of the realm, as the bodies of a request. */
interface MappingChange {
  readonly client?: string
  readonly bodies: readonly { readonly id: string }[]
}

async function forEachContainer(
  roles: readonly LiveObject[],
  change: (roles: MappingChange) => Promise<void>,
): Promise<void> {
  for (const [client, members] of Map.groupBy(roles, ({ parent }) => parent?.id))
    await change({ ...(client !== undefined && { client }), bodies: members.map(({ id }) => ({ id })) })
}

function recordMappingEvents(
  context: WriteContext,
  account: LiveObject,
  changes: Readonly<Record<'CREATE' | 'DELETE', readonly LiveObject[]>>,
): void {
  for (const operation of ['CREATE', 'DELETE'] as const)
    for (const client of new Set(changes[operation].map(({ parent }) => parent?.id)))
      recordEvent(context, operation, {
        type: client === undefined ? 'REALM_ROLE_MAPPING' : 'CLIENT_ROLE_MAPPING',
        path: `users/${account.id}/role-mappings/${client === undefined ? 'realm' : `clients/${client}`}`,
      })
}

/** Records an admin event besides that of the request. */
function recordEvent(
  context: WriteContext,
  operationType: EventOperation,
  { type, path }: { readonly type: EventType; readonly path: string },
): void {
  if (!hasAdminEvents(context)) return
  context.adminEvents.push({ operationType, resourceType: type, resourcePath: path, details: { apiVersion: 'v2' } })
}
