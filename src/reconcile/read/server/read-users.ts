// Reads the users of a realm from Keycloak's admin API. Their roles and groups are read through the members of each role and group,
// since there are fewer roles and groups than users.

import { toPathSegment } from '../../../kinds/group.ts'
import { type Json, type Representation, readObject, readTexts } from '../../../kinds/json.ts'
import { setMember } from '../../../lib/set-member.ts'
import { type AdminServer, toObjects } from './admin-server.ts'

/** Users being read, by id. */
interface UserReader {
  readonly server: AdminServer
  /** Path of the realm. */
  readonly path: string
  readonly users: ReadonlyMap<string, Representation>
}

/**
 * Reads the users of a realm, without credentials. `realm` is the realm's export, with its roles, groups and identity providers.
 * Requests: one per page of users, and one for their number if progress is reported; one per page of members of each role, group and identity provider; one per user with a linked
 * account; and, where a client requires consent, one per user, since no list has consents.
 */
export async function readUsers(server: AdminServer, path: string, realm: Representation): Promise<Representation[]> {
  const listed = await server.listCounted(`${path}/users`, 'user', { briefRepresentation: 'false' })
  // By id, since a user who registers meanwhile moves another one to the next page, where it is listed again.
  const users = new Map(listed.map((user) => [String(user.id), { ...user }]))
  if (!users.size) return []
  const reader = { server, path, users }
  const needsConsents = toObjects(realm.clients).some(({ consentRequired }) => consentRequired === true)
  await Promise.all([
    ...listRoles(realm).map((role) => readMembers(reader, `${role.path}/users`, role.assign)),
    ...listGroups(toObjects(realm.groups)).map((group) =>
      readMembers(reader, `groups/${group.id}/members`, (user) => addText(user, 'groups', group.path)),
    ),
    readLinkedAccounts(reader, toObjects(realm.identityProviders)),
    ...(needsConsents ? [...users].map(([id, user]) => readConsents(reader, id, user)) : []),
  ])
  return [...users.values()]
}

/**
 * Reads the users of these names as `readUsers` does; those who do not exist are absent. Requests: four or five per user, whatever the number
 * of all users.
 */
export async function readNamedUsers(
  server: AdminServer,
  path: string,
  { realm, usernames }: { readonly realm: Representation; readonly usernames: ReadonlySet<string> },
): Promise<Representation[]> {
  const users = new Map<string, Representation>()
  const needsConsents = toObjects(realm.clients).some(({ consentRequired }) => consentRequired === true)
  const exported = new Set(toObjects(realm.users).map(({ username }) => username))
  await Promise.all(
    [...usernames].map(async (username) => {
      if (exported.has(username)) return
      const query = new URLSearchParams({ username, exact: 'true', briefRepresentation: 'false' })
      const [listed] = toObjects(await server.get(`${path}/users?${query}`))
      if (!listed) return
      const user = { ...listed }
      users.set(String(user.id), user)
      await readAssignments({ server, path, users }, String(user.id), user)
      if (needsConsents) await readConsents({ server, path, users }, String(user.id), user)
    }),
  )
  return [...users.values()]
}

/** Reads the roles, the groups and the linked accounts of a user. */
async function readAssignments({ server, path }: UserReader, id: string, user: Representation): Promise<void> {
  const [mappings, groups, linkedAccounts] = await Promise.all([
    server.get(`${path}/users/${id}/role-mappings`),
    server.list(`${path}/users/${id}/groups`, { briefRepresentation: 'true' }),
    server.get(`${path}/users/${id}/federated-identity`),
  ])
  const { realmMappings, clientMappings } = readObject(mappings)
  const listNames = (roles: Json | undefined) => toObjects(roles).map(({ name }) => name!)
  if (realmMappings !== undefined) user.realmRoles = listNames(realmMappings)
  if (clientMappings !== undefined)
    user.clientRoles = Object.fromEntries(
      Object.entries(readObject(clientMappings)).map(([client, value]) => [
        client,
        listNames(readObject(value).mappings),
      ]),
    )
  if (groups.length) user.groups = groups.map((group) => group.path!)
  if (toObjects(linkedAccounts).length) user.federatedIdentities = linkedAccounts
}

async function readMembers(
  { server, path, users }: UserReader,
  list: string,
  assign: (user: Representation) => void,
): Promise<void> {
  const members = await server.list(`${path}/${list}`, { briefRepresentation: 'true' })
  for (const id of new Set(members.map((member) => String(member.id)))) {
    const user = users.get(id)
    // Service accounts are members too, and are part of the export.
    if (user) assign(user)
  }
}

/** Lists all roles with their paths, and with functions that assign them to a user. */
function listRoles({ roles, clients }: Representation): { path: string; assign: (user: Representation) => void }[] {
  const { realm, client } = readObject(roles)
  const ids = new Map(toObjects(clients).map(({ clientId, id }) => [clientId, id]))
  const realmRoles = toObjects(realm).map(({ name }) => ({
    path: `roles/${encodeURIComponent(String(name))}`,
    assign: (user: Representation) => addText(user, 'realmRoles', String(name)),
  }))
  const clientRoles = Object.entries(readObject(client)).flatMap(([clientId, list]) =>
    toObjects(list).map(({ name }) => ({
      path: `clients/${ids.get(clientId)}/roles/${encodeURIComponent(String(name))}`,
      assign(user: Representation) {
        const assigned = { ...readObject(user.clientRoles) }
        addText(assigned, clientId, String(name))
        user.clientRoles = assigned
      },
    })),
  )
  return [...realmRoles, ...clientRoles]
}

function listGroups(groups: readonly Representation[], parent = ''): { id: string; path: string }[] {
  return groups.flatMap(({ id, name, subGroups }) => {
    const path = `${parent}${toPathSegment(String(name))}`
    return [{ id: String(id), path }, ...listGroups(toObjects(subGroups), path)]
  })
}

async function readLinkedAccounts(
  { server, path, users }: UserReader,
  providers: readonly Representation[],
): Promise<void> {
  const lists = await Promise.all(
    providers.map(({ alias }) =>
      server.list(`${path}/users`, { idpAlias: String(alias), briefRepresentation: 'true' }),
    ),
  )
  await Promise.all(
    [...new Set(lists.flat().map(({ id }) => String(id)))].map(async (id) => {
      const user = users.get(id)
      if (user) user.federatedIdentities = await server.get(`${path}/users/${id}/federated-identity`)
    }),
  )
}

async function readConsents({ server, path }: UserReader, id: string, user: Representation): Promise<void> {
  const consents = toObjects(await server.get(`${path}/users/${id}/consents`))
  if (!consents.length) return
  user.clientConsents = consents.map(({ clientId, grantedClientScopes, createdDate, lastUpdatedDate }) => ({
    clientId: clientId!,
    grantedClientScopes: grantedClientScopes!,
    createdDate: createdDate!,
    lastUpdatedDate: lastUpdatedDate!,
  }))
}

/** Adds a text to a list of the object. */
function addText(owner: Representation, key: string, text: string): void {
  setMember(owner, key, [...readTexts(Object.hasOwn(owner, key) ? owner[key] : undefined), text])
}
