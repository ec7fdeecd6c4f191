// What weak administrators see: of every list what the plain rule leaves of the full one, for as many statements.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Permission } from '../../src/kinds/admin-roles.ts'
import { MASK } from '../../src/kinds/mask.ts'
import { hasPermission, canGrant, type AdminRoleName } from '../../src/service/context/admin-permissions.ts'
import {
  type AdminRealmDocument,
  generatedAdminRealms,
  toAdminRealmDocument,
  MANAGEMENT,
  getAdminPermissions,
  getToken,
} from '../support/administered.ts'
import { propertyOptions, isFullRun, TIME_LIMIT } from '../support/campaign.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call } = await testServer()
const { statements } = await testService()

/** Each is asked for some sixty lists, by three people. */
const REALMS = isFullRun ? 8 : 3

/** What of a list shows, whose elements may be groups inside of groups. */
interface Element {
  readonly id: string
  readonly name?: string
  readonly access?: object
  readonly secret?: string
  readonly subGroups?: readonly Element[]
}

/** A list: what somebody needs to ask for it, what they must be allowed to find something in it, and what may be done with that. */
interface List {
  readonly path: string
  readonly needs: readonly Permission[]
  readonly seenBy?: Permission
  readonly sees?: (element: Element) => boolean
  readonly access?: object
  readonly secret?: string
}

test(
  'lists, counts and what may be done with each are the full list after the plain rule, for as many statements',
  async () => {
    await fc.assert(
      fc.asyncProperty(generatedAdminRealms, async (content) => {
        const document = toAdminRealmDocument(newName('seen'), content)
        const path = `/admin/realms/${document.realm}`
        expect(await call('POST', '/admin/realms', { body: document })).toMatchObject({ status: 201 })
        const full = await getToken(document.realm, 'full')
        const lists = await listsOf(path, full, document)
        const whole = new Map<string, Asked>()
        for (const [at, held] of content.administrators.entries()) {
          const token = await getToken(document.realm, `weak-${at}`)
          const power = getAdminPermissions(
            document,
            held.map((name) => ({ client: MANAGEMENT, name })),
          )
          const can = (permission: Permission) => hasPermission(power, document.realm, permission)
          const mayGive = (role: AdminRoleName) => canGrant(power, getAdminPermissions(document, [role]))
          for (const list of lists(can, mayGive)) {
            if (!whole.has(list.path)) whole.set(list.path, await ask(list.path, full))
            compare(list, { full: whole.get(list.path)!, weak: await ask(list.path, token), can })
          }
        }
      }),
      { ...propertyOptions, numRuns: REALMS },
    )
  },
  TIME_LIMIT,
)

/** An answer, and how many statements it took. */
interface Asked {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: lists and counts of every form
  readonly body: any
  readonly statements: number
}

async function ask(path: string, token: string): Promise<Asked> {
  let answer = { status: 0, body: undefined }
  const executed = await statements(async () => {
    answer = await call('GET', path, { token })
  })
  return { ...answer, statements: executed.length }
}

/** Compares what both are answered. */
function compare(
  { path, needs, seenBy, sees = () => true, access }: List,
  { full, weak, can }: { full: Asked; weak: Asked; can: (permission: Permission) => boolean },
): void {
  if (!needs.every(can)) {
    expect(weak.status, path).toBe(403)
    return
  }
  const shown = seenBy === undefined || can(seenBy)
  const filtered = (list: readonly Element[]): Element[] =>
    list
      .filter((one) => shown && sees(one))
      .map((one) => ({
        ...one,
        ...(one.access && { access: access! }),
        ...(one.secret !== undefined && !can('manage-clients') && { secret: MASK }),
        ...(one.subGroups && { subGroups: filtered(one.subGroups) }),
      }))
  const counted = (count: number) => (shown ? count : 0)
  const { body } = full
  if (Array.isArray(body)) expect(weak.body, path).toEqual(filtered(body))
  else expect(weak.body, path).toEqual(typeof body === 'number' ? counted(body) : { count: counted(body.count) })
  // Of nothing there is nothing more to be asked.
  if (weak.body.length === 0 || !shown) expect(weak.statements, path).toBeLessThanOrEqual(full.statements)
  else expect(weak.statements, path).toBe(full.statements)
}

/** Every list, as the rule knows it for somebody. */
async function listsOf(path: string, token: string, document: AdminRealmDocument) {
  const ids = async (at: string, name: string): Promise<Map<string, string>> => {
    const { body } = await call('GET', `${path}/${at}`, { token })
    return new Map((body as Record<string, string>[]).map((one) => [one[name]!, one.id!]))
  }
  const [user, client, scope, organization] = [
    (await ids('users', 'username')).get('person-0')!,
    await ids('clients', 'clientId'),
    (await ids('client-scopes', 'name')).get('scope-0')!,
    (await ids('organizations', 'name')).get('org')!,
  ]
  const groups = [...(await ids('groups', 'name')).values()]
  return (can: (permission: Permission) => boolean, mayGive: (role: AdminRoleName) => boolean): List[] => {
    const manage = can('manage-users')
    const view = can('view-users')
    const people: Pick<List, 'seenBy' | 'access'> = { seenBy: 'view-users', access: { manage } }
    const access = { view, viewMembers: view, manageMembers: manage, manage, manageMembership: manage }
    const ofGroups: Pick<List, 'seenBy' | 'access'> = { seenBy: 'view-users', access }
    const configure = can('manage-clients')
    const given = (owner: string, needs: Permission): List[] => [
      {
        path: `${owner}/realm/available`,
        needs: [needs],
        sees: ({ name }) => mayGive({ client: null, name: name! }),
      },
      ...[MANAGEMENT, 'client-0'].map((one) => ({
        path: `${owner}/clients/${client.get(one)}/available`,
        needs: [needs],
        sees: ({ name }: Element) => mayGive({ client: one, name: name! }),
      })),
    ]
    return [
      { path: 'users', needs: ['list-users'], ...people },
      { path: 'users?search=person&first=1&max=2', needs: ['list-users'], ...people },
      { path: 'users/count', needs: ['list-users'], ...people },
      { path: 'users/count?username=person', needs: ['list-users'], ...people },
      { path: `users/${user}/groups`, needs: ['view-users'], ...ofGroups },
      { path: `users/${user}/groups/count`, needs: ['view-users'], ...ofGroups },
      { path: 'groups', needs: ['list-groups'], ...ofGroups },
      { path: 'groups?search=group', needs: ['list-groups'], ...ofGroups },
      { path: 'groups/count', needs: ['list-groups'], ...ofGroups },
      ...groups.flatMap((group): List[] => [
        { path: `groups/${group}/children`, needs: ['view-users'], ...ofGroups },
        { path: `groups/${group}/members`, needs: ['view-users'], ...people },
      ]),
      ...document.roles.realm.flatMap(({ name }): List[] => [
        { path: `roles/${name}/users`, needs: ['view-realm', 'list-users'], ...people },
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
      ...given(`users/${user}/role-mappings`, 'view-users'),
      ...given(`groups/${groups[0]}/role-mappings`, 'view-users'),
      ...given(`clients/${client.get('client-0')}/scope-mappings`, 'view-clients'),
      ...given(`client-scopes/${scope}/scope-mappings`, 'view-clients'),
    ].map((list) => ({ ...list, path: `${path}/${list.path}` })) as List[]
  }
}
