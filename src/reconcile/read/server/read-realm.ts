// Reads a realm from Keycloak's admin API, in the format of an export: a partial export, and the objects that it does not contain.
import {
  type Json,
  omitUndefined,
  type Representation,
  readObject,
  readObjects,
  readTexts,
} from '../../../kinds/json.ts'
import { type AdminServer, toObject, toObjects } from './admin-server.ts'
import { readNamedUsers, readUsers } from './read-users.ts'

/** Options of reading a realm. */
export interface ReadRealmOptions {
  /** Whether to read client secrets. The admin API returns no other secrets. */
  readonly secrets?: boolean | undefined
  /** Returns the names of the users to read, by the realm without its users. Default: all users are read. */
  readonly selectUsers?: ((realm: Representation) => ReadonlySet<string>) | undefined
}

/** Keycloak: the export contains workflows as components without names. They are read from their own endpoint instead. */
const WORKFLOWS = 'org.keycloak.models.workflow.WorkflowProvider'

/**
 * Reads a realm. Requests: a partial export, the lists of other objects, those of `readUsers`, and a few per organization and
 * locale. Throws ServerError.
 */
export async function readRealm(
  server: AdminServer,
  name: string,
  { secrets, selectUsers }: ReadRealmOptions = {},
): Promise<Representation> {
  const path = encodeURIComponent(name)
  const realm = toObject(await server.post(`${path}/partial-export?exportClients=true&exportGroupsAndRoles=true`))
  const { [WORKFLOWS]: _, ...components } = readObject(realm.components)
  const [users, organizations, workflows, localizationTexts, clients] = await Promise.all([
    selectUsers
      ? readNamedUsers(server, path, { realm, usernames: selectUsers(realm) })
      : readUsers(server, path, realm),
    realm.organizationsEnabled === true ? readOrganizations(server, path) : [],
    server.get(`${path}/workflows`, []),
    readLocalizationTexts(server, path),
    secrets ? addClientSecrets(server, path, toObjects(realm.clients)) : toObjects(realm.clients),
  ])
  return {
    ...realm,
    components,
    clients,
    users: [...toObjects(realm.users), ...users],
    organizations,
    workflows,
    localizationTexts,
  }
}

async function readOrganizations(server: AdminServer, realmPath: string): Promise<Representation[]> {
  const organizations = await server.list(`${realmPath}/organizations`, { briefRepresentation: 'false' })
  return Promise.all(
    organizations.map(async (organization) => {
      const path = `${realmPath}/organizations/${organization.id}`
      const [members, identityProviders, groups] = await Promise.all([
        server.list(`${path}/members`),
        server.get(`${path}/identity-providers`),
        readGroups(server, `${path}/groups`),
      ])
      const groupsByMember = await readMembersOfGroups(server, `${path}/groups`, groups)
      return {
        ...organization,
        members: members.map(({ username, membershipType }) => ({
          username: username!,
          membershipType: membershipType!,
          ...omitUndefined({ groups: groupsByMember.get(username!) }),
        })),
        identityProviders: toObjects(identityProviders).map(({ alias }) => ({ alias: alias! })),
        ...(groups.length && { groups }),
      }
    }),
  )
}

/** Reads the groups of an organization, with their subgroups. */
async function readGroups(server: AdminServer, list: string): Promise<Representation[]> {
  const groups = toObjects(await server.get(`${list}?briefRepresentation=false&subGroupsCount=true&max=10000`, []))
  return Promise.all(
    groups.map(async (group) => {
      if (!group.subGroupCount) return group
      const path = list.endsWith('/children') ? list.replace(/[^/]+\/children$/, '') : `${list}/`
      return { ...group, subGroups: await readGroups(server, `${path}${group.id}/children`) }
    }),
  )
}

/** Reads the members of groups and of their subgroups. Returns the ids of the groups by username. */
async function readMembersOfGroups(
  server: AdminServer,
  path: string,
  groups: readonly Representation[],
): Promise<Map<Json, string[]>> {
  const listIds = (list: readonly Representation[]): string[] =>
    list.flatMap(({ id, subGroups }) => [String(id), ...listIds(readObjects(subGroups))])
  const memberships = await Promise.all(
    listIds(groups).map(async (group) => {
      const members = await server.list(`${path}/${group}/members`, { briefRepresentation: 'true' })
      return members.map(({ username }) => ({ username: username!, group }))
    }),
  )
  const byUsername = Map.groupBy(memberships.flat(), ({ username }) => username)
  return new Map([...byUsername].map(([username, ofUser]) => [username, ofUser.map(({ group }) => group)]))
}

async function readLocalizationTexts(server: AdminServer, path: string): Promise<Representation> {
  const locales = readTexts(await server.get(`${path}/localization`))
  const texts = await Promise.all(
    locales.map((locale) => server.get(`${path}/localization/${encodeURIComponent(locale)}`)),
  )
  return Object.fromEntries(locales.map((locale, index) => [locale, texts[index]!]))
}

async function addClientSecrets(server: AdminServer, path: string, clients: readonly Representation[]) {
  const secrets = new Map((await server.list(`${path}/clients`)).map(({ id, secret }) => [id, secret]))
  return clients.map((client) => {
    const secret = secrets.get(client.id) ?? null
    return client.secret !== undefined && secret !== null ? { ...client, secret } : client
  })
}
