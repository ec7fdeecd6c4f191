// A realm as a server with the admin API of Keycloak has it, in the form of an export: a partial export, and what that leaves out.
import type { Representation } from '../../../kinds/json.ts'
import type { AdminServer } from './admin-server.ts'
import { listOf, readPeople } from './people.ts'

/** What is read besides. */
export interface ReadOptions {
  /** Secrets of clients, which the admin API shows. Others it does not. */
  readonly secrets?: boolean | undefined
}

/** Keycloak: in an export, workflows are components without names; they have operations of their own. */
const WORKFLOWS = 'org.keycloak.models.workflow.WorkflowProvider'

/**
 * Reads a realm. Requests: those of a partial export and of lists; for people those of `readPeople`; one per organization and
 * language. Throws ServerError.
 */
export async function readRealm(
  server: AdminServer,
  name: string,
  { secrets }: ReadOptions = {},
): Promise<Representation> {
  const at = encodeURIComponent(name)
  const realm = (await server.post(
    `${at}/partial-export?exportClients=true&exportGroupsAndRoles=true`,
  )) as Representation
  const { [WORKFLOWS]: _, ...components } = (realm.components ?? {}) as Representation
  const [people, organizations, workflows, localizationTexts, clients] = await Promise.all([
    readPeople(server, at, realm),
    realm.organizationsEnabled === true ? readOrganizations(server, at) : [],
    server.get(`${at}/workflows`, []),
    readTexts(server, at),
    secrets ? withSecrets(server, at, listOf(realm.clients)) : listOf(realm.clients),
  ])
  return {
    ...realm,
    components,
    clients,
    users: [...listOf(realm.users), ...people],
    organizations,
    workflows,
    localizationTexts,
  }
}

async function readOrganizations(server: AdminServer, at: string): Promise<Representation[]> {
  const all = await server.list(`${at}/organizations`, { briefRepresentation: 'false' })
  return Promise.all(
    all.map(async (organization) => {
      const one = `${at}/organizations/${organization.id}`
      const [members, identityProviders, groups] = await Promise.all([
        server.list(`${one}/members`),
        server.get(`${one}/identity-providers`),
        readGroups(server, `${one}/groups`),
      ])
      return {
        ...organization,
        members: members.map(({ username, membershipType }) => ({
          username: username!,
          membershipType: membershipType!,
        })),
        identityProviders: listOf(identityProviders).map(({ alias }) => ({ alias: alias! })),
        ...(groups.length && { groups }),
      }
    }),
  )
}

/** Groups inside of an organization, with those below them. */
async function readGroups(server: AdminServer, list: string): Promise<Representation[]> {
  const found = listOf(await server.get(`${list}?briefRepresentation=false&max=10000`, []))
  return Promise.all(
    found.map(async (group) => {
      if (!group.subGroupCount) return group
      const inside = list.endsWith('/children') ? list.replace(/[^/]+\/children$/, '') : `${list}/`
      return { ...group, subGroups: await readGroups(server, `${inside}${group.id}/children`) }
    }),
  )
}

async function readTexts(server: AdminServer, at: string): Promise<Representation> {
  const locales = (await server.get(`${at}/localization`)) as string[]
  const texts = await Promise.all(
    locales.map((locale) => server.get(`${at}/localization/${encodeURIComponent(locale)}`)),
  )
  return Object.fromEntries(locales.map((locale, index) => [locale, texts[index]!]))
}

async function withSecrets(server: AdminServer, at: string, clients: Representation[]): Promise<Representation[]> {
  const shown = new Map((await server.list(`${at}/clients`)).map(({ id, secret }) => [id, secret]))
  return clients.map((client) => {
    const secret = shown.get(client.id) ?? null
    return client.secret !== undefined && secret !== null ? { ...client, secret } : client
  })
}
