// Pruning: `managed` deletes objects that are removed from the source, `none` nothing, `all` everything that a declared list does not contain.
import { expect, test } from 'vitest'
import type { KindName } from '../../src/kinds/kind.ts'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { forgetSourceInRealm } from '../../src/service/sources/source-records.ts'
import { createObject, deleteObject, getLiveObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { getLive, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { openNewService, testService } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

useNewRealmPerTest()

const toPruningSource = (prune: SourceSettings['prune'], document: object) => ({
  ...toRealmSource(document),
  settings: { prune },
})
const apply = (prune: SourceSettings['prune'], document: object) =>
  applySource(service, toPruningSource(prune, document))
const plan = async (prune: SourceSettings['prune'], document: object) =>
  renderOutcome(await planSources(service, SYSTEM, [toPruningSource(prune, document)]), 'planned')
const roles = (...names: string[]) => ({ roles: { realm: names.map((name) => ({ name })) } })
const expectDeleted = (...key: Parameters<typeof getLive>) => expect(getLive(...key)).rejects.toThrow()

test('with `prune: none`, an object that is removed from the source is retained, and the plan notes it once', async () => {
  const { statements } = await testService()
  await apply('none', roles('staff', 'visitor'))
  expect(await plan('none', roles('staff'))).toContain(
    'note: no longer declared, and not pruned: role visitor\nNothing to do.',
  )
  await apply('none', roles('staff'))
  await getLive('role', 'visitor')
  expect((await statements(() => apply('none', roles('staff')))).length).toBeLessThanOrEqual(2)
})

test('changes of a retained object are no drift', async () => {
  const { statements } = await testService()
  await apply('none', roles('staff', 'visitor', 'other'))
  await apply('none', roles('staff'))
  await updateObject(service, ANN, realm, 'role', ['visitor'], { description: 'changed' })
  await deleteObject(service, ANN, realm, 'role', 'other')
  expect(await listDrift(service, SYSTEM, realm)).toEqual([])
  expect((await statements(() => apply('none', roles('staff')))).length).toBeLessThanOrEqual(2)
})

test('retained objects are deleted when the source prunes again, if they still exist', async () => {
  await apply('none', roles('staff', 'visitor', 'other'))
  await apply('none', roles('staff'))
  await deleteObject(service, ANN, realm, 'role', 'other')
  expect(await plan('managed', roles('staff'))).toMatch(
    /- role visitor .*\nPlan: 0 to create, 0 to update, 1 to delete\./,
  )
  await apply('managed', roles('staff'))
  await expectDeleted('role', 'visitor')
  await getLive('role', 'staff')
})

test('a retained object that is declared again keeps its id', async () => {
  await apply('none', roles('staff', 'visitor'))
  const { id } = await getLive('role', 'visitor')
  await apply('none', roles('staff'))
  await apply('managed', { roles: { realm: [{ name: 'staff' }, { name: 'visitor', description: 'again' }] } })
  expect(await getLive('role', 'visitor')).toMatchObject({ id, representation: { description: 'again' } })
  await apply('managed', roles('staff'))
  await expectDeleted('role', 'visitor')
})

test('an object of two sources is deleted only if neither has `prune: none`', async () => {
  const createPruningSource = (name: string, prune: SourceSettings['prune'], ...names: string[]) => ({
    ...createSource([{ realm, ...roles(...names) }], `${realm}-${name}`),
    settings: { prune },
  })
  await applySources(service, SYSTEM, [
    createPruningSource('one', 'none', 'staff', 'visitor'),
    createPruningSource('other', 'managed', 'staff', 'visitor'),
  ])
  await applySources(service, SYSTEM, [
    createPruningSource('one', 'none', 'staff'),
    createPruningSource('other', 'managed', 'staff'),
  ])
  await getLive('role', 'visitor')
  // The retained declaration does not conflict with another source's.
  await applySources(service, SYSTEM, [
    {
      ...createSource([{ realm, roles: { realm: [{ name: 'visitor', description: 'new' }] } }], `${realm}-third`),
    },
  ])
  expect((await getLive('role', 'visitor')).representation.description).toBe('new')
})

const client = (clientId: string, more = {}) => ({ clientId, ...more })

test('with `prune: all`, objects that a declared list does not contain are deleted, and no others', async () => {
  await createObject(service, ANN, realm, 'client', { clientId: 'theirs' })
  await createObject(service, ANN, realm, 'role', { name: 'theirs' })
  await createObject(service, ANN, realm, 'user', { username: 'ann' })
  await createObject(service, ANN, realm, 'group', { path: '/theirs' })
  await createObject(service, ANN, realm, 'group', { path: '/theirs/below' })
  const declared = { clients: [client('shop')], groups: [], users: [] }
  expect(await plan('all', declared)).toMatch(
    /\+ client shop .*\n(.*\n)*? {2}- client theirs .*\n {2}- group \/theirs .*\n {2}- group \/theirs\/below .*\n(.*\n)*Plan: 1 to create, 0 to update, 3 to delete\./,
  )
  await apply('all', declared)
  await expectDeleted('client', 'theirs')
  await expectDeleted('group', '/theirs/below')
  await getLive('client', 'account')
  await getLive('role', 'theirs')
  await getLive('user', 'ann')
  expect(await plan('all', declared)).toContain('Nothing to do.')
  // An empty list deletes all but built-in objects.
  await apply('all', { ...declared, roles: { realm: [] } })
  await expectDeleted('role', 'theirs')
  await getLive('role', `default-roles-${realm}`)
  await getLive('role', 'offline_access')
})

test('an object that an administrator adds to an authoritative list is deleted by the next run; a run without changes costs as before', async () => {
  const { statements } = await testService()
  const declared = {
    clients: [client('shop', { protocolMappers: [] })],
    roles: { client: { shop: [{ name: 'buyer' }] } },
  }
  await apply('all', declared)
  const run = () => apply('all', declared)
  expect((await statements(run)).length).toBeLessThanOrEqual(2)
  // Users are never pruned.
  await createObject(service, ANN, realm, 'user', { username: 'ann' })
  expect((await statements(run)).length).toBeLessThanOrEqual(2)
  await createObject(service, ANN, realm, 'client', { clientId: 'theirs' })
  await createObject(service, ANN, realm, 'role', { name: 'free' })
  const { id } = await getLive('client', 'shop')
  const parent = { kind: 'client' as const, id, key: ['shop'] }
  await service.write(ANN, realm, async (context) => {
    await writers.role.create(context, [{ parent, representation: { name: 'theirs' } }])
    const mapper = { name: 'theirs', protocol: 'openid-connect', protocolMapper: 'oidc-usermodel-attribute-mapper' }
    await writers.protocolMapper.create(context, [{ parent, representation: mapper }])
  })
  const { realms } = await run()
  expect(realms[0]!.plan.actions.map(({ operation, key }) => [operation, key.join('/')]).sort()).toEqual([
    ['delete', 'client/shop/theirs'],
    ['delete', 'client/shop/theirs'],
    ['delete', 'theirs'],
  ])
  await getLive('role', 'free')
  expect((await statements(run)).length).toBeLessThanOrEqual(2)
})

test('undeclared elements of a relation are drift and are removed, except those of users', async () => {
  const staff = (...composites: string[]) => ({
    roles: { realm: [{ name: 'staff', composites: { realm: composites } }, { name: 'visitor' }, { name: 'other' }] },
  })
  const ann = { users: [{ username: 'ann', enabled: true, realmRoles: ['visitor'] }] }
  await apply('all', { ...staff('visitor'), ...ann })
  await relate('role', 'staff', 'composites', 'other')
  await relate('user', 'ann', 'realmRoles', 'other')
  expect((await listDrift(service, SYSTEM, realm)).map(({ path, live }) => [path, live])).toEqual([
    ['composites', [['other'], ['visitor']]],
  ])
  expect(await plan('all', { ...staff('visitor'), ...ann })).toMatch(/composites: -other {2}corrects a change by ann/)
  await apply('all', { ...staff('visitor'), ...ann })
  expect((await getLive('role', 'staff')).representation.composites).toEqual({ realm: ['visitor'] })
  expect((await getLive('user', 'ann')).representation.realmRoles).toContain('other')
  expect(await plan('all', { ...staff('visitor'), ...ann })).toContain('Nothing to do.')
})

test('a source that changes to `prune: all` checks all its lists', async () => {
  const declared = { roles: { realm: [{ name: 'staff', composites: { realm: ['offline_access'] } }] } }
  await apply('managed', declared)
  await relate('role', 'staff', 'composites', 'uma_authorization')
  await createObject(service, ANN, realm, 'role', { name: 'theirs' })
  await apply('managed', declared)
  await getLive('role', 'theirs')
  await apply('all', declared)
  await expectDeleted('role', 'theirs')
  expect((await getLive('role', 'staff')).representation.composites).toEqual({ realm: ['offline_access'] })
})

test('an authoritative list does not affect objects and elements that another source manages', async () => {
  const other = createSource(
    [{ realm, roles: { realm: [{ name: 'theirs' }, { name: 'staff', composites: { realm: ['theirs'] } }] } }],
    `${realm}-b`,
  )
  const declared = { roles: { realm: [{ name: 'staff', composites: { realm: ['offline_access'] } }] } }
  await applySource(service, other)
  await apply('all', declared)
  expect((await getLive('role', 'staff')).representation.composites).toEqual({ realm: ['offline_access', 'theirs'] })
  expect(await plan('all', declared)).toContain('Nothing to do.')
  // Once that source is forgotten, the object is deleted.
  await service.write(ANN, realm, (context) => forgetSourceInRealm(context, `${realm}-b`))
  await apply('all', declared)
  await expectDeleted('role', 'theirs')
})

test('only a declared list is authoritative, not the parent field of an object', async () => {
  await createObject(service, ANN, realm, 'client', { clientId: 'theirs' })
  const resource = { apiVersion: 'regent.dev/v1alpha1', kind: 'RealmClient', metadata: { name: 'shop' } }
  const state = createSource([{ ...resource, spec: { realmRef: { name: realm }, publicClient: true } }], realm)
  await applySource(service, { ...state, settings: { prune: 'all' } })
  await getLive('client', 'shop')
  await getLive('client', 'theirs')
})

test('an object with `renamedFrom` in an authoritative list is renamed, not deleted', async () => {
  await createObject(service, ANN, realm, 'client', { clientId: 'old' })
  const { id } = await getLive('client', 'old')
  await apply('all', { clients: [{ clientId: 'new', renamedFrom: 'old' }] })
  expect((await getLive('client', 'new')).id).toBe(id)
  await expectDeleted('client', 'old')
})

async function relate(kind: 'role' | 'user', name: string, field: string, role: string): Promise<void> {
  const object = await getLive(kind, name)
  const relations = { [field]: { add: [[role]] } }
  await service.write(ANN, realm, (context) => writers[kind].update(context, [{ live: object, set: {}, relations }]))
}

test('in master, authoritative lists do not delete the clients and roles of realm administration', async () => {
  const separateService = await openNewService({})
  try {
    for (const name of ['master', 'shop'])
      await separateService.createRealm(SYSTEM, { representation: { realm: name } }, async () => {})
    await createObject(separateService, ANN, 'master', 'client', { clientId: 'theirs' })
    await createObject(separateService, ANN, 'master', 'role', { name: 'theirs' })
    const admin = { name: 'admin', composites: { realm: ['create-realm'] } }
    const declared = createSource([{ realm: 'master', clients: [], roles: { realm: [admin] } }])
    const pruningAll = { ...declared, settings: { prune: 'all' as const } }
    const getAdminComposites = async () =>
      (await getLiveObject(separateService, SYSTEM, 'master', 'role', 'admin')).representation.composites as {
        client: object
      }
    const before = await getAdminComposites()
    await applySource(separateService, pruningAll)
    const listNames = async (kind: KindName) => [
      ...(await listLiveObjects(separateService, SYSTEM, 'master', kind)).keys(),
    ]
    expect(await listNames('client')).toEqual(expect.arrayContaining(['master-realm', 'shop-realm', 'admin-cli']))
    expect(await listNames('client')).not.toContain('theirs')
    expect(await listNames('role')).not.toContain('theirs')
    expect((await getAdminComposites()).client).toEqual(before.client)
    expect((await planSources(separateService, SYSTEM, [pruningAll])).realms[0]!.plan.actions).toEqual([])
  } finally {
    await separateService.close()
  }
})

test('an authoritative list of components covers its provider type only', async () => {
  const store = 'org.keycloak.storage.UserStorageProvider'
  const config = { connectionUrl: ['ldaps://ldap.example'], vendor: ['other'], editMode: ['READ_ONLY'] }
  const components = {
    [store]: [{ name: 'staff', providerId: 'ldap', config }],
    'org.keycloak.keys.KeyProvider': [{ name: 'more', providerId: 'rsa-generated', config: { priority: ['1'] } }],
  }
  const other = createSource([{ realm, components }], `${realm}-other`)
  await applySource(service, other)
  await service.write(ANN, realm, (context) => forgetSourceInRealm(context, other.name))
  const declared = { components: { [store]: [] } }
  expect(await plan('all', declared)).toMatch(
    / {2}- component .*staff .*\n(.*\n)*Plan: 0 to create, 0 to update, 1 to delete\./,
  )
  await apply('all', declared)
  const remaining = [...(await listLiveObjects(service, SYSTEM, realm, 'component')).keys()]
  expect(remaining.filter((name) => name.endsWith('more'))).toHaveLength(1)
  expect(remaining.filter((name) => name.endsWith('staff'))).toEqual([])
})
