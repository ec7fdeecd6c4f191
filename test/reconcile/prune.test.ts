// What becomes of what is stated no more: `managed` deletes what the source manages, `none` nothing, `all` what is not in a stated list.
import { expect, test } from 'vitest'
import type { KindName } from '../../src/kinds/kind.ts'
import { findDrift } from '../../src/reconcile/drift/drift.ts'
import { renderOutcome } from '../../src/reconcile/report/render.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import type { SourceSettings } from '../../src/service/journal/source-settings.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { forget } from '../../src/service/sources/sources.ts'
import { change, liveObject, liveObjects, make, remove } from '../support/changes.ts'
import { live, realm, realmOfEachTest, service, state } from '../support/documents.ts'
import { ANN, applyAs, source } from '../support/reconcile.ts'
import { freshService, testService } from '../support/service.ts'

realmOfEachTest()

const pruning = (prune: SourceSettings['prune'], document: object) => ({ ...state(document), settings: { prune } })
const apply = (prune: SourceSettings['prune'], document: object) => applyAs(service, pruning(prune, document))
const plan = async (prune: SourceSettings['prune'], document: object) =>
  renderOutcome(await planSources(service, SYSTEM, [pruning(prune, document)]), 'planned')
const roles = (...names: string[]) => ({ roles: { realm: names.map((name) => ({ name })) } })
const isGone = (...key: Parameters<typeof live>) => expect(live(...key)).rejects.toThrow()

test('a source that prunes nothing leaves what it states no more, says so, and costs no more than any', async () => {
  const { statements } = await testService()
  await apply('none', roles('staff', 'guest'))
  expect(await plan('none', roles('staff'))).toContain(
    'note: no longer declared, and not pruned: role guest\nNothing to do.',
  )
  await apply('none', roles('staff'))
  await live('role', 'guest')
  expect((await statements(() => apply('none', roles('staff')))).length).toBeLessThanOrEqual(2)
})

test('what nobody states any more is no drift, whatever becomes of it', async () => {
  const { statements } = await testService()
  await apply('none', roles('staff', 'guest', 'other'))
  await apply('none', roles('staff'))
  await change(service, ANN, realm, 'role', ['guest'], { description: 'changed' })
  await remove(service, ANN, realm, 'role', 'other')
  expect(await findDrift(service, SYSTEM, realm)).toEqual([])
  expect((await statements(() => apply('none', roles('staff')))).length).toBeLessThanOrEqual(2)
})

test('what was left goes once the source prunes again, and only what is still there', async () => {
  await apply('none', roles('staff', 'guest', 'other'))
  await apply('none', roles('staff'))
  await remove(service, ANN, realm, 'role', 'other')
  expect(await plan('managed', roles('staff'))).toMatch(/- role guest\nPlan: 0 to create, 0 to update, 1 to delete\./)
  await apply('managed', roles('staff'))
  await isGone('role', 'guest')
  await live('role', 'staff')
})

test('what was left is the same object when it is stated again', async () => {
  await apply('none', roles('staff', 'guest'))
  const { id } = await live('role', 'guest')
  await apply('none', roles('staff'))
  await apply('managed', { roles: { realm: [{ name: 'staff' }, { name: 'guest', description: 'again' }] } })
  expect(await live('role', 'guest')).toMatchObject({ id, representation: { description: 'again' } })
  await apply('managed', roles('staff'))
  await isGone('role', 'guest')
})

test('what one source left, another one may delete that owned it too only if none of them prunes nothing', async () => {
  const own = (name: string, prune: SourceSettings['prune'], ...names: string[]) => ({
    ...source([{ realm, ...roles(...names) }], `${realm}-${name}`),
    settings: { prune },
  })
  await applySources(service, SYSTEM, [own('one', 'none', 'staff', 'guest'), own('other', 'managed', 'staff', 'guest')])
  await applySources(service, SYSTEM, [own('one', 'none', 'staff'), own('other', 'managed', 'staff')])
  await live('role', 'guest')
  // It is nobody's veto: whoever states it otherwise may.
  await applySources(service, SYSTEM, [
    {
      ...source([{ realm, roles: { realm: [{ name: 'guest', description: 'new' }] } }], `${realm}-third`),
    },
  ])
  expect((await live('role', 'guest')).representation.description).toBe('new')
})

const client = (clientId: string, more = {}) => ({ clientId, ...more })

test('where a source prunes all, what is not in a list that it states goes, and nothing else', async () => {
  await make(service, ANN, realm, 'client', { clientId: 'theirs' })
  await make(service, ANN, realm, 'role', { name: 'theirs' })
  await make(service, ANN, realm, 'user', { username: 'ann' })
  await make(service, ANN, realm, 'group', { path: '/theirs' })
  await make(service, ANN, realm, 'group', { path: '/theirs/below' })
  const stated = { clients: [client('shop')], groups: [], users: [] }
  expect(await plan('all', stated)).toMatch(
    /\+ client shop .*\n(.*\n)*? {2}- client theirs\n {2}- group \/theirs\n {2}- group \/theirs\/below\n(.*\n)*Plan: 1 to create, 0 to update, 3 to delete\./,
  )
  await apply('all', stated)
  await isGone('client', 'theirs')
  await isGone('group', '/theirs/below')
  await live('client', 'account')
  await live('role', 'theirs')
  await live('user', 'ann')
  expect(await plan('all', stated)).toContain('Nothing to do.')
  // An empty list says that there is none but what every realm has.
  await apply('all', { ...stated, roles: { realm: [] } })
  await isGone('role', 'theirs')
  await live('role', `default-roles-${realm}`)
  await live('role', 'offline_access')
})

test('what somebody makes in such a list is seen by the next run, and goes; a run with nothing to do stays as short', async () => {
  const { statements } = await testService()
  const stated = {
    clients: [client('shop', { protocolMappers: [] })],
    roles: { client: { shop: [{ name: 'buyer' }] } },
  }
  await apply('all', stated)
  const run = () => apply('all', stated)
  expect((await statements(run)).length).toBeLessThanOrEqual(2)
  // People are none of it.
  await make(service, ANN, realm, 'user', { username: 'ann' })
  expect((await statements(run)).length).toBeLessThanOrEqual(2)
  await make(service, ANN, realm, 'client', { clientId: 'theirs' })
  await make(service, ANN, realm, 'role', { name: 'free' })
  const { id } = await live('client', 'shop')
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
  await live('role', 'free')
  expect((await statements(run)).length).toBeLessThanOrEqual(2)
})

test('elements of a relation that nobody states go too, and are drift; what hangs on people stays', async () => {
  const staff = (...composites: string[]) => ({
    roles: { realm: [{ name: 'staff', composites: { realm: composites } }, { name: 'guest' }, { name: 'other' }] },
  })
  const ann = { users: [{ username: 'ann', enabled: true, realmRoles: ['guest'] }] }
  await apply('all', { ...staff('guest'), ...ann })
  await relate('role', 'staff', 'composites', 'other')
  await relate('user', 'ann', 'realmRoles', 'other')
  expect((await findDrift(service, SYSTEM, realm)).map(({ path, live }) => [path, live])).toEqual([
    ['composites', [['guest'], ['other']]],
  ])
  expect(await plan('all', { ...staff('guest'), ...ann })).toMatch(/composites: -other {2}corrects a change by ann/)
  await apply('all', { ...staff('guest'), ...ann })
  expect((await live('role', 'staff')).representation.composites).toEqual({ realm: ['guest'] })
  expect((await live('user', 'ann')).representation.realmRoles).toContain('other')
  expect(await plan('all', { ...staff('guest'), ...ann })).toContain('Nothing to do.')
})

test('a source that prunes all from now on looks at everything that it states again', async () => {
  const stated = { roles: { realm: [{ name: 'staff', composites: { realm: ['offline_access'] } }] } }
  await apply('managed', stated)
  await relate('role', 'staff', 'composites', 'uma_authorization')
  await make(service, ANN, realm, 'role', { name: 'theirs' })
  await apply('managed', stated)
  await live('role', 'theirs')
  await apply('all', stated)
  await isGone('role', 'theirs')
  expect((await live('role', 'staff')).representation.composites).toEqual({ realm: ['offline_access'] })
})

test('what another source owns stays, whatever the lists say, and so does what another one adds to a relation', async () => {
  const other = source(
    [{ realm, roles: { realm: [{ name: 'theirs' }, { name: 'staff', composites: { realm: ['theirs'] } }] } }],
    `${realm}-b`,
  )
  const stated = { roles: { realm: [{ name: 'staff', composites: { realm: ['offline_access'] } }] } }
  await applyAs(service, other)
  await apply('all', stated)
  expect((await live('role', 'staff')).representation.composites).toEqual({ realm: ['offline_access', 'theirs'] })
  expect(await plan('all', stated)).toContain('Nothing to do.')
  // What it lets go of is nobody's.
  await service.write(ANN, realm, (context) => forget(context, `${realm}-b`))
  await apply('all', stated)
  await isGone('role', 'theirs')
})

test('only a list that a document states itself counts: not where an object says what it belongs to', async () => {
  await make(service, ANN, realm, 'client', { clientId: 'theirs' })
  const resource = { apiVersion: 'regent.dev/v1alpha1', kind: 'RealmClient', metadata: { name: 'shop' } }
  const state = source([{ ...resource, spec: { realmRef: { name: realm }, publicClient: true } }], realm)
  await applyAs(service, { ...state, settings: { prune: 'all' } })
  await live('client', 'shop')
  await live('client', 'theirs')
})

test('what is renamed in such a list is renamed, and not deleted', async () => {
  await make(service, ANN, realm, 'client', { clientId: 'old' })
  const { id } = await live('client', 'old')
  await apply('all', { clients: [{ clientId: 'new', renamedFrom: 'old' }] })
  expect((await live('client', 'new')).id).toBe(id)
  await isGone('client', 'old')
})

async function relate(kind: 'role' | 'user', name: string, field: string, role: string): Promise<void> {
  const object = await live(kind, name)
  const relations = { [field]: { add: [[role]] } }
  await service.write(ANN, realm, (context) => writers[kind].update(context, [{ live: object, set: {}, relations }]))
}

test('in master, whole lists leave what administers realms, and who administers them all', async () => {
  const own = await freshService({})
  try {
    for (const name of ['master', 'shop']) await own.create(SYSTEM, { representation: { realm: name } }, async () => {})
    await make(own, ANN, 'master', 'client', { clientId: 'theirs' })
    await make(own, ANN, 'master', 'role', { name: 'theirs' })
    const admin = { name: 'admin', composites: { realm: ['create-realm'] } }
    const stated = source([{ realm: 'master', clients: [], roles: { realm: [admin] } }])
    const whole = { ...stated, settings: { prune: 'all' as const } }
    const administers = async () =>
      (await liveObject(own, SYSTEM, 'master', 'role', 'admin')).representation.composites as { client: object }
    const before = await administers()
    await applyAs(own, whole)
    const names = async (kind: KindName) => [...(await liveObjects(own, SYSTEM, 'master', kind)).keys()]
    expect(await names('client')).toEqual(expect.arrayContaining(['master-realm', 'shop-realm', 'admin-cli']))
    expect(await names('client')).not.toContain('theirs')
    expect(await names('role')).not.toContain('theirs')
    expect((await administers()).client).toEqual(before.client)
    expect((await planSources(own, SYSTEM, [whole])).realms[0]!.plan.actions).toEqual([])
  } finally {
    await own.close()
  }
})

test('a whole list of components is that of its provider type', async () => {
  const store = 'org.keycloak.storage.UserStorageProvider'
  const config = { connectionUrl: ['ldaps://ldap.example'], vendor: ['other'], editMode: ['READ_ONLY'] }
  const components = {
    [store]: [{ name: 'staff', providerId: 'ldap', config }],
    'org.keycloak.keys.KeyProvider': [{ name: 'more', providerId: 'rsa-generated', config: { priority: ['1'] } }],
  }
  const other = source([{ realm, components }], `${realm}-other`)
  await applyAs(service, other)
  await service.write(ANN, realm, (context) => forget(context, other.name))
  const stated = { components: { [store]: [] } }
  expect(await plan('all', stated)).toMatch(
    / {2}- component .*staff\n(.*\n)*Plan: 0 to create, 0 to update, 1 to delete\./,
  )
  await apply('all', stated)
  const left = [...(await liveObjects(service, SYSTEM, realm, 'component')).keys()]
  expect(left.filter((name) => name.endsWith('more'))).toHaveLength(1)
  expect(left.filter((name) => name.endsWith('staff'))).toEqual([])
})
