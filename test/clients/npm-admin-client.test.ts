// Keycloak's admin client for Node, unchanged, against a listening server.
import { setTimeout } from 'node:timers/promises'
import KeycloakAdminClient, { NetworkError } from '@keycloak/keycloak-admin-client'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const baseUrl = await (await testServer()).listen()
const credentials = { grantType: 'password', clientId: 'admin-cli', username: 'admin', password: 'admin' } as const

/** Returns a client that has logged in, and a new realm. */
async function createClientAndRealm(settings: object = {}) {
  const admin = new KeycloakAdminClient({ baseUrl })
  await admin.auth(credentials)
  const { realmName: realm } = await admin.realms.create({ realm: newName(), enabled: true, ...settings })
  return { admin, realm }
}

/** Returns the error of a call. Fails if the call succeeds. */
async function getError(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(NetworkError)
  const { message, response, responseData } = error as NetworkError
  return { message, status: response.status, data: responseData }
}

const names = (objects: readonly { name?: string }[]) => objects.map(({ name }) => name)

test('auth logs in with a password, and fails with a wrong one', async () => {
  const admin = new KeycloakAdminClient({ baseUrl })
  await admin.auth(credentials)
  expect(admin.isTokenExpired()).toBe(false)
  expect(admin.isRefreshTokenExpired()).toBe(false)
  expect((await admin.realms.find()).map(({ realm }) => realm)).toContain('master')
  expect(await getError(admin.auth({ ...credentials, password: 'wrong' }))).toMatchObject({
    message: 'invalid_grant',
    data: { error_description: 'Invalid user credentials' },
  })
})

test('the client gets a new token when the old one has expired', async () => {
  const { admin } = await createClientAndRealm()
  const clientId = newName('brief')
  // Tokens expire on a full second, so the next token is valid for at least one of its two seconds.
  const attributes = { 'access.token.lifespan': '2' }
  const settings = { realm: 'master', clientId, publicClient: true, directAccessGrantsEnabled: true, attributes }
  const { id } = await admin.clients.create(settings)
  const brief = new KeycloakAdminClient({ baseUrl })
  await brief.auth({ ...credentials, clientId })
  const first = brief.accessToken
  await setTimeout(2_100)
  expect(brief.isTokenExpired()).toBe(true)
  const expiredResponse = await fetch(`${baseUrl}/admin/realms`, { headers: { authorization: `Bearer ${first}` } })
  expect(expiredResponse.status).toBe(401)
  expect(await brief.realms.findOne({ realm: 'master' })).toMatchObject({ realm: 'master' })
  expect(brief.accessToken).not.toBe(first)
  await admin.clients.del({ realm: 'master', id })
})

test('realms are created with their content, found, updated and deleted', async () => {
  const { admin, realm } = await createClientAndRealm({
    displayName: 'Shops',
    clients: [{ clientId: 'shop', redirectUris: ['https://shop.example.org/*'] }],
    roles: { realm: [{ name: 'reader', attributes: { level: ['1'] } }], client: { shop: [{ name: 'buyer' }] } },
    clientScopes: [{ name: 'orders', protocol: 'openid-connect' }],
  })
  expect(await admin.realms.findOne({ realm })).toMatchObject({ realm, displayName: 'Shops', enabled: true })
  expect((await admin.realms.find()).find((representation) => representation.realm === realm)).toHaveProperty(
    'accessTokenLifespan',
  )
  const brief = await admin.realms.find({ briefRepresentation: true })
  expect(brief.find((representation) => representation.realm === realm)).not.toHaveProperty('accessTokenLifespan')

  const [shop] = await admin.clients.find({ realm, clientId: 'shop' })
  expect(shop).toMatchObject({ clientId: 'shop', redirectUris: ['https://shop.example.org/*'] })
  expect(names(await admin.clients.listRoles({ realm, id: shop!.id! }))).toEqual(['buyer'])
  expect(await admin.roles.findOneByName({ realm, name: 'reader' })).toMatchObject({ attributes: { level: ['1'] } })
  expect(await admin.clientScopes.findOneByName({ realm, name: 'orders' })).toMatchObject({ name: 'orders' })

  await admin.realms.update({ realm }, { displayName: 'Stores', attributes: { colour: 'blue' } })
  const changed = await admin.realms.findOne({ realm })
  expect(changed).toMatchObject({ displayName: 'Stores', attributes: { colour: 'blue' } })
  // The admin console sends all fields that it read, with one changed.
  await admin.realms.update({ realm }, { ...changed, loginTheme: 'plain' })
  expect(await admin.realms.findOne({ realm })).toMatchObject({ displayName: 'Stores', loginTheme: 'plain' })

  await admin.realms.del({ realm })
  expect(await admin.realms.findOne({ realm })).toBeNull()
})

test('clients are created, found, updated and deleted', async () => {
  const { admin, realm } = await createClientAndRealm()
  const { id } = await admin.clients.create({ realm, clientId: 'shop', name: 'Shop', secret: 'of-the-shop' })
  await admin.clients.create({ realm, clientId: 'workshop', protocol: 'saml' })
  const ids = async (query: object) => (await admin.clients.find({ realm, ...query })).map(({ clientId }) => clientId)
  expect(await ids({ clientId: 'shop' })).toEqual(['shop'])
  expect((await ids({ clientId: 'SHOP', search: true })).sort()).toEqual(['shop', 'workshop'])
  expect(await ids({ first: 1, max: 2 })).toEqual((await ids({})).slice(1, 3))

  const shop = await admin.clients.findOne({ realm, id })
  expect(shop).toMatchObject({ id, clientId: 'shop', secret: 'of-the-shop', access: { manage: true } })
  await admin.clients.update({ realm, id }, { ...shop, name: 'The shop', attributes: { colour: 'blue' } })
  expect(await admin.clients.findOne({ realm, id })).toMatchObject({
    name: 'The shop',
    secret: 'of-the-shop',
    attributes: { colour: 'blue' },
  })

  await admin.clients.del({ realm, id })
  expect(await admin.clients.findOne({ realm, id })).toBeNull()
  expect(await ids({ clientId: 'shop' })).toEqual([])
})

test('client scopes are assigned to clients and removed', async () => {
  const { admin, realm } = await createClientAndRealm()
  const { id } = await admin.clients.create({ realm, clientId: 'shop' })
  const { id: clientScopeId } = await admin.clientScopes.create({ realm, name: 'orders', protocol: 'openid-connect' })
  const getAssignments = async () => ({
    default: names(await admin.clients.listDefaultClientScopes({ realm, id })).includes('orders'),
    optional: names(await admin.clients.listOptionalClientScopes({ realm, id })).includes('orders'),
  })
  expect(await getAssignments()).toEqual({ default: false, optional: false })
  await admin.clients.addDefaultClientScope({ realm, id, clientScopeId })
  expect(await getAssignments()).toEqual({ default: true, optional: false })
  await admin.clients.delDefaultClientScope({ realm, id, clientScopeId })
  await admin.clients.addOptionalClientScope({ realm, id, clientScopeId })
  expect(await getAssignments()).toEqual({ default: false, optional: true })
  await admin.clients.delOptionalClientScope({ realm, id, clientScopeId })
  expect(await getAssignments()).toEqual({ default: false, optional: false })
})

const mapper = (name: string) => ({
  name,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-claim-mapper',
  config: { 'claim.name': name, 'claim.value': 'x' },
})

test('protocol mappers of clients are created, found, updated and deleted', async () => {
  const { admin, realm } = await createClientAndRealm()
  const { id } = await admin.clients.create({ realm, clientId: 'shop', protocolMappers: [mapper('one')] })
  await admin.clients.addProtocolMapper({ realm, id }, mapper('two'))
  await admin.clients.addMultipleProtocolMappers({ realm, id }, [mapper('three'), mapper('four')])
  const listNames = async () => names(await admin.clients.listProtocolMappers({ realm, id })).sort()
  expect(await listNames()).toEqual(['four', 'one', 'three', 'two'])
  expect(await admin.clients.findProtocolMappersByProtocol({ realm, id, protocol: 'saml' })).toEqual([])

  const two = await admin.clients.findProtocolMapperByName({ realm, id, name: 'two' })
  const path = { realm, id, mapperId: two!.id! }
  await admin.clients.updateProtocolMapper(path, { ...two, config: { 'claim.name': 'second' } })
  expect((await admin.clients.findProtocolMapperById(path))!.config).toEqual({ 'claim.name': 'second' })
  await admin.clients.delProtocolMapper(path)
  expect(await admin.clients.findProtocolMapperById(path)).toBeNull()
  expect(await listNames()).toEqual(['four', 'one', 'three'])
})

test('client scopes are created with their mappers, found, updated and deleted', async () => {
  const { admin, realm } = await createClientAndRealm()
  const orders = { name: 'orders', protocol: 'openid-connect', attributes: { 'include.in.token.scope': 'true' } }
  const { id } = await admin.clientScopes.create({ realm, ...orders, protocolMappers: [mapper('one')] })
  expect(names(await admin.clientScopes.find({ realm }))).toContain('orders')
  const scope = await admin.clientScopes.findOneByName({ realm, name: 'orders' })
  expect(scope).toMatchObject({ id, ...orders, protocolMappers: [{ name: 'one' }] })
  await admin.clientScopes.update({ realm, id }, { ...scope, description: 'Previous orders' })
  expect(await admin.clientScopes.findOne({ realm, id })).toMatchObject({ ...orders, description: 'Previous orders' })

  await admin.clientScopes.addProtocolMapper({ realm, id }, mapper('two'))
  await admin.clientScopes.addMultipleProtocolMappers({ realm, id }, [mapper('three')])
  const two = await admin.clientScopes.findProtocolMapperByName({ realm, id, name: 'two' })
  const path = { realm, id, mapperId: two!.id! }
  await admin.clientScopes.updateProtocolMapper(path, { ...two, config: { 'claim.name': 'second' } })
  expect((await admin.clientScopes.findProtocolMapper(path))!.config).toEqual({ 'claim.name': 'second' })
  await admin.clientScopes.delProtocolMapper(path)
  const remaining = await admin.clientScopes.findProtocolMappersByProtocol({ realm, id, protocol: 'openid-connect' })
  expect(names(remaining).sort()).toEqual(['one', 'three'])

  await admin.clientScopes.delByName({ realm, name: 'orders' })
  expect(await admin.clientScopes.findOneByName({ realm, name: 'orders' })).toBeUndefined()
})

test('default client scopes of the configured realm are assigned to new clients', async () => {
  const { admin, realm } = await createClientAndRealm()
  admin.setConfig({ realmName: realm })
  const { id } = await admin.clientScopes.create({ name: 'orders', protocol: 'openid-connect' })
  await admin.clientScopes.addDefaultClientScope({ id })
  expect(names(await admin.clientScopes.listDefaultClientScopes())).toContain('orders')
  await admin.clientScopes.delDefaultClientScope({ id })
  await admin.clientScopes.addDefaultOptionalClientScope({ id })
  expect(names(await admin.clientScopes.listDefaultOptionalClientScopes())).toContain('orders')
  const shop = await admin.clients.create({ clientId: 'shop' })
  expect(names(await admin.clients.listOptionalClientScopes({ id: shop.id }))).toContain('orders')
  await admin.clientScopes.delDefaultOptionalClientScope({ id })
  expect(names(await admin.clientScopes.listDefaultOptionalClientScopes())).not.toContain('orders')
})

test('roles are created, found, updated and deleted', async () => {
  const { admin, realm } = await createClientAndRealm()
  expect(await admin.roles.create({ realm, name: 'reader', attributes: { level: ['1'] } })).toEqual({
    roleName: 'reader',
  })
  await admin.roles.create({ realm, name: 'sales & more/south' })
  expect(names(await admin.roles.find({ realm, search: 'READ' }))).toEqual(['reader'])
  expect(await admin.roles.find({ realm, first: 0, max: 2 })).toHaveLength(2)
  const [full] = await admin.roles.find({ realm, search: 'reader', briefRepresentation: false })
  expect(full).toMatchObject({ attributes: { level: ['1'] } })

  await admin.roles.updateByName({ realm, name: 'reader' }, { ...full, description: 'Reads' })
  const reader = await admin.roles.findOneByName({ realm, name: 'reader' })
  expect(reader).toMatchObject({ description: 'Reads', attributes: { level: ['1'] }, clientRole: false })
  const id = reader!.id!
  await admin.roles.updateById({ realm, id }, { name: 'lector' })
  expect(await admin.roles.findOneById({ realm, id })).toMatchObject({ name: 'lector' })
  expect(await admin.roles.findOneByName({ realm, name: 'reader' })).toBeNull()
  await admin.roles.delById({ realm, id })
  expect(await admin.roles.findOneById({ realm, id })).toBeNull()

  const path = { realm, name: 'sales & more/south' }
  expect(await admin.roles.findOneByName(path)).toMatchObject({ name: path.name })
  await admin.roles.delByName(path)
  expect(await admin.roles.findOneByName(path)).toBeNull()
})

test('client roles are created, found, updated and deleted', async () => {
  const { admin, realm } = await createClientAndRealm()
  const { id } = await admin.clients.create({ realm, clientId: 'shop' })
  expect(await admin.clients.createRole({ realm, id, name: 'buyer' })).toEqual({ roleName: 'buyer' })
  const path = { realm, id, roleName: 'buyer' }
  await admin.clients.updateRole(path, { name: 'buyer', description: 'Buys' })
  expect(await admin.clients.findRole(path)).toMatchObject({ description: 'Buys', clientRole: true, containerId: id })
  expect(names(await admin.clients.listRoles({ realm, id }))).toEqual(['buyer'])
  await admin.clients.delRole(path)
  expect(await admin.clients.findRole(path)).toBeNull()
  expect(await admin.clients.listRoles({ realm, id })).toEqual([])
})

test('identity providers and their mappers are created, found, updated and deleted', async () => {
  const { admin, realm } = await createClientAndRealm()
  const alias = 'op'
  const config = { clientId: 'regent', clientSecret: 'hush' }
  await admin.identityProviders.create({ realm, alias, providerId: 'oidc', config })
  const provider = (await admin.identityProviders.findOne({ realm, alias }))!
  expect(provider).toMatchObject({ alias, enabled: true, config: { clientSecret: '**********' } })
  await admin.identityProviders.update({ realm, alias }, { ...provider, displayName: 'The OP' })
  expect(await admin.identityProviders.find({ realm, search: 'the' })).toMatchObject([{ displayName: 'The OP' }])
  expect(await admin.identityProviders.findFactory({ realm, providerId: 'oidc' })).toMatchObject({ id: 'oidc' })
  const identityProviderMapper = 'oidc-username-idp-mapper'
  expect(await admin.identityProviders.findMapperTypes({ realm, alias })).toHaveProperty(identityProviderMapper)

  const usernameMapper = {
    name: 'login',
    identityProviderAlias: alias,
    identityProviderMapper,
    config: { template: 'a' },
  }
  const { id } = await admin.identityProviders.createMapper({ realm, alias, identityProviderMapper: usernameMapper })
  expect(await admin.identityProviders.findMappers({ realm, alias })).toEqual([{ id, ...usernameMapper }])
  await admin.identityProviders.updateMapper({ realm, alias, id }, { ...usernameMapper, id, config: { template: 'b' } })
  expect(await admin.identityProviders.findOneMapper({ realm, alias, id })).toMatchObject({ config: { template: 'b' } })
  await admin.identityProviders.delMapper({ realm, alias, id })
  expect(await admin.identityProviders.findMappers({ realm, alias })).toEqual([])
  await admin.identityProviders.del({ realm, alias })
  expect(await admin.identityProviders.find({ realm })).toEqual([])
})

test('authentication flows and required actions are created, found, updated and deleted', async () => {
  const { admin, realm } = await createClientAndRealm()
  const { authenticationManagement: management } = admin
  const flow = 'flow-1'
  await management.createFlow({ realm, alias: flow, providerId: 'basic-flow', topLevel: true, builtIn: false })
  const { id: inner } = await management.addFlowToFlow({
    realm,
    flow,
    alias: 'inner',
    type: 'basic-flow',
    provider: '',
    description: 'Inside',
  })
  expect(await management.getFlow({ realm, flowId: inner! })).toMatchObject({ alias: 'inner', topLevel: false })
  const { id } = await management.addExecutionToFlow({ realm, flow: 'inner', provider: 'deny-access-authenticator' })
  await management.updateExecution({ realm, flow }, { id: id!, requirement: 'REQUIRED' })
  const { id: configId } = await management.createConfig({
    realm,
    id: id!,
    alias: 'words',
    config: { denyErrorMessage: 'No' },
  })
  expect(await management.getConfig({ realm, id: configId! })).toMatchObject({ config: { denyErrorMessage: 'No' } })
  expect(await management.getExecutions({ realm, flow })).toMatchObject([
    { displayName: 'inner', level: 0, flowId: inner },
    { displayName: 'Deny access', level: 1, requirement: 'REQUIRED', alias: 'words' },
  ])
  await management.copyFlow({ realm, flow, newName: 'flow-2' })
  const flows = await management.getFlows({ realm })
  expect(flows.map(({ alias }) => alias)).toEqual(expect.arrayContaining(['browser', 'flow-1', 'flow-2']))
  await management.deleteFlow({ realm, flowId: flows.find(({ alias }) => alias === flow)!.id! })
  expect((await getError(management.getExecutions({ realm, flow }))).status).toBe(404)

  const alias = 'UPDATE_PASSWORD'
  await management.updateRequiredActionConfig({ realm, alias }, { config: { max_auth_age: '60' } })
  expect(await management.getRequiredActionForAlias({ realm, alias })).toMatchObject({ config: { max_auth_age: '60' } })
  await management.deleteRequiredAction({ realm, alias })
  // The following methods have no realm parameter.
  admin.setConfig({ realmName: realm })
  expect(await management.getUnregisteredRequiredActions()).toMatchObject([{ providerId: alias }])
  await management.registerRequiredAction({ realm, providerId: alias, name: 'Choose a password' })
  expect((await management.getRequiredActions()).at(-1)).toMatchObject({ alias, name: 'Choose a password' })
})

test('errors have the status and the message of the server', async () => {
  const { admin, realm } = await createClientAndRealm({ clients: [{ clientId: 'shop' }] })
  expect(await getError(admin.realms.create({ realm }))).toMatchObject({
    status: 409,
    message: expect.stringContaining('already exists'),
  })
  expect(await getError(admin.clients.create({ realm, clientId: 'shop' }))).toEqual({
    status: 409,
    message: 'Client shop already exists',
    data: { errorMessage: 'Client shop already exists' },
  })
  expect(await getError(admin.clients.del({ realm, id: 'nowhere' }))).toEqual({
    status: 404,
    message: 'Could not find client',
    data: { error: 'Could not find client' },
  })
  expect(await admin.clients.del({ realm, id: 'nowhere' }, { catchNotFound: true })).toBeNull()
  expect(await getError(admin.roles.find({ realm: newName() }))).toMatchObject({
    status: 404,
    message: 'Realm not found.',
  })
  expect(await getError(admin.roles.create({ realm, name: 'x', colour: 'blue' } as object))).toMatchObject({
    status: 400,
    message: expect.stringContaining('Unrecognized field "colour"'),
  })

  const stranger = new KeycloakAdminClient({ baseUrl })
  stranger.registerTokenProvider({ getAccessToken: async () => 'not-a-token' })
  expect(await getError(stranger.realms.find())).toMatchObject({ status: 401, message: 'HTTP 401 Unauthorized' })
})

test('each call on an object that exists succeeds', async () => {
  const { admin, realm } = await createClientAndRealm()
  const { id } = await admin.clients.create({ realm, clientId: 'shop', serviceAccountsEnabled: true })
  const role = await admin.roles.findOneByName({ realm, name: `default-roles-${realm}` })
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    users: () => admin.users.find({ realm }),
    groups: () => admin.groups.find({ realm }),
    'default groups': () => admin.realms.getDefaultGroups({ realm }),
    'composites of a role': () => admin.roles.getCompositeRoles({ realm, id: role!.id! }),
    'users with a role': () => admin.roles.findUsersWithRole({ realm, name: role!.name! }),
    'secret of a client': () => admin.clients.getClientSecret({ realm, id }),
    'service account of a client': () => admin.clients.getServiceAccountUser({ realm, id }),
    'scope mappings of a client': () => admin.clients.listScopeMappings({ realm, id }),
    'sessions of a client': () => admin.clients.listSessions({ realm, id }),
    flows: () => admin.authenticationManagement.getFlows({ realm }),
    'identity providers': () => admin.identityProviders.find({ realm }),
    components: () => admin.components.find({ realm }),
    keys: () => admin.realms.getKeys({ realm }),
    events: () => admin.realms.findEvents({ realm }),
    'admin events': () => admin.realms.findAdminEvents({ realm }),
    'partial export': () => admin.realms.export({ realm }),
    'partial import': () => admin.realms.partialImport({ realm, rep: { ifResourceExists: 'SKIP' } }),
    'localization texts': () => admin.realms.getRealmSpecificLocales({ realm }),
    server: () => admin.serverInfo.find(),
  }
  for (const [title, call] of Object.entries(calls)) await expect(call(), title).resolves.toBeDefined()
})

test('the client API of version 2 creates, lists, replaces and deletes clients', async () => {
  const { realm } = await createClientAndRealm()
  const admin = new KeycloakAdminClient({ baseUrl, enableExperimentalApis: true })
  await admin.auth(credentials)
  admin.setConfig({ realmName: realm })
  const api = admin.clients.v2()
  const declared = { clientId: 'shop', protocol: 'openid-connect', displayName: 'Shop', roles: ['buyer'] }
  expect(await api.post(declared)).toMatchObject({ clientId: 'shop', displayName: 'Shop' })
  expect(await api.byId('shop').put({ ...declared, enabled: true })).toMatchObject({ enabled: true, roles: ['buyer'] })
  const query = { q: 'clientId eq "shop"', fields: ['clientId', 'enabled'], limit: 5 }
  expect(await api.get({ queryParameters: query })).toMatchObject([{ clientId: 'shop', enabled: true }])
  await api.byId('shop').delete()
  await expect(api.byId('shop').get()).rejects.toThrow()
})
