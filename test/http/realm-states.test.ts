// The state of realms, their objects with the sources that manage them, and the stream of changes.
import { afterEach, expect, test } from 'vitest'
import { planAndSave } from '../../src/reconcile/run/saved-plans.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

const { service } = await testService()
const { call, createRealm, listen, adminToken } = await testServer()
const address = await listen()

const declare = (realm: string, name = 'Shop') => ({ realm, enabled: true, clients: [{ clientId: 'shop', name }] })

async function getState(realm: string, token?: string) {
  const { status, body } = await call('GET', `/regent/v1/realms?search=${realm}`, token === undefined ? {} : { token })
  expect(status).toBe(200)
  return body.find((state: { realm: string }) => state.realm === realm)
}

async function renameClient(realm: string, name: string) {
  const { body } = await call('GET', `/admin/realms/${realm}/clients?clientId=shop`)
  await call('PUT', `/admin/realms/${realm}/clients/${body[0].id}`, { body: { name } })
}

test('a realm is unmanaged, then in sync, drifted, and pending approval', async () => {
  const realm = (await createRealm()).split('/').at(-1)!
  expect(await getState(realm)).toMatchObject({ state: 'unmanaged', sources: [], drift: 0, pendingPlans: 0 })
  const source = createSource([declare(realm)])
  await applySource(service, source)
  expect(await getState(realm)).toMatchObject({ state: 'inSync', sources: [source.name], enabled: true })
  await renameClient(realm, 'Edited')
  expect(await getState(realm)).toMatchObject({
    state: 'drifted',
    drift: 1,
    lastChange: { revision: expect.any(Number), by: { name: 'admin', kind: 'administrator', client: 'admin-cli' } },
  })
  const { settings: _, ...guarded } = createSource([{ realm, enabled: true, clients: [] }], source.name)
  const plan = { ...guarded, settings: { guards: { deletions: 0, share: 0 } } }
  await planAndSave({ service, caller: ANN, sources: [plan], strict: false })
  expect(await getState(realm)).toMatchObject({ state: 'pendingApproval', pendingPlans: 1 })
})

test('a caller sees the realms in which they have a role, with their permissions, and no state without permission', async () => {
  const realm = newName()
  await applySource(service, createSource([declare(realm)]))
  const other = (await createRealm()).split('/').at(-1)!
  const token = await createAdminToken(realm, { clientRoles: { 'realm-management': ['view-clients'] } })
  const state = await getState(realm, token)
  expect(state).toEqual({ realm, enabled: true, permissions: expect.arrayContaining(['view-clients']) })
  expect(state.permissions).not.toContain('view-realm')
  expect(await getState(other, token)).toBeUndefined()
  expect((await call('GET', '/regent/v1/realms', { token: null })).status).toBe(401)
})

test('objects are counted by kind, and listed with the sources that manage them, page by page', async () => {
  const realm = newName()
  const source = createSource([
    { ...declare(realm), roles: { realm: ['a', 'b', 'c'].map((name) => ({ name: `role-${name}` })) } },
  ])
  await applySource(service, source)
  const path = `/regent/v1/objects/${realm}`
  const { body: counts } = await call('GET', path)
  expect(counts).toContainEqual({ kind: 'client', title: 'client', parents: [], count: 7, managed: 1 })
  expect((await call('GET', `${path}/client?managed=true`)).body).toEqual([
    { id: expect.any(String), key: ['shop'], sources: [source.name] },
  ])
  expect((await call('GET', `${path}/client?managed=false&search=ADMIN-CLI`)).body).toEqual([
    { id: expect.any(String), key: ['admin-cli'], sources: [] },
  ])
  const { body: roles } = await call('GET', `${path}/role?search=role-&first=1&max=1`)
  expect(roles).toMatchObject([{ key: ['role-b'], sources: [source.name] }])
  expect((await call('GET', `${path}/nothing`)).status).toBe(404)
  const token = await createAdminToken(realm, { clientRoles: { 'realm-management': ['view-clients'] } })
  const { body: viewable } = await call('GET', path, { token })
  expect(viewable.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['client', 'clientScope', 'protocolMapper'])
  expect((await call('GET', `${path}/user`, { token })).status).toBe(403)
})

test('an object is returned as it would be declared, with the provenance of its values and its changes', async () => {
  const realm = newName()
  const source = createSource([declare(realm)])
  await applySource(service, source)
  await renameClient(realm, 'Edited')
  const { body } = await call('GET', `/regent/v1/object/${realm}?kind=client&key=shop`)
  expect(body).toMatchObject({
    kind: 'client',
    key: ['shop'],
    path: 'clients/shop',
    url: `/admin/realms/${realm}/clients/${body.id}`,
    yaml: `realm: ${realm}\nclients:\n  - clientId: shop\n    name: Edited\n`,
    history: [
      { operation: 'update', by: { name: 'admin' }, changes: [{ path: 'name', from: 'Shop', to: 'Edited' }] },
      { operation: 'create', by: { name: source.name }, changes: [] },
    ],
  })
  expect(body.provenance.fields).toContainEqual(
    expect.objectContaining({
      path: 'name',
      value: 'Edited',
      declarations: [expect.objectContaining({ source: source.name, line: expect.any(Number) })],
      by: expect.objectContaining({ name: 'admin' }),
    }),
  )
  expect((await call('GET', `/regent/v1/object/${realm}?kind=client&key=none`)).status).toBe(404)
  expect((await call('GET', `/regent/v1/object/${realm}?kind=client`)).status).toBe(400)
  const token = await createAdminToken(realm, { clientRoles: { 'realm-management': ['view-clients'] } })
  const { body: viewed } = await call('GET', `/regent/v1/object/${realm}?kind=client&key=shop`, { token })
  expect(Object.keys(viewed).sort()).toEqual(['id', 'key', 'kind', 'path', 'url', 'yaml'])
})

test('each object of a new realm is returned as it would be declared, and masks its secrets', async () => {
  const realm = (await createRealm()).split('/').at(-1)!
  const { body: counts } = await call('GET', `/regent/v1/objects/${realm}`)
  for (const { kind } of counts) {
    const { body: objects } = await call('GET', `/regent/v1/objects/${realm}/${kind}?max=500`)
    for (const { key } of objects) {
      const query = new URLSearchParams([['kind', kind], ...key.map((part: string) => ['key', part])])
      const { status, body } = await call('GET', `/regent/v1/object/${realm}?${query}`)
      expect(status, `${kind} ${key}`).toBe(200)
      expect(body.yaml, `${kind} ${key}`).toMatch(new RegExp(`^realm: '?${realm}`))
      expect(body.yaml).not.toMatch(/BEGIN|privateKey: (?!'\*)/)
    }
  }
})

const streams: AbortController[] = []
afterEach(() => {
  for (const stream of streams.splice(0)) stream.abort()
})

/** Opens the stream of changes. Returns a function that waits for a change. */
async function openChanges(token: string) {
  const controller = new AbortController()
  streams.push(controller)
  const response = await fetch(`${address}/regent/v1/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: controller.signal,
  })
  expect(response.status).toBe(200)
  const changes: { topic: string; realm?: string }[] = []
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!)
      for (const [, data] of decoder.decode(chunk).matchAll(/^data: (.*)$/gm)) changes.push(JSON.parse(data!))
  }
  void read().catch(() => undefined)
  return {
    changes,
    waitFor: async (topic: string, realm?: string) => {
      for (let times = 0; times < 200; times++) {
        if (changes.some((change) => change.topic === topic && change.realm === realm)) return
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error(`no change of ${topic}: ${JSON.stringify(changes)}`)
    },
  }
}

test('the stream names drift, revisions, plans and sources that changed, to callers who may view them', async () => {
  const realm = newName()
  const source = createSource([declare(realm)])
  await applySource(service, source)
  const other = newName()
  await applySource(service, createSource([declare(other)]))
  const viewer = await createAdminToken(realm, { clientRoles: { 'realm-management': ['view-realm'] } })
  const foreign = await createAdminToken(other, { clientRoles: { 'realm-management': ['realm-admin'] } })
  const [all, viewed, foreignChanges] = [
    await openChanges(await adminToken()),
    await openChanges(viewer),
    await openChanges(foreign),
  ]
  for (const { waitFor } of [all, viewed, foreignChanges]) await waitFor('everything')
  await renameClient(realm, 'Edited')
  await all.waitFor('drift', realm)
  await all.waitFor('revisions', realm)
  await viewed.waitFor('revisions', realm)
  const plan = { ...createSource([{ ...declare(realm), clients: [] }], source.name) }
  await planAndSave({ service, caller: ANN, sources: [plan], strict: false })
  await all.waitFor('plans')
  await call('POST', `/regent/v1/source-states/suspend?source=${encodeURIComponent(source.name)}`)
  await all.waitFor('sources')
  await renameClient(other, 'Edited')
  await foreignChanges.waitFor('drift', other)
  expect(viewed.changes.filter(({ topic }) => topic !== 'everything')).toEqual([{ topic: 'revisions', realm }])
  expect(foreignChanges.changes.some((change) => change.realm === realm || change.topic === 'plans')).toBe(false)
})

test('the stream is refused without permissions, and beyond the tenth of a caller', async () => {
  const open = (token: string) =>
    fetch(`${address}/regent/v1/events`, { headers: { authorization: `Bearer ${token}` } })
  const realm = (await createRealm()).split('/').at(-1)!
  expect((await open(await createAdminToken(realm, {}))).status).toBe(403)
  const token = await createAdminToken(realm, { clientRoles: { 'realm-management': ['view-realm'] } })
  for (let times = 0; times < 10; times++) await openChanges(token)
  expect((await open(token)).status).toBe(503)
})
