// A property: callers with few permissions get the elements that they can see of the list of a realm-admin, with the same number of statements.
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

/** The number of generated realms. In each, three administrators request about sixty lists. */
const REALMS = isFullRun ? 8 : 3

/** An element of a list. Groups can be nested. */
interface Element {
  readonly id: string
  readonly name?: string
  readonly access?: object
  readonly secret?: string
  readonly subGroups?: readonly Element[]
}

/** An operation that returns a list or a count, with its visibility rule. */
interface List {
  readonly path: string
  /** The permissions without which the response is 403. */
  readonly required: readonly Permission[]
  /** The permission without which the list is empty. Absent: none. */
  readonly visibleWith?: Permission
  /** Whether the caller can see the element. Absent: every element. */
  readonly isVisible?: (element: Element) => boolean
  /** The access flags of each element. */
  readonly access?: object
}

test(
  'lists, counts and access flags are those of a realm-admin filtered by visibility, with the same number of statements',
  async () => {
    await fc.assert(
      fc.asyncProperty(generatedAdminRealms, async (content) => {
        const document = toAdminRealmDocument(newName('visibility'), content)
        const path = `/admin/realms/${document.realm}`
        expect(await call('POST', '/admin/realms', { body: document })).toMatchObject({ status: 201 })
        const full = await getToken(document.realm, 'full')
        const lists = await createLists(path, full, document)
        const fullLists = new Map<string, ListResponse>()
        for (const [at, roles] of content.administrators.entries()) {
          const token = await getToken(document.realm, `weak-${at}`)
          const permissions = getAdminPermissions(
            document,
            roles.map((name) => ({ client: MANAGEMENT, name })),
          )
          const can = (permission: Permission) => hasPermission(permissions, document.realm, permission)
          const canGrantRole = (role: RoleName) => canGrant(permissions, getAdminPermissions(document, [role]))
          for (const list of lists(can, canGrantRole)) {
            if (!fullLists.has(list.path)) fullLists.set(list.path, await requestList(list.path, full))
            expectFiltered(list, {
              full: fullLists.get(list.path)!,
              restricted: await requestList(list.path, token),
              can,
            })
          }
        }
      }),
      { ...propertyOptions, numRuns: REALMS },
    )
  },
  TIME_LIMIT,
)

/** A response, and the number of statements that it took. */
interface ListResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: lists and counts of every form
  readonly body: any
  readonly statements: number
}

async function requestList(path: string, token: string): Promise<ListResponse> {
  let response = { status: 0, body: undefined }
  const executedStatements = await statements(async () => {
    response = await call('GET', path, { token })
  })
  return { ...response, statements: executedStatements.length }
}

/** Expects that the response to the restricted caller is the filtered response to the realm-admin. */
function expectFiltered(
  { path, required, visibleWith, isVisible = () => true, access }: List,
  { full, restricted, can }: { full: ListResponse; restricted: ListResponse; can: (permission: Permission) => boolean },
): void {
  if (!required.every(can)) {
    expect(restricted.status, path).toBe(403)
    return
  }
  const canSeeList = visibleWith === undefined || can(visibleWith)
  const filterElements = (list: readonly Element[]): Element[] =>
    list
      .filter((element) => canSeeList && isVisible(element))
      .map((element) => ({
        ...element,
        ...(element.access && { access: access! }),
        ...(element.secret !== undefined && !can('manage-clients') && { secret: MASK }),
        ...(element.subGroups && { subGroups: filterElements(element.subGroups) }),
      }))
  const filterCount = (count: number) => (canSeeList ? count : 0)
  const { body } = full
  if (Array.isArray(body)) expect(restricted.body, path).toEqual(filterElements(body))
  else
    expect(restricted.body, path).toEqual(
      typeof body === 'number' ? filterCount(body) : { count: filterCount(body.count) },
    )
  // For an empty list, the statements for its elements are not executed.
  if (restricted.body.length === 0 || !canSeeList)
    expect(restricted.statements, path).toBeLessThanOrEqual(full.statements)
  else expect(restricted.statements, path).toBe(full.statements)
}

/** Returns a function that returns all lists for the permissions of a caller. */
async function createLists(path: string, token: string, document: AdminRealmDocument) {
  const readIds = async (collection: string, field: string): Promise<Map<string, string>> => {
    const { body } = await call('GET', `${path}/${collection}`, { token })
    return new Map((body as Record<string, string>[]).map((object) => [object[field]!, object.id!]))
  }
  const [user, client, scope, organization] = [
    (await readIds('users', 'username')).get('user-0')!,
    await readIds('clients', 'clientId'),
    (await readIds('client-scopes', 'name')).get('scope-0')!,
    (await readIds('organizations', 'name')).get('org')!,
  ]
  const groups = [...(await readIds('groups', 'name')).values()]
  return (can: (permission: Permission) => boolean, canGrantRole: (role: RoleName) => boolean): List[] => {
    const manage = can('manage-users')
    const view = can('view-users')
    const userVisibility: Pick<List, 'visibleWith' | 'access'> = { visibleWith: 'view-users', access: { manage } }
    const access = { view, viewMembers: view, manageMembers: manage, manage, manageMembership: manage }
    const groupVisibility: Pick<List, 'visibleWith' | 'access'> = { visibleWith: 'view-users', access }
    const configure = can('manage-clients')
    const listRoleMappings = (owner: string, permission: Permission): List[] => [
      {
        path: `${owner}/realm/available`,
        required: [permission],
        isVisible: ({ name }) => canGrantRole({ client: null, name: name! }),
      },
      ...[MANAGEMENT, 'client-0'].map((clientId) => ({
        path: `${owner}/clients/${client.get(clientId)}/available`,
        required: [permission],
        isVisible: ({ name }: Element) => canGrantRole({ client: clientId, name: name! }),
      })),
    ]
    return [
      { path: 'users', required: ['list-users'], ...userVisibility },
      { path: 'users?search=user-&first=1&max=2', required: ['list-users'], ...userVisibility },
      { path: 'users/count', required: ['list-users'], ...userVisibility },
      { path: 'users/count?username=user-', required: ['list-users'], ...userVisibility },
      { path: `users/${user}/groups`, required: ['view-users'], ...groupVisibility },
      { path: `users/${user}/groups/count`, required: ['view-users'], ...groupVisibility },
      { path: 'groups', required: ['list-groups'], ...groupVisibility },
      { path: 'groups?search=group', required: ['list-groups'], ...groupVisibility },
      { path: 'groups/count', required: ['list-groups'], ...groupVisibility },
      ...groups.flatMap((group): List[] => [
        { path: `groups/${group}/children`, required: ['view-users'], ...groupVisibility },
        { path: `groups/${group}/members`, required: ['view-users'], ...userVisibility },
      ]),
      ...document.roles.realm.flatMap(({ name }): List[] => [
        { path: `roles/${name}/users`, required: ['view-realm', 'list-users'], ...userVisibility },
        { path: `roles/${name}/groups`, required: ['view-realm', 'list-groups'], ...groupVisibility },
      ]),
      {
        path: 'clients?clientId=client-&search=true',
        required: ['list-clients'],
        visibleWith: 'view-clients',
        access: { view: true, configure, manage: configure },
      },
      { path: 'client-scopes', required: ['list-client-scopes'], visibleWith: 'view-clients' },
      { path: 'organizations', required: ['list-organizations'], visibleWith: 'view-organizations' },
      {
        path: `organizations/${organization}/members`,
        required: ['view-organizations', 'list-users'],
        visibleWith: 'view-users',
      },
      {
        path: `organizations/${organization}/members/count`,
        required: ['view-organizations', 'list-users'],
        visibleWith: 'view-users',
      },
      { path: 'roles', required: ['list-roles'] },
      { path: `clients/${client.get('client-0')}/roles`, required: ['view-clients'] },
      ...listRoleMappings(`users/${user}/role-mappings`, 'view-users'),
      ...listRoleMappings(`groups/${groups[0]}/role-mappings`, 'view-users'),
      ...listRoleMappings(`clients/${client.get('client-0')}/scope-mappings`, 'view-clients'),
      ...listRoleMappings(`client-scopes/${scope}/scope-mappings`, 'view-clients'),
    ].map((list) => ({ ...list, path: `${path}/${list.path}` })) as List[]
  }
}
