// The evaluation of fine-grained admin permissions of version 2, recorded from Keycloak.
import { beforeAll, expect, test } from 'vitest'
import { createPolicyRealm, type PolicyRealm, toUser } from '../support/admin-policies.ts'
import { testServer } from '../support/server.ts'

const { call } = await testServer()
let realm: PolicyRealm
const ids: Record<string, string> = {}
let server: string

beforeAll(async () => {
  realm = await createPolicyRealm({
    groups: [{ name: 'team' }],
    roles: { realm: [{ name: 'plain' }] },
    users: [toUser('ann'), toUser('bob', { groups: ['/team'] }), toUser('eve')],
    clients: [{ clientId: 'shop' }],
  })
  for (const name of ['ann', 'bob', 'eve']) ids[name] = await realm.findId('/users', 'username', name)
  ids.team = await realm.findId('/groups', 'name', 'team')
  ids.plain = await realm.findId('/roles', 'name', 'plain')
  server = realm.path(
    `/clients/${await realm.findId('/clients', 'clientId', 'admin-permissions')}/authz/resource-server`,
  )
  const granting = [await realm.addPolicy('user', { users: [ids.ann], name: 'granting' })]
  const denying = [await realm.addPolicy('user', { users: [ids.ann], logic: 'NEGATIVE', name: 'denying' })]
  await realm.addPermission({ resourceType: 'Users', scopes: ['view'], policies: granting })
  await realm.addPermission({ resourceType: 'Users', resources: [ids.eve!], scopes: ['view'], policies: denying })
  const scopes = ['view-members', 'manage-members']
  await realm.addPermission({ resourceType: 'Groups', resources: [ids.team], scopes, policies: denying })
  await realm.addPermission({ resourceType: 'Clients', scopes: ['view'], policies: granting })
  await realm.addPermission({ resourceType: 'Roles', resources: [ids.plain], scopes: ['map-role'], policies: granting })
})

const evaluate = (resourceType: string | undefined, name?: string, scopes: readonly string[] = []) =>
  call('POST', `${server}/policy/evaluate`, {
    body: {
      userId: ids.ann,
      resourceType,
      resources: name === undefined ? [] : [{ name, scopes: scopes.map((scope) => ({ name: scope })) }],
    },
  })

const cases: [type: string, object: string, scopes: readonly string[], expected: readonly unknown[]][] = [
  ['Users', 'bob', ['view'], ['bob with scopes [view]', 'DENY', 2]],
  ['Users', 'eve', ['view'], ['eve with scopes [view]', 'DENY', 2]],
  ['Users', 'ann', ['view', 'manage'], ['ann with scopes [view]', 'PERMIT', 1]],
  ['Users', 'ann', [], ['ann with scopes [view]', 'PERMIT', 1]],
  ['Users', 'Users', ['view'], ['Users with scopes [view]', 'PERMIT', 1]],
  ['Clients', 'shop', ['view'], ['shop with scopes [view]', 'PERMIT', 1]],
  ['Groups', 'team', ['view-members'], ['team with scopes [view-members]', 'DENY', 1]],
  ['Roles', 'plain', ['map-role'], ['plain with scopes [map-role]', 'PERMIT', 1]],
]

test.each(cases)('%s: %s with the scopes %j is decided as in Keycloak', async (type, object, scopes, expected) => {
  const { status, body } = await evaluate(type, ids[object] ?? object, scopes)
  expect(status).toBe(200)
  const [{ resource, status: effect, policies }] = body.results
  expect([resource.name, effect, policies.length]).toEqual(expected)
  expect(body.status).toBe(expected[1])
})

test('a request without a resource type or an object returns 400 with what to do', async () => {
  expect(await evaluate('Nothing', 'ann')).toMatchObject({
    status: 400,
    body: { errorMessage: expect.stringContaining('resourceType must be one of') },
  })
  expect((await evaluate('Users')).status).toBe(400)
})
