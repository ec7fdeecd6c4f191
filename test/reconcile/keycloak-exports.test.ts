// Forms of Keycloak’s realm exports: each is applied and exported again, and the plans afterwards are empty.
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { migrateRealm } from '../../src/realm-file/export/migrate-realm.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { takeSample } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const { call, create, createRealm } = await testServer()

/** Applies the document to a new realm, and returns its name. Fails unless the next plan is empty, and those of its exports are too, also for another realm. */
async function roundTrip(content: Representation): Promise<string> {
  const realm = newName()
  const state = createSource([{ realm, ...content }], realm)
  await applySource(service, state)
  expect(await planText(service, state)).toContain('Nothing to do.')
  for (const options of takeSample([{}, { full: true, secrets: true, ids: true }, { full: true, secrets: true }])) {
    const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context, options))
    expect(await planText(service, createSource([exported], `${realm} exported`))).toContain('Nothing to do.')
    const name = newName()
    const { id: _, ...other } = JSON.parse(JSON.stringify(exported).replaceAll(realm, name))
    const copy = createSource([other], name)
    await applySource(service, copy)
    expect(await planText(service, copy)).toContain('Nothing to do.')
  }
  return realm
}

const getLive = (realm: string, kind: Parameters<typeof getLiveObject>[3], ...key: string[]) =>
  getLiveObject(service, SYSTEM, realm, kind, ...key)

test.each([
  ['admin-cli', { defaultClientScopes: ['basic', 'service_account'] }],
  ['realm-management', { defaultClientScopes: ['service_account'], optionalClientScopes: ['email'] }],
  ['account', { optionalClientScopes: ['service_account'] }],
])(
  'the built-in client %s may get a service account and its client scope in one document',
  async (clientId, scopes) => {
    const client = { clientId, publicClient: false, bearerOnly: false, serviceAccountsEnabled: true, ...scopes }
    const realm = await roundTrip({ clients: [client] })
    expect((await getLive(realm, 'user', `service-account-${clientId}`)).representation.enabled).toBe(true)
  },
)

test('a client that exists may get a service account and its client scope in one document', async () => {
  const realm = newName()
  const client = { clientId: 'shop', defaultClientScopes: ['basic'] }
  await applySource(service, createSource([{ realm, clients: [client] }], realm))
  const scopes = ['basic', 'service_account']
  const changed = { ...client, serviceAccountsEnabled: true, defaultClientScopes: scopes }
  const state = createSource([{ realm, clients: [changed] }], realm)
  await applySource(service, state)
  expect((await getLive(realm, 'client', 'shop')).representation.defaultClientScopes).toEqual(scopes)
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('a user who exists may be managed by an organization that the same document declares', async () => {
  const realm = newName()
  await applySource(service, createSource([{ realm, users: [{ username: 'ann' }] }], realm))
  const organization = (member: object) => [
    { name: 'acme', alias: 'acme', domains: [{ name: 'acme.example' }], members: [member] },
  ]
  const document = {
    realm,
    organizationsEnabled: true,
    users: [{ username: 'ann' }],
    organizations: organization({ username: 'ann', membershipType: 'MANAGED' }),
  }
  const state = createSource([document], realm)
  await applySource(service, state)
  expect((await getLive(realm, 'user', 'ann')).representation.managedBy).toEqual(['acme'])
  expect(await planText(service, state)).toContain('Nothing to do.')
})

/** Returns a realm with a client that refers to flows of the realm by id. */
function createRealmWithFlows(realm = newName()) {
  const [custom, builtIn] = [`${realm}-1`, `${realm}-2`]
  return {
    realm,
    enabled: true,
    authenticationFlows: [
      { id: custom, alias: 'ours', topLevel: true, authenticationExecutions: [] },
      { id: builtIn, alias: 'direct grant', builtIn: true, topLevel: true },
    ],
    clients: [{ clientId: 'shop', authenticationFlowBindingOverrides: { browser: custom, direct_grant: builtIn } }],
  }
}
const aliases = { browser: 'ours', direct_grant: 'direct grant' }

test('users with an empty email address have none', async () => {
  const realm = await roundTrip({ users: ['ann', 'bob'].map((username) => ({ username, email: '' })) })
  expect((await getLive(realm, 'user', 'bob')).representation).not.toHaveProperty('email')
})

test('a client may name flows of the same document by id', async () => {
  const { realm: _, ...content } = createRealmWithFlows()
  const realm = await roundTrip(content)
  expect((await getLive(realm, 'client', 'shop')).representation.authenticationFlowBindingOverrides).toEqual(aliases)
})

test('a reference that is the alias of a flow and the id of another one means the alias', async () => {
  const flows = ['a', 'b'].map((alias) => ({ alias, id: alias === 'a' ? 'b' : 'c', topLevel: true }))
  const clients = [{ clientId: 'shop', authenticationFlowBindingOverrides: { browser: 'b', direct_grant: 'c' } }]
  const realm = newName()
  await applySource(service, createSource([{ realm, authenticationFlows: flows, clients }], realm))
  expect((await getLive(realm, 'client', 'shop')).representation.authenticationFlowBindingOverrides).toEqual({
    browser: 'b',
    direct_grant: 'b',
  })
})

test('an unknown id of a flow is refused with its field', async () => {
  const content = createRealmWithFlows()
  content.clients[0]!.authenticationFlowBindingOverrides.browser = 'f0000000-0000-4000-8000-000000000000'
  await expect(applySource(service, createSource([content], content.realm))).rejects.toThrow(
    'client shop: authenticationFlowBindingOverrides.browser refers to authentication flow f0000000',
  )
})

test('POST of a realm accepts flows by id, partial-export returns ids, and POST accepts its result', async () => {
  const content = createRealmWithFlows()
  const [custom, builtIn] = content.authenticationFlows.map(({ id }) => id)
  await create('/admin/realms', content)
  const path = `/admin/realms/${content.realm}`
  const ids = { browser: custom, direct_grant: builtIn }
  expect((await call('GET', `${path}/clients?clientId=shop`)).body[0].authenticationFlowBindingOverrides).toEqual(ids)
  const { body } = await call('POST', `${path}/partial-export?exportClients=true&exportGroupsAndRoles=true`)
  const shop = (body.clients as Representation[]).find(({ clientId }) => clientId === 'shop')!
  expect(shop.authenticationFlowBindingOverrides).toEqual(ids)
  const name = newName()
  const { id: _, ...copy } = JSON.parse(JSON.stringify(body).replaceAll(content.realm, name))
  await create('/admin/realms', copy)
  expect((await getLive(name, 'client', 'shop')).representation.authenticationFlowBindingOverrides).toEqual(aliases)
})

test('partialImport accepts ids of flows of the realm, and refuses other ids', async () => {
  const { clients, ...content } = createRealmWithFlows()
  await create('/admin/realms', content)
  const importPartially = (body: object) => call('POST', `/admin/realms/${content.realm}/partialImport`, { body })
  expect(await importPartially({ clients })).toMatchObject({ status: 200, body: { added: 1 } })
  expect((await getLive(content.realm, 'client', 'shop')).representation.authenticationFlowBindingOverrides).toEqual(
    aliases,
  )
  const other = { clientId: 'other', authenticationFlowBindingOverrides: { browser: 'nowhere' } }
  expect((await importPartially({ clients: [other] })).status).toBe(400)
})

test('migrating a realm replaces the ids of its clients’ flows by aliases', async () => {
  const content = createRealmWithFlows()
  await create('/admin/realms', content)
  const { body } = await call('POST', `/admin/realms/${content.realm}/partial-export?exportClients=true`)
  const { document } = migrateRealm('https://old.example.org', body)
  const [shop] = document.clients as Representation[]
  expect(shop).toMatchObject({ clientId: 'shop', authenticationFlowBindingOverrides: aliases })
})

/** Returns the messages of the notes of the plan for a document, with their lines. */
async function listNotes(document: Representation): Promise<string[]> {
  const { realms } = await planSources(service, SYSTEM, [createSource([document], newName())])
  return realms.flatMap(({ plan }) => plan.notes.map(({ message, position }) => `${position?.line}: ${message}`))
}

const config = (alias: string, value: string) => ({ alias, config: { denyErrorMessage: value } })

test('the first of several authenticator configs with one alias is used, as in Keycloak, and the plan notes the others', async () => {
  const step = { authenticator: 'deny-access-authenticator', requirement: 'REQUIRED', authenticatorConfig: 'eid' }
  const content = {
    authenticatorConfig: [config('eid', 'a'), config('other', 'o'), config('eid', 'b'), config('eid', 'a')],
    authenticationFlows: [{ alias: 'ours', topLevel: true, authenticationExecutions: [step] }],
  }
  const realm = await roundTrip(content)
  expect((await getLive(realm, 'authenticatorConfig', 'eid')).representation.config).toEqual({ denyErrorMessage: 'a' })
  expect((await getLive(realm, 'authenticatorConfig', 'other')).representation.config).toEqual({
    denyErrorMessage: 'o',
  })
  const ignored = 'authenticator config eid is declared again: the first is used, this one is ignored'
  expect(await listNotes({ realm: newName(), ...content })).toEqual([`9: ${ignored}`, `12: ${ignored}`])
})

test('POST of a realm accepts authenticator configs with one alias, also of built-in flows', async () => {
  const realm = newName()
  const configs = [config('review profile config', 'a'), config('review profile config', 'b')]
  const authenticatorConfig = configs.map((config, at) => ({ ...config, id: `${realm}-${at}` }))
  await create('/admin/realms', { realm, authenticatorConfig })
  const { representation } = await getLive(realm, 'authenticatorConfig', 'review profile config')
  expect(representation.config).toMatchObject({ denyErrorMessage: 'a' })
})

test('two flows with one alias are refused', async () => {
  const flow = { alias: 'ours', topLevel: true }
  const document = createSource([{ realm: newName(), authenticationFlows: [flow, flow] }])
  await expect(applySource(service, document)).rejects.toThrow('authentication flow ours is declared twice')
})

/** Returns a realm with a client whose policies refer to objects by id. */
function createRealmWithPolicies(realm = newName()) {
  const toId = (name: string) => `${realm}-${name}`
  const policy = (type: string, setting: string, value: unknown) => ({
    name: `By ${type}`,
    type,
    config: { [setting]: JSON.stringify(value) },
  })
  return {
    realm,
    enabled: true,
    roles: {
      realm: [{ id: toId('treasurer'), name: 'treasurer' }],
      client: { api: [{ id: toId('auditor'), name: 'audi/tor' }] },
    },
    users: [{ id: toId('mia'), username: 'mia' }],
    groups: [{ name: 'branch', subGroups: [{ id: toId('town'), name: 'town' }] }],
    clientScopes: [{ id: toId('cash'), name: 'cash', protocol: 'openid-connect' }],
    clients: [
      { id: toId('atm'), clientId: 'atm', publicClient: true },
      {
        clientId: 'api',
        authorizationServicesEnabled: true,
        authorizationSettings: {
          policies: [
            policy('role', 'roles', [{ id: toId('treasurer'), required: true }, { id: toId('auditor') }]),
            policy('user', 'users', [toId('mia')]),
            policy('client', 'clients', [toId('atm')]),
            policy('group', 'groups', [{ id: toId('town'), extendChildren: true }]),
            policy('client-scope', 'clientScopes', [{ id: toId('cash') }]),
          ],
        },
      },
    ],
  }
}

test('policies may refer to declared roles, users, clients, groups and client scopes by id', async () => {
  const { realm: _, ...content } = createRealmWithPolicies()
  const realm = await roundTrip(content)
  const getPolicy = async (type: string) =>
    (await getLive(realm, 'authorizationPolicy', 'client', 'api', `By ${type}`)).representation
  expect(await getPolicy('role')).toMatchObject({
    requiredRoles: { realm: ['treasurer'] },
    roles: { client: { api: ['audi/tor'] } },
  })
  expect(await getPolicy('user')).toMatchObject({ users: ['mia'] })
  expect(await getPolicy('client')).toMatchObject({ clients: ['atm'] })
  expect(await getPolicy('group')).toMatchObject({ groupsAndBelow: ['/branch/town'] })
  expect(await getPolicy('client-scope')).toMatchObject({ clientScopes: ['cash'] })
})

test('POST of a realm accepts policies that refer to roles by id', async () => {
  const content = createRealmWithPolicies()
  await create('/admin/realms', content)
  const { representation } = await getLive(content.realm, 'authorizationPolicy', 'client', 'api', 'By role')
  expect(representation).toMatchObject({ requiredRoles: { realm: ['treasurer'] } })
})

test('a reference that is the name of a role and the id of another one means the name', async () => {
  const realm = newName()
  const roles = { realm: [{ id: `${realm}-1`, name: 'first' }, { name: `${realm}-1` }] }
  const policies = [{ name: 'p', type: 'role', config: { roles: `[{"id":"${realm}-1"}]` } }]
  const clients = [{ clientId: 'api', authorizationServicesEnabled: true, authorizationSettings: { policies } }]
  await applySource(service, createSource([{ realm, roles, clients }], realm))
  const { representation } = await getLive(realm, 'authorizationPolicy', 'client', 'api', 'p')
  expect(representation.roles).toEqual({ realm: [`${realm}-1`] })
})

const builtInPolicy = { name: 'builtin-default-policy', builtin: true, enable: true, conditions: [], profiles: [] }
const customPolicy = { name: 'ours', enable: true, enabled: true, conditions: [], profiles: [] }
const builtInProfile = { name: 'builtin-default-profile', builtin: true, executors: [] }

test.each([
  [
    'in their objects',
    { clientPolicies: { policies: [builtInPolicy, customPolicy] }, clientProfiles: { profiles: [builtInProfile] } },
  ],
  ['as plain lists', { clientPolicies: [builtInPolicy, customPolicy], clientProfiles: [builtInProfile] }],
])('client policies of versions 12 to 18 are applied without built-in ones, %s', async (_form, content) => {
  const realm = await roundTrip(content)
  const { representation } = await getLive(realm, 'realm', realm)
  expect(representation.clientPolicies).toMatchObject([{ name: 'ours', enabled: true }])
  expect(representation.clientProfiles).toEqual([])
  const notes = await listNotes({ realm: newName(), ...content })
  expect(notes).toEqual([
    expect.stringContaining('clientProfiles.profiles[0]: built-in profiles belong to the server and are ignored'),
    expect.stringContaining('clientPolicies.policies[0]: built-in policies belong to the server and are ignored'),
    expect.stringContaining('clientPolicies.policies[1]: enable is ignored: set enabled instead'),
  ])
})

test('POST of a realm accepts client policies of versions 12 to 18; PUT of the policies refuses them', async () => {
  const realm = newName()
  await create('/admin/realms', { realm, clientPolicies: { policies: [builtInPolicy] } })
  const address = `/admin/realms/${realm}/client-policies/policies`
  expect((await call('GET', address)).body).toEqual({ policies: [] })
  expect((await call('PUT', address, { body: { policies: [builtInPolicy] } })).status).toBe(400)
})

test.each([
  ['realm-management', { bearerOnly: true }],
  ['account', { publicClient: 'true', bearerOnly: false }],
  ['custom', { publicClient: true, bearerOnly: true }],
])('the client %s with authorization settings is confidential, whatever its other fields', async (clientId, flags) => {
  const settings = { resources: [{ name: 'Users', scopes: [{ name: 'view' }] }] }
  const client = { clientId, ...flags, authorizationServicesEnabled: true, authorizationSettings: settings }
  const realm = await roundTrip({ clients: [client] })
  const { representation } = await getLive(realm, 'client', clientId)
  expect(representation).toMatchObject({ authorizationServicesEnabled: true, serviceAccountsEnabled: true })
  expect([representation.bearerOnly, representation.publicClient]).toEqual([false, false])
  await getLive(realm, 'authorizationResource', 'client', clientId, 'Users')
  expect((await listNotes({ realm: newName(), clients: [client] }))[0]).toContain(
    'is ignored, since a client with authorizationSettings is confidential',
  )
})

test('POST of a realm makes a bearer-only client with authorization settings confidential', async () => {
  const realm = newName()
  const client = { clientId: 'api', bearerOnly: true, authorizationServicesEnabled: true, authorizationSettings: {} }
  await create('/admin/realms', { realm, clients: [client] })
  const [api] = (await call('GET', `/admin/realms/${realm}/clients?clientId=api`)).body
  expect(api).toMatchObject({ bearerOnly: false, authorizationServicesEnabled: true })
})

test.each(['clientTemplate', 'clientScope'])(
  'a client template with spaces in its name gets scope mappings by %s',
  async (member) => {
    const name = member === 'clientTemplate' ? 'Default test template' : 'Default_test_template'
    const content = {
      clientTemplates: [{ name: 'Default test template', protocol: 'openid-connect' }],
      clients: [{ clientId: 'shop' }],
      roles: { realm: [{ name: 'staff' }], client: { shop: [{ name: 'buyer' }] } },
      scopeMappings: [{ [member]: name, roles: ['staff'] }],
      clientScopeMappings: { shop: [{ [member]: name, roles: ['buyer'] }] },
    }
    const realm = await roundTrip(content)
    const { representation } = await getLive(realm, 'clientScope', 'Default_test_template')
    expect(representation.scopeMappings).toEqual({ realm: ['staff'], client: { shop: ['buyer'] } })
  },
)

test('a scope mapping of an undeclared client template is refused with its name', async () => {
  const document = {
    realm: newName(),
    roles: { realm: [{ name: 'staff' }] },
    scopeMappings: [{ clientTemplate: 'no such', roles: ['staff'] }],
  }
  await expect(applySource(service, createSource([document]))).rejects.toThrow(
    'client scope no_such does not exist, but is referred to here. Declare it, or remove the reference.',
  )
})

test('a JSON file with duplicate keys is applied with the last values, and the plan notes the positions', async () => {
  const realm = newName()
  const text = `{\n  "realm": "${realm}",\n  "users": [{ "username": "ann" }],\n  "enabled": false,\n  "enabled": true,\n  "users": [{ "username": "bob", "email": "a@example.org", "email": "b@example.org" }]\n}`
  const state = createSource([text], realm)
  expect(state.warnings?.map(({ position, message }) => `${position?.line}: ${message}`)).toEqual([
    '5: the key "enabled" appears twice, first at 4:3: keep one of them (the last one is used)',
    '6: the key "users" appears twice, first at 3:3: keep one of them (the last one is used)',
    '6: the key "email" appears twice, first at 6:34: keep one of them (the last one is used)',
  ])
  expect(await planText(service, state)).toContain('the key "users" appears twice')
  await applySource(service, state)
  expect((await getLive(realm, 'user', 'bob')).representation).toMatchObject({ email: 'b@example.org' })
  await expect(getLive(realm, 'user', 'ann')).rejects.toThrow()
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('a partial export has identity providers and default groups as GET returns them', async () => {
  const realm = await createRealm()
  const readExport = async () => (await call('POST', `${realm}/partial-export`)).body
  expect(await readExport()).not.toHaveProperty('defaultGroups')
  const config = { clientId: 'regent', clientSecret: 'secret', issuer: 'https://issuer.example.org' }
  for (const providerId of ['oidc', 'github', 'kubernetes'])
    await create(`${realm}/identity-provider/instances`, { alias: providerId, providerId, config })
  const group = (await create(`${realm}/groups`, { name: 'staff' })).split('/').at(-1)
  await call('PUT', `${realm}/default-groups/${group}`)
  const exported = await readExport()
  expect(exported.defaultGroups).toEqual((await call('GET', realm)).body.defaultGroups)
  expect(exported.identityProviders).toEqual((await call('GET', `${realm}/identity-provider/instances`)).body)
})

test('a partial export has the computed and empty fields of Keycloak, and none that Keycloak refuses', async () => {
  const path = await createRealm({
    roles: { realm: [{ name: 'reader' }], client: { shop: [{ name: 'buyer' }] } },
    groups: [{ name: 'staff', subGroups: [{ name: 'night' }] }],
    clients: [{ clientId: 'shop', serviceAccountsEnabled: true }, { clientId: 'app' }],
  })
  const { id } = (await call('GET', path)).body
  const { body } = await call('POST', `${path}/partial-export?exportClients=true&exportGroupsAndRoles=true`)
  const find = (list: { name?: string; clientId?: string }[], name: string) =>
    list.find((element) => element.name === name || element.clientId === name)
  const shop = find(body.clients, 'shop') as { id: string } | undefined
  expect(find(body.roles.realm, 'reader')).toEqual({
    id: expect.any(String),
    name: 'reader',
    composite: false,
    clientRole: false,
    containerId: id,
    attributes: {},
  })
  expect(find(body.roles.client.shop, 'buyer')).toMatchObject({ clientRole: true, containerId: shop!.id })
  expect(body.roles.client.app).toEqual([])
  expect(Object.keys(body.roles.client)).toEqual([...Object.keys(body.roles.client)].sort())
  expect(find(body.groups, 'staff')).toMatchObject({
    path: '/staff',
    attributes: {},
    subGroups: [{ name: 'night', path: '/staff/night', subGroups: [] }],
  })
  expect(body.defaultRole).toMatchObject({
    name: expect.stringMatching(/^default-roles-/),
    composite: true,
    containerId: id,
  })
  expect(body).toMatchObject({
    identityProviders: [],
    identityProviderMappers: [],
    smtpServer: {},
    localizationTexts: {},
  })
  expect(body.otpSupportedApplications).toContain('totpAppFreeOTPName')
  expect(body.keycloakVersion).toMatch(/^\d+\.\d+\.\d+$/)
  expect(body.requiredActions[0]).toMatchObject({ config: {} })
  expect(body.requiredActions[0]).not.toHaveProperty('id')
  expect(body.users[0]).toMatchObject({ serviceAccountClientId: 'shop', totp: false, requiredActions: [] })
  for (const field of ['organizations', 'managedBy']) expect(body.users[0]).not.toHaveProperty(field)
  const { body: settings } = await call('POST', `${path}/partial-export`)
  for (const field of ['roles', 'groups', 'clients', 'users']) expect(settings).not.toHaveProperty(field)
  expect(settings.defaultRole).toEqual(body.defaultRole)
})
