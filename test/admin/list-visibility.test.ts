// Lists for administrators with few permissions: the full list filtered by the visibility rule, with as many statements.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Permission } from '../../src/kinds/admin-roles.ts'
import { MASK } from '../../src/kinds/mask.ts'
import { canGrant, hasPermission } from '../../src/service/context/admin-permissions.ts'
import type { RoleName } from '../../src/store/roles.ts'
import {
  type AdminRealmDocument,
  generatedAdminRealms,
  getAdminPermissions,
  getToken,
  MANAGEMENT,
  toAdminRealmDocument,
} from '../support/generated-admin-realms.ts'
import { isFullRun, propertyOptions, TIME_LIMIT } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call } = await testServer()
const { statements } = await testService()

/** Each realm is requested for some sixty lists, by three administrators. */
const REALMS = isFullRun ? 8 : 3

/** Returns the visible elements of a list, in which groups may be nested. */
interface Element {
  readonly id: string
  readonly name?: string
  readonly access?: object
  readonly secret?: string
  readonly subGroups?: readonly Element[]
}

/** A list: the permission to request it, the permission to see its elements, and what the caller may do with them. */
interface List {
  readonly path: string
  readonly needs: readonly Permission[]
  readonly seenBy?: Permission
  readonly sees?: (element: Element) => boolean
  readonly access?: object
  readonly secret?: string
}

test(
  'lists, counts and access flags equal the full list filtered by the visibility rule, with as many statements',
  async () => {
    await fc.assert(
      fc.asyncProperty(generatedAdminRealms, async (content) => {
        const document = toAdminRealmDocument(newName('seen'), content)
        const path = `/admin/realms/${document.realm}`
        expect(await call('POST', '/admin/realms', { body: document })).toMatchObject({ status: 201 })
        const full = await getToken(document.realm, 'full')
        const lists = await listsOf(path, full, document)
        const fullLists = new Map<string, ListResponse>()
        for (const [at, roles] of content.administrators.entries()) {
          const token = await getToken(document.realm, `weak-${at}`)
          const permissions = getAdminPermissions(
            document,
            roles.map((name) => ({ client: MANAGEMENT, name })),
          )
          const can = (permission: Permission) => hasPermission(permissions, document.realm, permission)
          const mayGive = (role: RoleName) => canGrant(permissions, getAdminPermissions(document, [role]))
          for (const list of lists(can, mayGive)) {
            if (!fullLists.has(list.path)) fullLists.set(list.path, await ask(list.path, full))
            compare(list, { full: fullLists.get(list.path)!, weak: await ask(list.path, token), can })
          }
        }
      }),
      { ...propertyOptions, numRuns: REALMS },
    )
  },
  TIME_LIMIT,
)

/** An answer, and how many statements it took. */
interface ListResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: lists and counts of every form
  readonly body: any
  readonly statements: number
}

async function ask(path: string, token: string): Promise<ListResponse> {
  let response = { status: 0, body: undefined }
  const executed = await statements(async () => {
    response = await call('GET', path, { token })
  })
  return { ...response, statements: executed.length }
}

/** Compares the responses to both. */
function compare(
  { path, needs, seenBy, sees = () => true, access }: List,
  { full, weak, can }: { full: ListResponse; weak: ListResponse; can: (permission: Permission) => boolean },
): void {
  if (!needs.every(can)) {
    expect(weak.status, path).toBe(403)
    return
  }
  const isVisible = seenBy === undefined || can(seenBy)
  const filtered = (list: readonly Element[]): Element[] =>
    list
      .filter((element) => isVisible && sees(element))
      .map((element) => ({
        ...element,
        ...(element.access && { access: access! }),
        ...(element.secret !== undefined && !can('manage-clients') && { secret: MASK }),
        ...(element.subGroups && { subGroups: filtered(element.subGroups) }),
      }))
  const counted = (count: number) => (isVisible ? count : 0)
  const { body } = full
  if (Array.isArray(body)) expect(weak.body, path).toEqual(filtered(body))
  else expect(weak.body, path).toEqual(typeof body === 'number' ? counted(body) : { count: counted(body.count) })
  // An empty realm has no objects to request.
  if (weak.body.length === 0 || !isVisible) expect(weak.statements, path).toBeLessThanOrEqual(full.statements)
  else expect(weak.statements, path).toBe(full.statements)
}

/** Returns every list with its permissions, as the visibility rule has them. */
async function listsOf(path: string, token: string, document: AdminRealmDocument) {
  const ids = async (at: string, name: string): Promise<Map<string, string>> => {
    const { body } = await call('GET', `${path}/${at}`, { token })
    return new Map((body as Record<string, string>[]).map((object) => [object[name]!, object.id!]))
  }
  const [user, client, scope, organization] = [
    (await ids('users', 'username')).get('user-0')!,
    await ids('clients', 'clientId'),
    (await ids('client-scopes', 'name')).get('scope-0')!,
    (await ids('organizations', 'name')).get('org')!,
  ]
  const groups = [...(await ids('groups', 'name')).values()]
  return (can: (permission: Permission) => boolean, mayGive: (role: RoleName) => boolean): List[] => {
    const manage = can('manage-users')
    const view = can('view-users')
    const ofUsers: Pick<List, 'seenBy' | 'access'> = { seenBy: 'view-users', access: { manage } }
    const access = { view, viewMembers: view, manageMembers: manage, manage, manageMembership: manage }
    const ofGroups: Pick<List, 'seenBy' | 'access'> = { seenBy: 'view-users', access }
    const configure = can('manage-clients')
    const listRoleMappings = (owner: string, needs: Permission): List[] => [
      {
        path: `${owner}/realm/available`,
        needs: [needs],
        sees: ({ name }) => mayGive({ client: null, name: name! }),
      },
      ...[MANAGEMENT, 'client-0'].map((clientId) => ({
        path: `${owner}/clients/${client.get(clientId)}/available`,
        needs: [needs],
        sees: ({ name }: Element) => mayGive({ client: clientId, name: name! }),
      })),
    ]
    return [
      { path: 'users', needs: ['list-users'], ...ofUsers },
      { path: 'users?search=user-&first=1&max=2', needs: ['list-users'], ...ofUsers },
      { path: 'users/count', needs: ['list-users'], ...ofUsers },
      { path: 'users/count?username=user-', needs: ['list-users'], ...ofUsers },
      { path: `users/${user}/groups`, needs: ['view-users'], ...ofGroups },
      { path: `users/${user}/groups/count`, needs: ['view-users'], ...ofGroups },
      { path: 'groups', needs: ['list-groups'], ...ofGroups },
      { path: 'groups?search=group', needs: ['list-groups'], ...ofGroups },
      { path: 'groups/count', needs: ['list-groups'], ...ofGroups },
      ...groups.flatMap((group): List[] => [
        { path: `groups/${group}/children`, needs: ['view-users'], ...ofGroups },
        { path: `groups/${group}/members`, needs: ['view-users'], ...ofUsers },
      ]),
      ...document.roles.realm.flatMap(({ name }): List[] => [
        { path: `roles/${name}/users`, needs: ['view-realm', 'list-users'], ...ofUsers },
        { path: `roles/${name}/groups`, needs: ['view-realm', 'list-groups'], ...ofGroups },
      ]),
      {
        path: 'clients?clientId=client-&search=true',
        needs: ['list-clients'],
        seenBy: 'view-clients',
        access: { view: true, configure, manage: configure },
      },
      { path: 'client-scopes', needs: ['list-client-scopes'], seenBy: 'view-clients' },
      { path: 'organizations', needs: ['list-organizations'], seenBy: 'view-organizations' },
      {
        path: `organizations/${organization}/members`,
        needs: ['view-organizations', 'list-users'],
        seenBy: 'view-users',
      },
      {
        path: `organizations/${organization}/members/count`,
        needs: ['view-organizations', 'list-users'],
        seenBy: 'view-users',
      },
      { path: 'roles', needs: ['list-roles'] },
      { path: `clients/${client.get('client-0')}/roles`, needs: ['view-clients'] },
      ...listRoleMappings(`users/${user}/role-mappings`, 'view-users'),
      ...listRoleMappings(`groups/${groups[0]}/role-mappings`, 'view-users'),
      ...listRoleMappings(`clients/${client.get('client-0')}/scope-mappings`, 'view-clients'),
      ...listRoleMappings(`client-scopes/${scope}/scope-mappings`, 'view-clients'),
    ].map((list) => ({ ...list, path: `${path}/${list.path}` })) as List[]
  }
}
