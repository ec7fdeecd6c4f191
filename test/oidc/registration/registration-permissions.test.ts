// The permissions of clients that register themselves, and of administrators who register clients: nobody gains admin permissions.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../../support/admin-realm.ts'
import { createRegistrationRealm } from '../../support/registration-realm.ts'
import { testServer } from '../../support/server.ts'

const { call, create } = await testServer()

/** Returns a function that sends requests about clients as an administrator. */
async function createSender(administrators: Readonly<Record<string, string>>) {
  const realm = await createAdminRealm(administrators)
  const send = async (username: string, method: string, address: string, body?: object) =>
    call(method, `/realms/${realm.name}/clients-registrations/${address}`, {
      token: await realm.token(username),
      ...(body && { body }),
    })
  return { ...realm, send }
}

test.each([
  ['create-client', { register: 201, read: 403, change: 403, remove: 403 }],
  ['view-clients', { register: 403, read: 200, change: 403, remove: 403 }],
  ['manage-clients', { register: 201, read: 200, change: 200, remove: 204 }],
  ['query-clients', { register: 403, read: 403, change: 403, remove: 403 }],
])('an administrator with the role %s: %j', async (role, expected) => {
  const { send, path } = await createSender({ ann: role })
  await create(`${path}/clients`, { clientId: 'app' })
  expect({
    register: (await send('ann', 'POST', 'default', { clientId: 'new' })).status,
    read: (await send('ann', 'GET', 'default/app')).status,
    change: (await send('ann', 'PUT', 'default/app', { clientId: 'app', name: 'App' })).status,
    remove: (await send('ann', 'DELETE', 'default/app')).status,
  }).toEqual(expected)
})

test('a token of an administrator of another realm is refused', async () => {
  const { name } = await createRegistrationRealm()
  const { status, body } = await call('POST', `/realms/${name}/clients-registrations/default`, { body: {} })
  expect([status, body.error_description]).toEqual([401, 'Failed decode token'])
})

test('an administrator who may only view clients sees no secret', async () => {
  const { send, path } = await createSender({ ann: 'view-clients' })
  await create(`${path}/clients`, { clientId: 'app', secret: 'hush-hush' })
  for (const format of ['default', 'openid-connect', 'install'])
    expect(JSON.stringify((await send('ann', 'GET', `${format}/app`)).body), format).not.toContain('hush-hush')
})

test('an administrator gets a token only for a client whose service account is no stronger', async () => {
  const { path, as, adminRole } = await createSender({ ann: 'manage-clients' })
  const address = await create(`${path}/clients`, { clientId: 'app', serviceAccountsEnabled: true })
  const token = () => as('ann', 'POST', `clients/${address.split('/').at(-1)}/registration-access-token`)
  expect((await token()).status).toBe(200)
  const { id } = (await call('GET', `${address}/service-account-user`)).body
  await call('POST', `${path}/users/${id}/role-mappings/realm`, { body: [adminRole] })
  expect((await token()).status).toBe(403)
})

test('built-in clients and the client of the admin roles cannot be changed or deleted', async () => {
  const { send } = await createSender({ ann: 'manage-clients', chief: 'realm-admin' })
  for (const user of ['ann', 'chief']) {
    const changed = await send(user, 'PUT', 'default/realm-management', { clientId: 'realm-management', name: 'x' })
    expect([user, changed.status]).toEqual([user, 403])
    expect((await send(user, 'DELETE', 'default/account')).status).toBe(403)
  }
})

test('no token of a client grants it admin roles: by mappers, flows, or the secret of a stronger service account', async () => {
  const { path, setPolicy, createToken, send, register, find } = await createRegistrationRealm()
  await setPolicy('authenticated', 'allowed-protocol-mappers', {
    'allowed-protocol-mapper-types': ['oidc-hardcoded-role-mapper'],
  })
  const { token } = await createToken({ count: 10 })
  const mapper = (role: string) => ({
    name: 'role',
    protocol: 'openid-connect',
    protocolMapper: 'oidc-hardcoded-role-mapper',
    config: { role },
  })
  const post = (body: object) => send('POST', 'default', { token, body })
  expect((await post({ protocolMappers: [mapper('realm-management.realm-admin')] })).status).toBe(403)
  expect((await post({ protocolMappers: [mapper('offline_access')] })).status).toBe(201)

  await create(`${path}/users`, {
    username: 'chief',
    enabled: true,
    email: 'chief@example.org',
    firstName: 'A',
    lastName: 'B',
  })
  const [chief] = (await call('GET', `${path}/users?username=chief`)).body
  const management = (await find('realm-management')).id
  const role = (await call('GET', `${path}/clients/${management}/roles/realm-admin`)).body
  await call('POST', `${path}/users/${chief.id}/role-mappings/clients/${management}`, { body: [role] })
  const flows: { id: string; alias: string }[] = (await call('GET', `${path}/authentication/flows`)).body
  const browser = flows.find(({ alias }) => alias === 'browser')!.id
  const withFlow = { authenticationFlowBindingOverrides: { browser } }
  expect((await post(withFlow)).status).toBe(403)

  const registered = (await register({ clientId: 'app', serviceAccountsEnabled: true })).body
  const account = (await call('GET', `${path}/clients/${registered.id}/service-account-user`)).body
  await call('POST', `${path}/users/${account.id}/role-mappings/clients/${management}`, { body: [role] })
  const change = { clientId: 'app', secret: 'mine' }
  const { registrationAccessToken } = registered
  expect((await send('PUT', 'default/app', { token: registrationAccessToken, body: change })).status).toBe(403)
  expect((await find('app')).secret).toBe(registered.secret)
})

test('a client may have a service account and authorization services', async () => {
  const { register, find } = await createRegistrationRealm()
  const body = { clientId: 'app', serviceAccountsEnabled: true, authorizationServicesEnabled: true }
  expect((await register(body)).status).toBe(201)
  expect(await find('app')).toMatchObject(body)
})
