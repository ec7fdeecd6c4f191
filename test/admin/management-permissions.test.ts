// Fine-grained admin permissions of version 1, beyond what is recorded from Keycloak.
import { beforeEach, expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const { call, createRealm } = await testServer()
let realm: string
const path = (rest: string) => `/admin/realms/${realm}${rest}`

beforeEach(async () => {
  realm = newName()
  await createRealm({ realm })
})

async function getManagementClient(): Promise<string> {
  return (await call('GET', path('/clients?clientId=realm-management'))).body[0].id
}

test('the permissions on a deleted group, on those below it, and on the roles of a deleted client are deleted', async () => {
  const body = { groups: [{ name: 'team', subGroups: [{ name: 'branch' }] }], clients: [{ clientId: 'shop' }] }
  const roles = { client: { shop: [{ name: 'buyer' }] } }
  await call('POST', path('/partialImport'), { body: { ifResourceExists: 'FAIL', ...body, roles } })
  const [group] = (await call('GET', path('/groups'))).body
  const [branch] = (await call('GET', path(`/groups/${group.id}/children`))).body
  const [client] = (await call('GET', path('/clients?clientId=shop'))).body
  const targets = [`/groups/${group.id}`, `/groups/${branch.id}`, `/clients/${client.id}/roles/buyer`]
  for (const target of targets) {
    const { status } = await call('PUT', path(`${target}/management/permissions`), { body: { enabled: true } })
    expect(status).toBe(200)
  }
  const listResources = async () =>
    (await call('GET', path(`/clients/${await getManagementClient()}/authz/resource-server/resource`))).body
  expect(await listResources()).toHaveLength(3)
  await call('DELETE', path(`/groups/${group.id}`))
  await call('DELETE', path(`/clients/${client.id}`))
  expect(await listResources()).toEqual([])
})

test('in a realm with the permissions of version 2, the operations answer 501 and change nothing', async () => {
  await call('PUT', path(''), { body: { adminPermissionsEnabled: true } })
  for (const method of ['GET', 'PUT'] as const) {
    const body = method === 'PUT' ? { enabled: true } : undefined
    const { status, body: error } = await call(method, path('/users-management-permissions'), { ...(body && { body }) })
    expect([status, error.error]).toEqual([501, 'Feature not enabled'])
  }
  const client = await getManagementClient()
  expect((await call('GET', path(`/clients/${client}`))).body.authorizationServicesEnabled).toBeUndefined()
})

test('a user whom a policy of the permission user-impersonated excludes is not impersonated', async () => {
  const [ann, bob] = await Promise.all(
    ['ann', 'bob'].map(async (username) => {
      await call('POST', path('/users'), { body: { username, enabled: true } })
      return (await call('GET', path(`/users?username=${username}`))).body[0].id
    }),
  )
  const { body } = await call('PUT', path('/users-management-permissions'), { body: { enabled: true } })
  const server = path(`/clients/${await getManagementClient()}/authz/resource-server`)
  const policy = await call('POST', `${server}/policy/user`, { body: { name: 'ann', users: [ann] } })
  const permission = `${server}/permission/scope/${body.scopePermissions['user-impersonated']}`
  const current = (await call('GET', permission)).body
  expect((await call('PUT', permission, { body: { ...current, policies: [policy.body.id] } })).status).toBe(201)
  const impersonate = async (id: string) =>
    (await call('POST', path(`/users/${id}/impersonation`), { body: {} })).status
  expect([await impersonate(ann), await impersonate(bob)]).toEqual([200, 403])
})
