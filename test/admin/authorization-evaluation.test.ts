// The evaluation of policies over REST: cases without a recorded exchange of Keycloak.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const settings = {
  scopes: [{ name: 'read' }],
  resources: [{ name: 'Safe', scopes: [{ name: 'read' }] }],
}

/** Creates a realm with a user, who has a role by a group, and a client whose policies permit access to the resource. */
async function createBank(policies: readonly object[]) {
  const path = await createRealm({
    roles: { realm: [{ name: 'cashier' }] },
    groups: [{ name: 'staff', realmRoles: ['cashier'], subGroups: [{ name: 'night' }] }],
    users: [{ username: 'ann', enabled: true, email: 'ann@example.org', groups: ['/staff/night'] }],
  })
  const client = await create(`${path}/clients`, {
    clientId: 'bank',
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
    fullScopeAllowed: false,
  })
  const names = policies.flatMap((policy) => ('type' in policy && 'name' in policy ? [policy.name] : []))
  const permission = {
    name: 'Open',
    type: 'resource',
    config: { resources: '["Safe"]', applyPolicies: JSON.stringify(names) },
  }
  const body = { ...settings, policies: [...policies, permission] }
  expect((await call('POST', `${client}/authz/resource-server/import`, { body })).status).toBe(204)
  const [ann] = (await call('GET', `${path}/users?username=ann`)).body
  const evaluate = (request: object = {}) =>
    call('POST', `${client}/authz/resource-server/policy/evaluate`, { body: { userId: ann.id, ...request } })
  return { path, client, ann: String(ann.id), evaluate }
}

const cashiers = { name: 'Cashiers', type: 'role', config: { roles: '[{"id":"cashier"}]' } }
const fetchedCashiers = { ...cashiers, config: { ...cashiers.config, fetchRoles: 'true' } }

test('roles outside of the scope of the client count only if they are fetched', async () => {
  const { evaluate } = await createBank([cashiers])
  expect((await evaluate()).body.status).toBe('DENY')
  expect((await evaluate({ roleIds: ['cashier'] })).body.status).toBe('PERMIT')
  expect((await (await createBank([fetchedCashiers])).evaluate()).body.status).toBe('PERMIT')
})

test('the response has the token of the user, with the granted permissions and the attributes of the request', async () => {
  const { ann, evaluate } = await createBank([fetchedCashiers])
  const { rpt, results } = (await evaluate({ context: { attributes: { till: '1,2,' } } })).body
  expect(rpt).toMatchObject({ sub: ann, azp: 'bank', aud: 'bank', preferred_username: 'ann', typ: 'Bearer' })
  const [{ resource }] = results
  expect(rpt.authorization.permissions).toEqual([
    { rsid: resource._id, rsname: 'Safe', scopes: ['read'], claims: { till: ['1', '2'] } },
  ])
})

test('the user may be given by username, and the client by id', async () => {
  const { path, evaluate } = await createBank([{ name: 'Web', type: 'client', config: { clients: '["account"]' } }])
  const [account] = (await call('GET', `${path}/clients?clientId=account`)).body
  expect((await evaluate({ userId: 'ANN', clientId: account.id })).body.status).toBe('PERMIT')
  expect((await evaluate({ userId: 'ann' })).body.status).toBe('DENY')
})

test.each([
  [{ userId: null }, 'There is no user'],
  [{ userId: 'nobody' }, 'There is no user nobody'],
  [{ clientId: 'nowhere' }, 'There is no client with the id nowhere'],
])('%j returns 400', async (request, message) => {
  const response = await (await createBank([cashiers])).evaluate(request)
  expect(response.status).toBe(400)
  expect(response.body.error_description ?? response.body.errorMessage ?? response.body.error).toContain(message)
})

test('a policy that cannot be evaluated denies access, and its description gives the reason', async () => {
  const { evaluate } = await createBank([
    { name: 'Late', type: 'time', logic: 'NEGATIVE', config: { month: 'May' } },
    fetchedCashiers,
  ])
  const { status, results } = (await evaluate()).body
  expect(status).toBe('DENY')
  const [{ associatedPolicies }] = results[0].policies
  const description = 'Denied because of an error: "May" is no number.'
  expect(associatedPolicies).toEqual([
    expect.objectContaining({ status: 'PERMIT' }),
    expect.objectContaining({ status: 'DENY', policy: expect.objectContaining({ name: 'Late', description }) }),
  ])
})

test('a user policy does not match the service account of the client itself', async () => {
  const { client, evaluate } = await createBank([
    { name: 'Accounts', type: 'user', config: { users: '["service-account-bank"]' } },
  ])
  const account = (await call('GET', `${client}/service-account-user`)).body
  expect((await evaluate({ userId: account.id })).body.status).toBe('DENY')
})

test('groups of the user count if the token has no groups', async () => {
  const config = { groups: '[{"path":"/staff","extendChildren":true}]', groupsClaim: 'groups' }
  const { evaluate } = await createBank([{ name: 'Staff', type: 'group', config }])
  expect((await evaluate()).body.status).toBe('PERMIT')
})

test('the time of the request counts unless an attribute gives another one', async () => {
  const { evaluate } = await createBank([{ name: 'Past', type: 'time', config: { noa: '2020-01-01 00:00:00' } }])
  expect((await evaluate()).body.status).toBe('DENY')
  const context = { attributes: { 'kc.time.date_time': '2019-12-31 23:59:59' } }
  expect((await evaluate({ context })).body.status).toBe('PERMIT')
})
