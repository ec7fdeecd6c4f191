// The people of a realm as a server with the admin API of Keycloak has them. What people have of roles and groups is read the
// other way round, from the lists of roles and groups, which are fewer.

import { step } from '../../../kinds/group.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import type { AdminServer } from './admin-server.ts'

/**
 * The people of a realm, whose export says which roles, groups and identity providers there are. Requests: one per page of people
 * and per page of who has a role, is in a group, or comes from an identity provider; one per person who comes from one; and one
 * per person where a client asks people for their consent, since no list has what they agreed to. Credentials are never shown.
 */
export async function readPeople(server: AdminServer, at: string, realm: Representation): Promise<Representation[]> {
  const found = await server.list(`${at}/users`, { briefRepresentation: 'false' })
  // Whoever signs up meanwhile moves others to the next page.
  const people = new Map(found.map((one) => [one.id as string, { ...one } as Representation]))
  if (!people.size) return []
  const asksForConsent = listOf(realm.clients).some(({ consentRequired }) => consentRequired === true)
  await Promise.all([
    ...rolesOf(realm).map(({ path, give }) => eachOf(server, `${at}/${path}/users`, people, give)),
    ...groupsIn(listOf(realm.groups)).map(({ id, path }) =>
      eachOf(server, `${at}/groups/${id}/members`, people, (person) => listIn(person, 'groups').push(path)),
    ),
    linked(server, at, listOf(realm.identityProviders), people),
    ...(asksForConsent ? [...people].map(([id, person]) => consents(server, at, id, person)) : []),
  ])
  return [...people.values()]
}

type Give = (person: Representation) => void

async function eachOf(
  server: AdminServer,
  list: string,
  people: ReadonlyMap<string, Representation>,
  give: Give,
): Promise<void> {
  const ids = new Set((await server.list(list, { briefRepresentation: 'true' })).map(({ id }) => id as string))
  for (const id of ids) {
    const person = people.get(id)
    // Accounts of clients are listed too; the export has them.
    if (person) give(person)
  }
}

/** Every role: where it stands, and how a person has it. */
function rolesOf({ roles = {}, clients }: Representation): { path: string; give: Give }[] {
  const { realm, client = {} } = roles as { realm?: Representation[]; client?: Record<string, Representation[]> }
  const ids = new Map(listOf(clients).map(({ clientId, id }) => [clientId, id as string]))
  const own = listOf(realm).map(({ name }) => ({
    path: `roles/${encodeURIComponent(String(name))}`,
    give: (person: Representation) => void listIn(person, 'realmRoles').push(String(name)),
  }))
  const ofClients = Object.entries(client).flatMap(([clientId, list]) =>
    list.map(({ name }) => ({
      path: `clients/${ids.get(clientId)}/roles/${encodeURIComponent(String(name))}`,
      give: (person: Representation) => {
        person.clientRoles ??= {}
        listIn(person.clientRoles as Representation, clientId).push(String(name))
      },
    })),
  )
  return [...own, ...ofClients]
}

function groupsIn(groups: readonly Representation[], parent = ''): { id: string; path: string }[] {
  return groups.flatMap(({ id, name, subGroups }) => {
    const path = `${parent}${step(String(name))}`
    return [{ id: id as string, path }, ...groupsIn(listOf(subGroups), path)]
  })
}

/** Accounts at identity providers, of those who have one. */
async function linked(
  server: AdminServer,
  at: string,
  providers: readonly Representation[],
  people: ReadonlyMap<string, Representation>,
): Promise<void> {
  const lists = await Promise.all(
    providers.map(({ alias }) => server.list(`${at}/users`, { idpAlias: String(alias), briefRepresentation: 'true' })),
  )
  const ids = new Set(lists.flat().map(({ id }) => id as string))
  await Promise.all(
    [...ids]
      .filter((id) => people.has(id))
      .map(async (id) => {
        people.get(id)!.federatedIdentities = await server.get(`${at}/users/${id}/federated-identity`)
      }),
  )
}

async function consents(server: AdminServer, at: string, id: string, person: Representation): Promise<void> {
  const given = listOf(await server.get(`${at}/users/${id}/consents`))
  if (!given.length) return
  person.clientConsents = given.map(({ clientId, grantedClientScopes, createdDate, lastUpdatedDate }) => ({
    clientId: clientId!,
    grantedClientScopes: grantedClientScopes!,
    createdDate: createdDate!,
    lastUpdatedDate: lastUpdatedDate!,
  }))
}

/** The elements of a list that may be absent. */
export function listOf(value: Json | undefined): Representation[] {
  return (value ?? []) as Representation[]
}

function listIn(owner: Representation, field: string): string[] {
  if (!Object.hasOwn(owner, field))
    Object.defineProperty(owner, field, { value: [], enumerable: true, configurable: true, writable: true })
  return owner[field] as string[]
}
