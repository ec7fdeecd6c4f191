// Clients over REST.
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listObjects } from '../../src/service/objects/live-objects.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { testServer } from '../support/server.ts'
import { newDatabase, testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()

test('GET returns the secret of a confidential client, and no secret of a public client', async () => {
  const path = `${await createRealm()}/clients`
  const client = await create(path, { clientId: 'app', secret: 'not-so-secret' })
  expect((await call('GET', client)).body.secret).toBe('not-so-secret')
  await call('PUT', client, { body: { publicClient: true } })
  expect((await call('GET', client)).body).not.toHaveProperty('secret')
})

test('a masked secret retains the existing one', async () => {
  const client = await create(`${await createRealm()}/clients`, { clientId: 'app', secret: 'not-so-secret' })
  await call('PUT', client, { body: { secret: '**********', name: 'App' } })
  expect((await call('GET', client)).body).toMatchObject({ secret: 'not-so-secret', name: 'App' })
})

test('flow overrides of a client are ids of flows; an empty id removes one, and an unknown id returns 400', async () => {
  const { service } = await testService()
  const path = await createRealm()
  const [flow] = await service.read(SYSTEM, path.split('/').at(-1)!, (context) =>
    listObjects(context, 'authenticationFlow', { keys: [['browser']] }),
  )
  const body = { clientId: 'app', authenticationFlowBindingOverrides: { browser: flow!.id } }
  const client = await create(`${path}/clients`, body)
  expect((await call('GET', client)).body.authenticationFlowBindingOverrides).toEqual({ browser: flow!.id })
  await call('PUT', client, { body: { authenticationFlowBindingOverrides: { browser: '' } } })
  expect((await call('GET', client)).body.authenticationFlowBindingOverrides).toEqual({})
  const response = await call('PUT', client, { body: { authenticationFlowBindingOverrides: { browser: 'nowhere' } } })
  expect(response.status).toBe(400)
})

test('realm-management cannot be changed or deleted, and other built-in clients cannot be deleted', async () => {
  const path = `${await createRealm()}/clients`
  const findPath = async (clientId: string) =>
    `${path}/${(await call('GET', `${path}?clientId=${clientId}`)).body[0].id}`
  const [management, account] = [await findPath('realm-management'), await findPath('account')]
  expect((await call('PUT', management, { body: { name: 'x' } })).status).toBe(403)
  expect((await call('DELETE', management)).status).toBe(403)
  expect((await call('PUT', account, { body: { name: 'x' } })).status).toBe(204)
  expect(await call('DELETE', account)).toMatchObject({
    status: 400,
    body: { error: 'invalid_request', error_description: 'Could not delete client' },
  })
})

test('clients are found by client id, by a part of it, and by searchable attributes', async () => {
  const path = `${await createRealm()}/clients`
  await create(path, { clientId: 'Shop_1', attributes: { 'jwt.credential.sub': 'shop one' } })
  await create(path, { clientId: 'shop%2' })
  await create(path, { clientId: 'Ärzte' })
  const listClientIds = async (query: string) =>
    (await call('GET', `${path}?${query}`)).body.map(({ clientId }: { clientId: string }) => clientId)
  expect(await listClientIds('clientId=shop')).toEqual([])
  expect(await listClientIds('clientId=SHOP&search=true')).toEqual(['Shop_1', 'shop%2'])
  expect(await listClientIds('clientId=%C3%A4RZ&search=true')).toEqual(['Ärzte'])
  expect(await listClientIds('clientId=shop_&search=true')).toEqual(['Shop_1'])
  expect(await listClientIds('q=jwt.credential.sub:%22shop%20one%22')).toEqual(['Shop_1'])
  expect(await listClientIds('clientId=Shop_1&first=1&max=0')).toEqual(['Shop_1'])
  expect((await call('GET', `${path}?q=color:`)).status).toBe(400)
  expect(await listClientIds('first=1&max=2')).toEqual(['account', 'account-console'])
  expect(await listClientIds('first=-1&max=0')).toEqual([])
  expect((await call('GET', `${path}?first=x`)).status).toBe(404)
})

test('clients are found by an attribute exactly if Keycloak or the setting makes it searchable', async () => {
  const service = await openService({
    location: await newDatabase(),
    key: new Uint8Array(32),
    searchableClientAttributes: ['owner', 'cost.center'],
  })
  onTestFinished(service.close)
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  const app = await createServer(service, { caller: SYSTEM })
  const url = '/admin/realms/master/clients'
  const attributes = { owner: 'team a', 'cost.center': '7', color: 'red', 'jwt.credential.sub': 'shop' }
  await app.inject({ method: 'POST', url, payload: { clientId: 'shop', attributes } })
  const search = async (q: string) => (await app.inject({ url, query: { q } })).json()
  for (const q of ['owner:"team a"', 'cost.center:7', 'jwt.credential.sub:shop', 'owner:"team a" cost.center:7'])
    expect(await search(q), q).toMatchObject([{ clientId: 'shop' }])
  expect(await search('owner:team')).toEqual([])
  expect(await search('owner:"team a" color:red')).toEqual({
    error: 'invalid_request',
    error_description: 'Attributes [color] not allowed for search',
  })
})

test('a new client gets the id in its body, whatever characters it has', async () => {
  const path = `${await createRealm()}/clients`
  const client = await create(path, { id: 'a b/ü', clientId: 'app' })
  expect(client).toBe(`${path}/a%20b%2F%C3%BC`)
  expect((await call('GET', client)).body.id).toBe('a b/ü')
  expect(await call('POST', path, { body: { id: 'a b/ü', clientId: 'other' } })).toMatchObject({
    status: 409,
    body: { error_description: 'Duplicate resource error' },
  })
})

test('an optional client scope does not become a default client scope by a second assignment', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, { clientId: 'app' })
  const scope = (await create(`${path}/client-scopes`, { name: 'orders', protocol: 'openid-connect' }))
    .split('/')
    .at(-1)
  const listScopes = async (assignment: string) =>
    (await call('GET', `${client}/${assignment}-client-scopes`)).body.map(({ name }: { name: string }) => name)
  await call('PUT', `${client}/optional-client-scopes/${scope}`)
  await call('PUT', `${client}/default-client-scopes/${scope}`)
  expect(await listScopes('optional')).toContain('orders')
  expect(await listScopes('default')).not.toContain('orders')
  await call('DELETE', `${client}/default-client-scopes/${scope}`)
  expect(await listScopes('optional')).not.toContain('orders')
})

test('a new client gets the declared client scopes of its protocol, each once', async () => {
  const path = `${await createRealm()}/clients`
  const readScopes = async (client: string) => {
    const { defaultClientScopes, optionalClientScopes } = (await call('GET', client)).body
    return [defaultClientScopes, optionalClientScopes]
  }
  const scopes = { defaultClientScopes: ['role_list', 'email', 'no such'], optionalClientScopes: ['email', 'phone'] }
  expect(await readScopes(await create(path, { clientId: 'app', ...scopes }))).toEqual([['email'], ['phone']])
  expect(await readScopes(await create(path, { clientId: 'saml', protocol: 'saml', ...scopes }))).toEqual([
    ['role_list'],
    [],
  ])
})

test('the client scope service_account is removed with the service account, and added by an update that declares the service account', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, {
    clientId: 'app',
    defaultClientScopes: [],
    serviceAccountsEnabled: true,
  })
  const listScopes = async () => (await call('GET', `${client}/default-client-scopes`)).body
  const [scope] = await listScopes()
  expect(scope.name).toBe('service_account')
  await call('DELETE', `${client}/default-client-scopes/${scope.id}`)
  await call('PUT', client, { body: { name: 'App' } })
  expect(await listScopes()).toEqual([])
  await call('PUT', client, { body: { serviceAccountsEnabled: true } })
  expect(await listScopes()).toEqual([scope])
  await call('PUT', client, { body: { serviceAccountsEnabled: false } })
  expect(await listScopes()).toEqual([])
})

test('an update of a confidential client without a secret generates one, and realm_client cannot be set', async () => {
  const path = `${await createRealm()}/clients`
  const read = async (address: string) => (await call('GET', address)).body
  const broker = `${path}/${(await call('GET', `${path}?clientId=broker`)).body[0].id}`
  expect(await read(broker)).not.toHaveProperty('secret')
  await call('PUT', broker, { body: { secret: '**********', attributes: { realm_client: 'false' } } })
  expect(await read(broker)).toMatchObject({
    secret: expect.stringMatching(/^\w{32}$/),
    attributes: { realm_client: 'true', 'client.secret.creation.time': expect.stringMatching(/^\d+$/) },
  })
  const app = await create(path, { clientId: 'app', attributes: { realm_client: 'true' } })
  expect((await read(app)).attributes.realm_client).toBe('false')
})

test('a client whose protocol changes gets the scopes of new clients of that protocol, and loses the others', async () => {
  const realm = await createRealm()
  await create(`${realm}/client-scopes`, { name: 'orders', protocol: 'openid-connect' })
  const listScopes = async (client: string) => {
    const { defaultClientScopes, optionalClientScopes } = (await call('GET', client)).body
    return [defaultClientScopes.toSorted(), optionalClientScopes.toSorted()]
  }
  const ofNewClient = async (body: object) => listScopes(await create(`${realm}/clients`, body))
  const saml = await ofNewClient({ clientId: 'saml', protocol: 'saml' })
  const openid = await ofNewClient({ clientId: 'openid', protocol: 'openid-connect' })
  const withAccount = { publicClient: false, serviceAccountsEnabled: true }
  const openidWithAccount = await ofNewClient({
    clientId: 'openid-account',
    protocol: 'openid-connect',
    ...withAccount,
  })
  expect(await ofNewClient({ clientId: 'saml-account', protocol: 'saml', ...withAccount })).toEqual(saml)

  const client = await create(`${realm}/clients`, { clientId: 'app', defaultClientScopes: ['orders', 'phone'] })
  for (const [body, scopes] of [
    [{ name: 'App' }, [['orders', 'phone'], []]],
    [{ protocol: 'saml', defaultClientScopes: ['email'] }, saml],
    [{ protocol: null }, saml],
    [withAccount, saml],
    [{ protocol: 'openid-connect' }, openidWithAccount],
    [{ protocol: 'saml' }, saml],
    [{ protocol: 'openid-connect', serviceAccountsEnabled: false }, openid],
  ] as const) {
    expect((await call('PUT', client, { body })).status).toBe(204)
    expect(await listScopes(client), JSON.stringify(body)).toEqual(scopes)
  }
})

test('directGrantsOnly sets the grants of a new client, over REST and in documents', async () => {
  const fields = { standardFlowEnabled: true, directAccessGrantsEnabled: true, directGrantsOnly: true }
  const opposite = { standardFlowEnabled: false, directAccessGrantsEnabled: true, directGrantsOnly: false }
  const declared = [
    { clientId: 'a', directGrantsOnly: true },
    { clientId: 'b', directGrantsOnly: false },
    { clientId: 'c', ...fields },
    { clientId: 'd', ...opposite },
    { clientId: 'e', protocol: 'openid-connect', ...opposite },
  ]
  const [imported, created] = [await createRealm({ clients: declared }), await createRealm()]
  for (const client of declared) await create(`${created}/clients`, client)
  for (const path of [imported, created])
    for (const { clientId, directGrantsOnly } of declared) {
      const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
      const { standardFlowEnabled, directAccessGrantsEnabled } = client
      expect({ clientId, standardFlowEnabled, directAccessGrantsEnabled }).toEqual({
        clientId,
        standardFlowEnabled: !directGrantsOnly,
        directAccessGrantsEnabled: directGrantsOnly,
      })
    }
})

test.each(['{', '[]', '{"gold":"high"}'])(
  'a client with the levels of authentication %s is refused',
  async (levels) => {
    const realm = await createRealm()
    const body = { clientId: 'app', attributes: { 'acr.loa.map': levels } }
    expect(await call('POST', `${realm}/clients`, { body })).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_input',
        error_description: 'Invalid client configuration (ACR-LOA map) for client',
      },
    })
  },
)

test('a client whose sessions would outlast those of the realm returns 400, with all problems', async () => {
  const realm = await createRealm()
  const attributes = { 'client.session.idle.timeout': '1801', 'client.session.max.lifespan': '36001' }
  const idle = 'Client session idle timeout cannot exceed realm SSO session idle timeout'
  const max = 'Client session max lifespan cannot exceed realm SSO session max lifespan'
  const createClient = async (body: object) => {
    const { status, body: response } = await call('POST', `${realm}/clients`, { body: { clientId: 'app', ...body } })
    return [status, response?.error_description]
  }
  expect(await createClient({ attributes, rootUrl: 'javascript:x' })).toEqual([
    400,
    `Root URL uses an illegal scheme; ${idle}.; ${max}.`,
  ])
  const client = await create(`${realm}/clients`, {
    clientId: 'app',
    attributes: { 'client.session.idle.timeout': '1800', 'client.session.max.lifespan': '36000' },
  })
  expect((await call('PUT', client, { body: { attributes } })).body).toEqual({
    error: 'invalid_input',
    error_description: `${idle}.; ${max}.`,
  })
  await call('PUT', realm, {
    body: { rememberMe: true, ssoSessionIdleTimeoutRememberMe: 1900, ssoSessionMaxLifespanRememberMe: 9 },
  })
  expect((await call('PUT', client, { body: { attributes } })).body.error_description).toBe(
    `${max} and RememberMe Max span.`,
  )
  // The client is as before.
  await call('PUT', realm, { body: { rememberMe: false, ssoSessionIdleTimeout: 600 } })
  expect((await call('PUT', client, { body: { name: 'App' } })).status).toBe(204)
})
