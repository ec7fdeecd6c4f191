// Users that are created with declared roles have exactly these, and the default role of a new realm its declared members.
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { migrateRealm } from '../../src/realm-file/export/migrate-realm.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const { call, create, createRealm } = await testServer()

const getLiveFields = async (realm: string, kind: Parameters<typeof getLiveObject>[3], ...key: string[]) =>
  (await getLiveObject(service, SYSTEM, realm, kind, ...key)).representation
const listDefaultRoleMembers = async (realm: string) =>
  (await getLiveFields(realm, 'role', `default-roles-${realm}`)).composites
const getRoles = async (realm: string, user: string) => {
  const { realmRoles = [], clientRoles } = await getLiveFields(realm, 'user', user)
  return { realmRoles, ...(clientRoles && { clientRoles }) }
}

const roles = { realm: [{ name: 'staff' }], client: { shop: [{ name: 'buyer' }] } }
const shop = { clientId: 'shop' }

const createCases = (realm: string): [declared: Representation, expected: Representation][] => [
  [{ realmRoles: ['staff'] }, { realmRoles: ['staff'] }],
  [{ realmRoles: [] }, { realmRoles: [] }],
  [{ clientRoles: { shop: ['buyer'] } }, { realmRoles: [], clientRoles: { shop: ['buyer'] } }],
  [{ realmRoles: [`default-roles-${realm}`] }, { realmRoles: [`default-roles-${realm}`] }],
]

test('a document gives new users exactly the roles that it declares, and those without any the default role', async () => {
  const realm = newName()
  const declared = [...createCases(realm), [{ realmRoles: null }, { realmRoles: [] }] as const]
  const users = declared.map(([fields], at) => ({ username: `u${at}`, ...fields }))
  const state = createSource([{ realm, clients: [shop], roles, users: [...users, { username: 'plain' }] }], realm)
  await applySource(service, state)
  for (const [at, [, expected]] of declared.entries()) expect(await getRoles(realm, `u${at}`)).toEqual(expected)
  expect(await getRoles(realm, 'plain')).toEqual({ realmRoles: [`default-roles-${realm}`] })
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('POST of a realm and partialImport give users exactly the declared roles, even if there are none', async () => {
  const realm = newName()
  const users = createCases(realm).map(([fields], at) => ({ username: `u${at}`, ...fields }))
  await create('/admin/realms', { realm, clients: [shop], roles, users: [...users, { username: 'plain' }] })
  const body = { users: [...users, { username: 'plain' }].map((user) => ({ ...user, username: `p${user.username}` })) }
  expect((await call('POST', `/admin/realms/${realm}/partialImport`, { body })).status).toBe(200)
  for (const prefix of ['', 'p']) {
    for (const [at, [, expected]] of createCases(realm).entries())
      expect(await getRoles(realm, `${prefix}u${at}`)).toEqual(expected)
    expect(await getRoles(realm, `${prefix}plain`)).toEqual({ realmRoles: [] })
  }
  await create(`/admin/realms/${realm}/users`, { username: 'posted', realmRoles: ['staff'] })
  expect(await getRoles(realm, 'posted')).toEqual({ realmRoles: [`default-roles-${realm}`] })
})

test('a document that declares roles of an existing user neither grants nor revokes the default role', async () => {
  const realm = newName()
  await create('/admin/realms', { realm, clients: [shop], roles })
  await create(`/admin/realms/${realm}/users`, { username: 'ann' })
  const state = createSource([{ realm, users: [{ username: 'ann', realmRoles: ['staff'] }] }], realm)
  expect(await planText(service, state)).not.toContain('default-roles')
  await applySource(service, state)
  expect(await getRoles(realm, 'ann')).toEqual({ realmRoles: [`default-roles-${realm}`, 'staff'] })
})

test('a user whose roles are removed from the document keeps the default role', async () => {
  const realm = newName()
  const toSource = (user: object) =>
    createSource([{ realm, clients: [shop], roles, users: [{ username: 'ann', ...user }] }], realm)
  await applySource(service, toSource({ realmRoles: ['staff', `default-roles-${realm}`] }))
  await applySource(service, toSource({}))
  expect(await getRoles(realm, 'ann')).toEqual({ realmRoles: [`default-roles-${realm}`] })
})

test.each([
  ['a new client', { serviceAccountsEnabled: true }, { realmRoles: ['staff'] }, ['staff']],
  ['a new client, which gives it none', { serviceAccountsEnabled: true }, { realmRoles: [] }, []],
  ['a new client with authorization', { authorizationServicesEnabled: true }, { realmRoles: ['staff'] }, ['staff']],
])('a service account of %s has exactly the declared roles', async (_name, settings, fields, expected) => {
  const realm = newName()
  const user = { username: 'service-account-api', serviceAccountClientId: 'api', ...fields }
  const state = createSource(
    [{ realm, roles: { realm: roles.realm }, clients: [{ clientId: 'api', ...settings }], users: [user] }],
    realm,
  )
  await applySource(service, state)
  expect((await getRoles(realm, 'service-account-api')).realmRoles).toEqual(expected)
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('a service account that is undeclared or existed before has the default role', async () => {
  const realm = newName()
  const clients = [{ clientId: 'api', serviceAccountsEnabled: true }]
  await applySource(service, createSource([{ realm, clients }], realm))
  const user = { username: 'service-account-api', serviceAccountClientId: 'api', realmRoles: ['offline_access'] }
  await applySource(service, createSource([{ realm, clients, users: [user] }], realm))
  expect((await getRoles(realm, 'service-account-api')).realmRoles).toEqual([
    `default-roles-${realm}`,
    'offline_access',
  ])
})

const declareDefaultRole = (realm: string, composites: object) => ({
  realm,
  roles: { realm: [{ name: `default-roles-${realm}`, composites }] },
})

test.each([
  ['some', { realm: ['offline_access'] }, { realm: ['offline_access'] }],
  ['none', {}, undefined],
  [
    'others',
    { realm: ['staff'], client: { account: ['view-profile'] } },
    { realm: ['staff'], client: { account: ['view-profile'] } },
  ],
])('the default role of a new realm has exactly the declared members: %s', async (_which, composites, expected) => {
  const more = { roles: { realm: [{ name: 'staff' }] } }
  const toDocument = (realm: string) => {
    const { roles, ...rest } = declareDefaultRole(realm, composites)
    return { ...rest, roles: { realm: [...roles.realm, ...more.roles.realm] } }
  }
  const [applied, posted] = [newName(), newName()]
  const state = createSource([toDocument(applied)], applied)
  expect(await planText(service, state)).toContain('-uma_authorization')
  await applySource(service, state)
  expect(await listDefaultRoleMembers(applied)).toEqual(expected)
  expect(await planText(service, state)).toContain('Nothing to do.')
  await create('/admin/realms', toDocument(posted))
  expect(await listDefaultRoleMembers(posted)).toEqual(expected)
})

test('the default role of a realm that exists keeps members that no document declares', async () => {
  const realm = newName()
  await create('/admin/realms', { realm })
  await applySource(service, createSource([declareDefaultRole(realm, { realm: ['offline_access'] })], realm))
  expect(await listDefaultRoleMembers(realm)).toMatchObject({ realm: ['offline_access', 'uma_authorization'] })
})

test('a default role that is declared without members has the default members', async () => {
  const realm = newName()
  const name = `default-roles-${realm}`
  await applySource(service, createSource([{ realm, roles: { realm: [{ name, description: 'ours' }] } }], realm))
  expect(await listDefaultRoleMembers(realm)).toMatchObject({ realm: ['offline_access', 'uma_authorization'] })
})

test('a realm created by REST has the declared default role, whatever its name', async () => {
  const roles = { realm: [{ name: 'default-roles-copied', composites: { realm: ['member'] } }, { name: 'member' }] }
  const path = await createRealm({ defaultRole: { name: 'default-roles-copied' }, roles })
  const { body: realm } = await call('GET', path)
  expect(realm.defaultRole).toMatchObject({ name: 'default-roles-copied' })
  const { body: names } = await call('GET', `${path}/roles`)
  expect(names.map(({ name }: { name: string }) => name).sort()).toEqual([
    'default-roles-copied',
    'member',
    'offline_access',
    'uma_authorization',
  ])
})

test('a default role of another name has exactly its declared members', async () => {
  const realm = newName()
  const document = {
    realm,
    defaultRole: { name: 'everyone' },
    roles: { realm: [{ name: 'everyone', composites: { realm: ['offline_access'] } }] },
    users: [{ username: 'ann', realmRoles: ['everyone'] }],
  }
  expect(await planText(service, createSource([document], realm))).not.toContain('without this default role')
  await applySource(service, createSource([document], realm))
  expect((await getLiveFields(realm, 'role', 'everyone')).composites).toEqual({ realm: ['offline_access'] })
})

test('after an import of an export of version 11, the default role has exactly the listed roles', async () => {
  const realm = newName()
  const document = {
    realm,
    defaultRoles: ['offline_access'],
    roles: { realm: [{ name: 'offline_access' }, { name: 'uma_authorization' }] },
    clients: [{ clientId: 'account', defaultRoles: ['view-profile'] }],
  }
  const state = createSource([document], realm)
  await applySource(service, state)
  expect(await listDefaultRoleMembers(realm)).toEqual({
    realm: ['offline_access'],
    client: { account: ['view-profile'] },
  })
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('partialImport overwrites the members of the default role with the declared ones', async () => {
  const realm = newName()
  await create('/admin/realms', { realm })
  const body = { ifResourceExists: 'OVERWRITE', roles: declareDefaultRole(realm, { realm: ['offline_access'] }).roles }
  expect((await call('POST', `/admin/realms/${realm}/partialImport`, { body })).status).toBe(200)
  expect(await listDefaultRoleMembers(realm)).toEqual({ realm: ['offline_access'] })
})

test('the plan notes users that are created without the default role, in one line', async () => {
  const listNotes = async (...users: object[]) => {
    const realm = newName()
    const { realms } = await planSources(service, SYSTEM, [
      createSource([{ realm, roles, clients: [shop], users }], realm),
    ])
    return realms[0]!.plan.notes.map(({ message }) => message.replaceAll(realm, 'R'))
  }
  const ann = { username: 'ann', realmRoles: ['staff'] }
  const advice = 'without this default role. Add it to realmRoles to grant it.'
  expect(await listNotes(ann, { username: 'plain' })).toEqual([
    `user ann declares roles without default-roles-R and is created ${advice}`,
  ])
  expect(await listNotes(ann, { username: 'bob', clientRoles: { shop: ['buyer'] } })).toEqual([
    `2 users declare roles without default-roles-R and are created ${advice}`,
  ])
  expect(await listNotes({ username: 'plain' })).toEqual([])
})

test('full, minimal and migrated exports recreate the same roles in another realm', async () => {
  const realm = newName()
  const users = [
    { username: 'narrow', realmRoles: ['staff'] },
    { username: 'none', realmRoles: [] },
    { username: 'client', clientRoles: { account: ['view-profile'] } },
    { username: 'plain' },
    { username: 'both', realmRoles: [`default-roles-${realm}`, 'staff'] },
    { username: 'service-account-bot', serviceAccountClientId: 'bot', realmRoles: [] },
    { username: 'service-account-api', serviceAccountClientId: 'api', realmRoles: [`default-roles-${realm}`] },
  ]
  const clients = [
    { clientId: 'bot', serviceAccountsEnabled: true },
    { clientId: 'api', authorizationServicesEnabled: true },
    { clientId: 'usual', serviceAccountsEnabled: true },
  ]
  const composites = { realm: ['offline_access', 'staff'], client: { account: ['view-profile'] } }
  const [defaultRole] = declareDefaultRole(realm, composites).roles.realm
  await applySource(
    service,
    createSource([{ realm, roles: { realm: [defaultRole!, { name: 'staff' }] }, clients, users }], realm),
  )
  const describeRoles = async (name: string) => {
    const all = await service.read(SYSTEM, name, (context) => exportRealm(context, { full: true }))
    const holders = (all.users as Representation[]).map(({ username, realmRoles, clientRoles }) => [
      username,
      realmRoles,
      clientRoles,
    ])
    const members = (all.roles as { realm: Representation[] }).realm.map(({ name, composites }) => [name, composites])
    return JSON.stringify([holders, members]).replaceAll(name, realm)
  }
  const before = await describeRoles(realm)
  for (const options of [{ full: true, secrets: true }, { secrets: true }, {}]) {
    const exported = await service.read(SYSTEM, realm, (context) => exportRealm(context, options))
    const documents = [exported, ...(options.full ? [migrateRealm('https://old.example.org', exported).document] : [])]
    for (const document of documents) {
      const name = newName()
      const state = createSource([JSON.parse(JSON.stringify(document).replaceAll(realm, name))], name)
      await applySource(service, state)
      expect(await describeRoles(name)).toEqual(before)
      expect(await planText(service, state)).toContain('Nothing to do.')
    }
  }
})
