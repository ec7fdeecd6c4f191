// Lists for administrators who may view some users, groups and clients: complete, with exact counts, and as many statements as for all of them.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { users } from '../../src/service/users/users.ts'
import { createPolicyRealm, type PolicyRealm, toUser } from '../support/admin-policies.ts'
import { isFullRun } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call } = await testServer()
const { service, statements } = await testService()

const USERS = isFullRun ? 10_000 : 500
/** The users in the group whose members are visible, and the visible one outside of it. */
const VISIBLE = 37
const toName = (at: number) => `user-${String(at).padStart(5, '0')}`
const visibleNames = Array.from({ length: VISIBLE }, (_, at) => toName(at * 11))

async function createUsers({ realm }: PolicyRealm): Promise<void> {
  const objects = Array.from({ length: USERS }, (_, at) => ({
    representation: {
      username: toName(at),
      enabled: true,
      ...(at > 0 && visibleNames.includes(toName(at)) && { groups: ['/team'] }),
    },
  }))
  await service.write(SYSTEM, { realm, isLarge: true }, (context) => users.create(context, objects))
}

/** Lets an administrator view the members of the group and one more user. */
async function grant(realm: PolicyRealm, username: string): Promise<void> {
  const policies = [await realm.addPolicy('user', { users: [username] })]
  const first = await realm.findId('/users?username=user-00000', 'username', 'user-00000')
  const team = await realm.findId('/groups', 'name', 'team')
  await realm.addPermission({ resourceType: 'Groups', resources: [team], scopes: ['view-members'], policies })
  await realm.addPermission({ resourceType: 'Users', resources: [first], scopes: ['view'], policies })
}

test(`of ${USERS} users, an administrator who may view ${VISIBLE} lists, counts and finds those, with as many statements as one who may view all`, {
  timeout: 300_000,
}, async () => {
  const queryUsers = { 'realm-management': ['query-users'] }
  const realm = await createPolicyRealm({
    groups: [{ name: 'team' }],
    users: [
      toUser('limited', { clientRoles: queryUsers }),
      toUser('full', { clientRoles: { 'realm-management': ['realm-admin'] } }),
    ],
  })
  await createUsers(realm)
  await grant(realm, 'limited')
  const [limited, full] = [await realm.logIn('limited'), await realm.logIn('full')]
  const request = async (query: string, token: string) => {
    let body: unknown
    const executedStatements = await statements(
      async () => {
        ;({ body } = await call('GET', realm.path(`/users${query}`), { token }))
      },
      { keepsCaches: true },
    )
    return { body, statements: executedStatements.length }
  }
  const listNames = (body: unknown) => (body as { username: string }[]).map(({ username }) => username)
  const lists: [query: string, expected: readonly string[]][] = [
    ['?max=1000', visibleNames],
    ['?first=30&max=20', visibleNames.slice(30)],
    ['?search=user-000&max=1000', visibleNames.filter((name) => name.startsWith('user-000'))],
    ['?username=user-00011&exact=true', ['user-00011']],
    ['?username=user-00012&exact=true', []],
  ]
  for (const token of [limited, full]) await request('?max=1', token)
  for (const [query, expected] of lists) {
    const response = await request(query, limited)
    expect([query, listNames(response.body)]).toEqual([query, expected])
    expect([query, response.statements]).toEqual([query, (await request(query, full)).statements])
  }
  for (const [query, expected] of [
    ['/count', VISIBLE],
    ['/count?search=user-000', lists[2]![1].length],
  ] as const) {
    const response = await request(query, limited)
    expect([query, response.body]).toEqual([query, expected])
    expect([query, response.statements]).toEqual([query, (await request(query, full)).statements])
  }
})
