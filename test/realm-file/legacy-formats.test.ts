// Legacy formats are read like by Keycloak's import.
import { expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const { call, createRealm } = await testServer()

test('default roles that no list declares are created, and all users have them', async () => {
  const name = newName()
  const document = {
    realm: name,
    defaultRoles: ['declared', 'made', 'offline_access'],
    roles: { realm: [{ name: 'declared', description: 'Declared' }], client: { shop: [{ name: 'own' }] } },
    clients: [{ clientId: 'shop', defaultRoles: ['own', 'made'] }],
  }
  const state = createSource([document], name)
  await applySource(service, state)
  const { representation } = await getLiveObject(service, SYSTEM, name, 'role', `default-roles-${name}`)
  expect(representation.composites).toEqual({
    realm: ['declared', 'made', 'offline_access', 'uma_authorization'],
    client: { account: ['manage-account', 'view-profile'], shop: ['made', 'own'] },
  })
  expect((await getLiveObject(service, SYSTEM, name, 'role', 'declared')).representation.description).toBe('Declared')
  expect(await planText(service, state)).toContain('Nothing to do.')
  await applySource(service, createSource([{ ...document, defaultRoles: ['declared'] }], name))
  const { representation: now } = await getLiveObject(service, SYSTEM, name, 'role', `default-roles-${name}`)
  expect(now.composites).toMatchObject({ realm: ['declared', 'uma_authorization'] })
})

test('a realm created by REST has its default roles too, and an update ignores them', async () => {
  const path = await createRealm({ defaultRoles: ['member'] })
  expect((await call('GET', `${path}/roles/member`)).status).toBe(200)
  expect((await call('PUT', path, { body: { defaultRoles: ['other'] } })).status).toBe(204)
  expect((await call('GET', `${path}/roles/other`)).status).toBe(404)
})

test('a default role that is not a name is refused with its position', async () => {
  const name = newName()
  await expect(applySource(service, createSource([{ realm: name, defaultRoles: 'member' }], name))).rejects.toThrow(
    /-1\.yaml:2:1: defaultRoles must be a list of names of roles, not a string|defaultRoles must be a list/,
  )
})

test('a client template is read as a client scope', async () => {
  const name = newName()
  const clientTemplates = [
    { name: 'shared', protocol: 'openid-connect', fullScopeAllowed: true, attributes: { a: 'b' } },
  ]
  await applySource(service, createSource([{ realm: name, clientTemplates }], name))
  const { representation } = await getLiveObject(service, SYSTEM, name, 'clientScope', 'shared')
  expect(representation).toMatchObject({ protocol: 'openid-connect', attributes: { a: 'b' } })
})

test('built-in required actions of users are accepted in lower case', async () => {
  const name = newName()
  const document = { realm: name, users: [{ username: 'ann', requiredActions: ['terms_and_conditions', 'own_one'] }] }
  await applySource(service, createSource([document], name))
  const { representation } = await getLiveObject(service, SYSTEM, name, 'user', 'ann')
  expect(representation.requiredActions).toEqual(['TERMS_AND_CONDITIONS', 'own_one'])
})

test.each<[string, { keycloakVersion?: string; requiredActions?: string[] }, boolean]>([
  [
    'an export that lists the action',
    { keycloakVersion: '26.0.0', requiredActions: ['VERIFY_EMAIL', 'VERIFY_PROFILE'] },
    true,
  ],
  ['an export that does not list it', { keycloakVersion: '22.0.1', requiredActions: ['VERIFY_EMAIL'] }, false],
  ['an export without required actions', { keycloakVersion: '22.0.1' }, true],
  ['another document', { requiredActions: ['VERIFY_EMAIL'] }, true],
])('a realm of %s verifies profiles only if Keycloak would', async (_, { requiredActions, ...fields }, isEnabled) => {
  const name = newName()
  const actions = requiredActions?.map((alias) => ({ alias, providerId: alias, name: alias, enabled: true }))
  const source = createSource([{ realm: name, ...fields, ...(actions && { requiredActions: actions }) }], name)
  await applySource(service, source)
  const { representation } = await getLiveObject(service, SYSTEM, name, 'requiredAction', 'VERIFY_PROFILE')
  expect(representation.enabled).toBe(isEnabled)
  expect((await planSources(service, SYSTEM, [source])).realms.flatMap(({ plan }) => plan.actions)).toEqual([])
})

test('a realm created by REST from an export that does not list the action does not verify profiles', async () => {
  const path = await createRealm({ keycloakVersion: '22.0.1', requiredActions: [{ alias: 'VERIFY_EMAIL' }] })
  const { body } = await call('GET', `${path}/authentication/required-actions/VERIFY_PROFILE`)
  expect(body).toMatchObject({ enabled: false })
})

test('a client does not get declared client scopes of another protocol, which a note names once', async () => {
  const name = newName()
  const clients = ['first', 'second'].map((clientId) => ({
    clientId,
    defaultClientScopes: ['role_list', 'own', 'email'],
  }))
  const declared = { realm: name, clientScopes: [{ name: 'own', protocol: 'saml' }], clients }
  const source = createSource([declared], name)
  const { realms } = await applySource(service, source)
  expect(realms.flatMap(({ plan }) => plan.notes.map(({ message }) => message))).toEqual([
    'client scope role_list is ignored for clients of another protocol',
    'client scope own is ignored for clients of another protocol',
    'client scope own: Regent does not have the protocol saml; users cannot log in to SAML clients',
  ])
  const { representation } = await getLiveObject(service, SYSTEM, name, 'client', 'second')
  expect(representation.defaultClientScopes).toEqual(['email'])
  expect(await planText(service, source)).toContain('Nothing to do.')
})

test('a client of a new realm uses its redirect URIs also for logout by default', async () => {
  const declared = { clientId: 'declared', attributes: { 'post.logout.redirect.uris': 'https://out.example.org' } }
  const path = await createRealm({ clients: [{ clientId: 'silent' }, declared] })
  const readLogoutUris = async (clientId: string) =>
    (await call('GET', `${path}/clients?clientId=${clientId}`)).body[0].attributes['post.logout.redirect.uris']
  expect([await readLogoutUris('silent'), await readLogoutUris('declared')]).toEqual(['+', 'https://out.example.org'])
})

test('the template of a client is one of its client scopes, unless it declares client scopes', async () => {
  const name = newName()
  const clients = [
    { clientId: 'plain', clientTemplate: 'my own' },
    { clientId: 'declaring', clientTemplate: 'my own', defaultClientScopes: ['email'] },
    { clientId: 'other', clientTemplate: 'my own', protocol: 'saml' },
  ]
  const state = createSource(
    [{ realm: name, clientTemplates: [{ name: 'my own', protocol: 'openid-connect' }], clients }],
    name,
  )
  await applySource(service, state)
  const scopesOf = async (client: string) =>
    (await getLiveObject(service, SYSTEM, name, 'client', client)).representation.defaultClientScopes
  expect(await scopesOf('plain')).toEqual(['acr', 'basic', 'email', 'my_own', 'profile', 'roles', 'web-origins'])
  expect(await scopesOf('declaring')).toEqual(['email'])
  expect(await scopesOf('other')).not.toContain('my_own')
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('application roles of a user are client roles if the user declares none', async () => {
  const name = newName()
  const users = [
    { username: 'ann', applicationRoles: { shop: ['buyer'] } },
    { username: 'bob', applicationRoles: { shop: ['buyer'] }, clientRoles: { shop: ['seller'] } },
  ]
  const roles = { client: { shop: [{ name: 'buyer' }, { name: 'seller' }] } }
  await applySource(service, createSource([{ realm: name, clients: [{ clientId: 'shop' }], roles, users }], name))
  const rolesOf = async (user: string) =>
    (await getLiveObject(service, SYSTEM, name, 'user', user)).representation.clientRoles
  expect([await rolesOf('ann'), await rolesOf('bob')]).toEqual([{ shop: ['buyer'] }, { shop: ['seller'] }])
})

test('a built-in role that only defaultRoles of its client names contains no other role', async () => {
  const clients = [{ clientId: 'account', defaultRoles: ['view-profile', 'manage-account'] }]
  const applied = newName()
  await applySource(service, createSource([{ realm: applied, clients }], applied))
  const created = newName()
  expect((await call('POST', '/admin/realms', { body: { realm: created, clients } })).status).toBe(201)
  for (const name of [applied, created]) {
    const [account] = (await call('GET', `/admin/realms/${name}/clients?clientId=account`)).body
    const role = `/admin/realms/${name}/clients/${account.id}/roles/manage-account`
    expect([name, (await call('GET', `${role}/composites`)).body]).toEqual([name, []])
  }
})

test('applications and third-party clients are clients, with the roles in their scope', async () => {
  const name = newName()
  const document = {
    realm: name,
    clients: [{ clientId: 'declared' }],
    applications: [{ name: 'shop', bearerOnly: true, defaultRoles: ['buyer'] }],
    oauthClients: [{ name: 'partner', secret: 'partner-secret' }],
    applicationScopeMappings: { shop: [{ client: 'partner', roles: ['buyer'] }] },
    roles: { client: { shop: [{ name: 'buyer' }] } },
  }
  const source = createSource([document], name)
  await applySource(service, source)
  const created = newName()
  expect((await call('POST', '/admin/realms', { body: { ...document, realm: created } })).status).toBe(201)
  for (const realm of [name, created]) {
    const readClient = async (client: string) =>
      (await getLiveObject(service, SYSTEM, realm, 'client', client)).representation
    expect(await readClient('shop')).toMatchObject({ bearerOnly: true, consentRequired: false })
    expect(await readClient('partner')).toMatchObject({
      consentRequired: true,
      fullScopeAllowed: false,
      scopeMappings: { client: { shop: ['buyer'] } },
    })
    const { representation } = await getLiveObject(service, SYSTEM, realm, 'role', `default-roles-${realm}`)
    expect(representation.composites).toMatchObject({ client: { shop: ['buyer'] } })
  }
  expect(await planText(service, source)).toContain('Nothing to do.')
})

test('a note names scope mappings of applications that are ignored beside those of clients', async () => {
  const name = newName()
  const document = {
    realm: name,
    clients: [{ clientId: 'shop' }, { clientId: 'web' }],
    clientScopeMappings: { shop: [{ client: 'web', roles: ['seller'] }] },
    applicationScopeMappings: { shop: [{ client: 'web', roles: ['buyer'] }] },
    roles: { client: { shop: [{ name: 'buyer' }, { name: 'seller' }] } },
  }
  const { realms } = await applySource(service, createSource([document], name))
  expect(realms.flatMap(({ plan }) => plan.notes.map(({ message }) => message))).toContain(
    'applicationScopeMappings is ignored, since clientScopeMappings is declared',
  )
  const { representation } = await getLiveObject(service, SYSTEM, name, 'client', 'web')
  expect(representation.scopeMappings).toEqual({ client: { shop: ['seller'] } })
})

test('attributes that are settings are read as these', async () => {
  const attributes = { bruteForceProtected: 'true', failureFactor: '3', colour: 'blue' }
  const settings = { bruteForceProtected: true, failureFactor: 3 }
  const name = newName()
  const source = createSource([{ realm: name, failureFactor: 5, attributes }], name)
  const { realms } = await applySource(service, source)
  expect(realms.flatMap(({ plan }) => plan.notes.map(({ message }) => message))).toContain(
    'attributes.failureFactor takes precedence over failureFactor, as in Keycloak: declare one of them',
  )
  expect(await planText(service, source)).toContain('Nothing to do.')
  const created = await createRealm({ failureFactor: 5, attributes })
  const updated = await createRealm()
  expect((await call('PUT', updated, { body: { attributes } })).status).toBe(204)
  expect(
    (await call('PUT', updated, { body: { failureFactor: 3, attributes: { ...attributes, failureFactor: '5' } } }))
      .status,
  ).toBe(204)
  for (const path of [`/admin/realms/${name}`, created, updated]) {
    const { body } = await call('GET', path)
    expect(body, path).toMatchObject(settings)
    expect(body.attributes).toMatchObject({ colour: 'blue' })
    expect(Object.keys(body.attributes).filter((attribute) => attribute in settings)).toEqual([])
  }
})

test('an attribute with an invalid value of a setting is refused', async () => {
  const name = newName()
  const source = createSource([{ realm: name, attributes: { failureFactor: 'three' } }], name)
  await expect(applySource(service, source)).rejects.toThrow('failureFactor must be a whole number')
})
