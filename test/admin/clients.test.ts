import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make, realm } = await testServer()

test('GET returns the secret of a confidential client, and none for a public one', async () => {
  const path = `${await realm()}/clients`
  const client = await make(path, { clientId: 'app', secret: 'not-so-secret' })
  expect((await call('GET', client)).body.secret).toBe('not-so-secret')
  await call('PUT', client, { body: { publicClient: true } })
  expect((await call('GET', client)).body).not.toHaveProperty('secret')
})

test('a masked secret retains the existing one', async () => {
  const client = await make(`${await realm()}/clients`, { clientId: 'app', secret: 'not-so-secret' })
  await call('PUT', client, { body: { secret: '**********', name: 'App' } })
  expect((await call('GET', client)).body).toMatchObject({ secret: 'not-so-secret', name: 'App' })
})

test('flow overrides are ids on the wire', async () => {
  const { service } = await testService()
  const path = await realm()
  const { listObjects } = await import('../../src/service/objects/live-objects.ts')
  const { SYSTEM } = await import('../../src/service/context/service.ts')
  const [flow] = await service.read(SYSTEM, path.split('/').at(-1)!, (context) =>
    listObjects(context, 'authenticationFlow', { keys: [['browser']] }),
  )
  const body = { clientId: 'app', authenticationFlowBindingOverrides: { browser: flow!.id } }
  const client = await make(`${path}/clients`, body)
  expect((await call('GET', client)).body.authenticationFlowBindingOverrides).toEqual({ browser: flow!.id })
  await call('PUT', client, { body: { authenticationFlowBindingOverrides: { browser: '' } } })
  expect((await call('GET', client)).body.authenticationFlowBindingOverrides).toEqual({})
  const response = await call('PUT', client, { body: { authenticationFlowBindingOverrides: { browser: 'nowhere' } } })
  expect(response.status).toBe(400)
})

test('the admin client cannot be changed, and built-in clients cannot be deleted', async () => {
  const path = `${await realm()}/clients`
  const find = async (clientId: string) => `${path}/${(await call('GET', `${path}?clientId=${clientId}`)).body[0].id}`
  const [management, account] = [await find('realm-management'), await find('account')]
  expect((await call('PUT', management, { body: { name: 'x' } })).status).toBe(403)
  expect((await call('DELETE', management)).status).toBe(403)
  expect((await call('PUT', account, { body: { name: 'x' } })).status).toBe(204)
  expect(await call('DELETE', account)).toMatchObject({
    status: 400,
    body: { error: 'invalid_request', error_description: 'Could not delete client' },
  })
})

test('clients are found by client id, by a part of it, and by searchable attributes', async () => {
  const path = `${await realm()}/clients`
  await make(path, { clientId: 'Shop_1', attributes: { 'jwt.credential.sub': 'shop one' } })
  await make(path, { clientId: 'shop%2' })
  const ids = async (query: string) =>
    (await call('GET', `${path}?${query}`)).body.map(({ clientId }: { clientId: string }) => clientId)
  expect(await ids('clientId=shop')).toEqual([])
  expect(await ids('clientId=SHOP&search=true')).toEqual(['Shop_1', 'shop%2'])
  expect(await ids('clientId=shop_&search=true')).toEqual(['Shop_1'])
  expect(await ids('q=jwt.credential.sub:%22shop%20one%22')).toEqual(['Shop_1'])
  expect(await ids('first=1&max=2')).toEqual(['account', 'account-console'])
  expect(await ids('first=-1&max=0')).toEqual([])
  expect((await call('GET', `${path}?first=x`)).status).toBe(404)
})

test('a client keeps any id of its body', async () => {
  const path = `${await realm()}/clients`
  const client = await make(path, { id: 'a b/ü', clientId: 'app' })
  expect(client).toBe(`${path}/a%20b%2F%C3%BC`)
  expect((await call('GET', client)).body.id).toBe('a b/ü')
  expect(await call('POST', path, { body: { id: 'a b/ü', clientId: 'other' } })).toMatchObject({
    status: 409,
    body: { error_description: 'Duplicate resource error' },
  })
})

test('a client scope is assigned once, as default or as optional', async () => {
  const path = await realm()
  const client = await make(`${path}/clients`, { clientId: 'app' })
  const scope = (await make(`${path}/client-scopes`, { name: 'orders', protocol: 'openid-connect' })).split('/').at(-1)
  const names = async (assignment: string) =>
    (await call('GET', `${client}/${assignment}-client-scopes`)).body.map(({ name }: { name: string }) => name)
  await call('PUT', `${client}/optional-client-scopes/${scope}`)
  await call('PUT', `${client}/default-client-scopes/${scope}`)
  expect(await names('optional')).toContain('orders')
  expect(await names('default')).not.toContain('orders')
  await call('DELETE', `${client}/default-client-scopes/${scope}`)
  expect(await names('optional')).not.toContain('orders')
})

test('a new client gets the declared client scopes of its protocol, each once', async () => {
  const path = `${await realm()}/clients`
  const scopesOf = async (client: string) => {
    const { defaultClientScopes, optionalClientScopes } = (await call('GET', client)).body
    return [defaultClientScopes, optionalClientScopes]
  }
  const lists = { defaultClientScopes: ['role_list', 'email', 'no such'], optionalClientScopes: ['email', 'phone'] }
  expect(await scopesOf(await make(path, { clientId: 'app', ...lists }))).toEqual([['email'], ['phone']])
  expect(await scopesOf(await make(path, { clientId: 'saml', protocol: 'saml', ...lists }))).toEqual([
    ['role_list'],
    [],
  ])
})

test('the client scope of service accounts is removed with the account, and added by an update that declares it', async () => {
  const path = await realm()
  const client = await make(`${path}/clients`, {
    clientId: 'app',
    defaultClientScopes: [],
    serviceAccountsEnabled: true,
  })
  const scopes = async () => (await call('GET', `${client}/default-client-scopes`)).body
  const [scope] = await scopes()
  expect(scope.name).toBe('service_account')
  await call('DELETE', `${client}/default-client-scopes/${scope.id}`)
  await call('PUT', client, { body: { name: 'App' } })
  expect(await scopes()).toEqual([])
  await call('PUT', client, { body: { serviceAccountsEnabled: true } })
  expect(await scopes()).toEqual([scope])
  await call('PUT', client, { body: { serviceAccountsEnabled: false } })
  expect(await scopes()).toEqual([])
})

test('an update of a confidential client without a secret generates one, and realm_client cannot be set', async () => {
  const path = `${await realm()}/clients`
  const get = async (address: string) => (await call('GET', address)).body
  const broker = `${path}/${(await call('GET', `${path}?clientId=broker`)).body[0].id}`
  expect(await get(broker)).not.toHaveProperty('secret')
  await call('PUT', broker, { body: { secret: '**********', attributes: { realm_client: 'false' } } })
  expect(await get(broker)).toMatchObject({
    secret: expect.stringMatching(/^\w{32}$/),
    attributes: { realm_client: 'true', 'client.secret.creation.time': expect.stringMatching(/^\d+$/) },
  })
  const app = await make(path, { clientId: 'app', attributes: { realm_client: 'true' } })
  expect((await get(app)).attributes.realm_client).toBe('false')
})
