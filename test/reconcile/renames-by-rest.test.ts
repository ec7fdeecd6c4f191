// Objects that are renamed or deleted by REST: the inventory identifies them by id, and references to them are found.
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { interfereAfterSnapshots } from '../support/interference.ts'
import { deleteObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { getLive, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

useNewRealmPerTest()

const { statements } = await testService()
const toSource = (document: object, name = realm) => createSource([{ realm, ...document }], name)

const scope = (name: string, more: object = {}) => ({ name, protocol: 'openid-connect', ...more })
const expectStable = async (declared: ReturnType<typeof toSource>) => {
  await applySource(service, declared)
  expect(await planText(service, declared)).toContain('Nothing to do.')
  expect((await statements(() => applySource(service, declared))).length).toBeLessThanOrEqual(2)
}

test('a client that was renamed by REST gets its declared name again, with its mappers and roles', async () => {
  const declared = toSource({
    clients: [{ clientId: 'a', protocolMappers: [{ name: 'm', protocolMapper: 'oidc-audience-mapper' }] }],
    roles: { client: { a: [{ name: 'buyer' }] } },
  })
  await applySource(service, declared)
  const { id } = await getLive('client', 'a')
  await updateObject(service, ANN, realm, 'client', ['a'], { clientId: 'b' })
  expect(await planText(service, declared)).toMatch(/clientId: b → a/)
  await expectStable(declared)
  expect((await getLive('client', 'a')).id).toBe(id)
  await getLive('role', 'client', 'a', 'buyer')
})

test('a renamed object gets its declared name back before a new object takes its current name', async () => {
  await applySource(service, toSource({ clientScopes: [scope('a')] }))
  const { id } = await getLive('clientScope', 'a')
  await updateObject(service, ANN, realm, 'clientScope', ['a'], { name: 'b' })
  await expectStable(toSource({ clientScopes: [scope('a'), scope('b')] }))
  expect((await getLive('clientScope', 'a')).id).toBe(id)
  expect((await getLive('clientScope', 'b')).id).not.toBe(id)
})

test('renaming a referenced object is drift of the references', async () => {
  const declared = toSource({
    clients: [{ clientId: 'web', defaultClientScopes: ['calendar'] }],
    roles: { realm: [{ name: 'staff', composites: { realm: ['worker'] } }, { name: 'worker' }] },
    clientScopes: [scope('calendar')],
  })
  await applySource(service, declared)
  await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { name: 'planner' })
  await updateObject(service, ANN, realm, 'role', ['worker'], { name: 'labourer' })
  expect((await listDrift(service, SYSTEM, realm)).map(({ key, path }) => `${key.join('/')} ${path}`).sort()).toEqual([
    'calendar name',
    'staff composites',
    'web defaultClientScopes',
    'worker name',
  ])
  await expectStable(declared)
  expect((await getLive('client', 'web')).representation.defaultClientScopes).toEqual(['calendar'])
})

test('deleting a configuration or subflow of a flow’s steps is drift of the flow', async () => {
  const flows = {
    authenticatorConfig: [{ alias: 'settings', config: { a: '1' } }],
    authenticationFlows: [
      {
        alias: 'ours',
        topLevel: true,
        authenticationExecutions: [
          { authenticator: 'auth-cookie', authenticatorConfig: 'settings', requirement: 'REQUIRED' },
          { flowAlias: 'part', requirement: 'REQUIRED' },
        ],
      },
      { alias: 'part' },
    ],
  }
  await applySource(service, toSource(flows))
  await deleteObject(service, ANN, realm, 'authenticatorConfig', 'settings')
  await deleteObject(service, ANN, realm, 'authenticationFlow', 'part')
  const drift = await listDrift(service, SYSTEM, realm)
  expect(drift.map(({ key, path }) => `${key[0]} ${path ?? 'deleted'}`).sort()).toEqual([
    'ours authenticationExecutions',
    'part deleted',
    'settings deleted',
  ])
  await expectStable(toSource(flows))
  expect((await getLive('authenticationFlow', 'ours')).representation.authenticationExecutions).toMatchObject([
    { authenticatorConfig: 'settings' },
    { flowAlias: 'part' },
  ])
})

test('an object that another source refers to is not pruned, and the error lists the references', async () => {
  await applySource(service, toSource({ clientScopes: [scope('calendar')] }, `${realm}-a`))
  await applySource(
    service,
    toSource({ clients: [{ clientId: 'web', defaultClientScopes: ['calendar'] }] }, `${realm}-b`),
  )
  await expect(applySource(service, toSource({ clientScopes: [] }, `${realm}-a`))).rejects.toThrow(
    `client web of source ${realm}-b refers to client scope calendar, which is no longer declared and would be deleted`,
  )
  await getLive('clientScope', 'calendar')
})

test('a realm that was renamed by REST gets its declared name again', async () => {
  const declared = createSource([{ realm, displayName: 'Ours' }], realm)
  await applySource(service, declared)
  const { id } = await getLive('realm')
  const other = newName()
  await updateObject(service, ANN, realm, 'realm', [realm], { realm: other })
  expect(await planText(service, declared)).toMatch(new RegExp(`realm: ${other} → ${realm}`))
  await applySource(service, declared)
  expect((await getLive('realm')).id).toBe(id)
  expect((await service.listRealms()).map(({ name }) => name)).not.toContain(other)
  expect(await planText(service, declared)).toContain('Nothing to do.')
})

test('an object that one of two sources no longer declares keeps the fields of the other source only', async () => {
  await applySources(service, SYSTEM, [
    toSource({ clientScopes: [scope('calendar', { description: 'Yours' })] }, `${realm}-a`),
    toSource({ clientScopes: [scope('calendar', { attributes: { a: '1' } })] }, `${realm}-b`),
  ])
  await applySource(service, toSource({ clientScopes: [] }, `${realm}-a`))
  const { representation } = await getLive('clientScope', 'calendar')
  expect(representation).toMatchObject({ attributes: { a: '1' } })
  expect(representation.description).toBeUndefined()
})

test('null declares that a field has no value, on creation and for a whole map', async () => {
  const client = (more: object) =>
    toSource({ clients: [{ clientId: 'web', redirectUris: ['https://a.example.org/*'], ...more }] })
  await expectStable(client({ webOrigins: null, attributes: { colour: 'blue' } }))
  expect((await getLive('client', 'web')).representation.webOrigins ?? []).toEqual([])
  await expectStable(client({ webOrigins: null, attributes: null }))
  expect((await getLive('client', 'web')).representation.attributes ?? {}).toEqual({})
  await updateObject(service, ANN, realm, 'client', ['web'], { 'attributes.size': 'large' })
  expect(await listDrift(service, SYSTEM, realm)).toMatchObject([
    { key: ['web'], path: 'attributes', live: { size: 'large' } },
  ])
  await expectStable(client({ webOrigins: null, attributes: null }))
})

test('a name that is taken between plan and apply leads to a new plan, not to an error', async () => {
  const declared = toSource({ clientScopes: [scope('calendar')] })
  const interfering = interfereAfterSnapshots(service, async (count) => {
    if (count === 0) await applySource(service, toSource({ clientScopes: [scope('calendar')] }, `${realm}-other`))
  })
  await applySource(interfering, declared)
  expect((await listLiveObjects(service, SYSTEM, realm, 'clientScope')).has('calendar')).toBe(true)
})

test('an apply that fails with an unexpected error is not retried', async () => {
  let failed = false
  const failing: Service = {
    ...service,
    write: (caller, target, work) =>
      service.write(caller, target, async (context) => {
        const result = await work(context)
        if (failed) return result
        failed = true
        throw new Error('the connection broke')
      }),
  }
  await expect(applySource(failing, toSource({ clientScopes: [scope('calendar')] }))).rejects.toThrow(
    'the connection broke',
  )
  expect((await listLiveObjects(service, SYSTEM, realm, 'clientScope')).has('calendar')).toBe(false)
})

test('clients and roles may have names of JavaScript’s object properties', async () => {
  const odd = ['constructor', 'toString', 'hasOwnProperty']
  await expectStable(
    toSource({
      clients: odd.map((clientId) => ({ clientId })),
      roles: {
        realm: [{ name: 'all', composites: { client: Object.fromEntries(odd.map((id) => [id, ['r']])) } }],
        client: Object.fromEntries(odd.map((id) => [id, [{ name: 'r' }]])),
      },
    }),
  )
})

test('a service account is renamed and deleted with its client', async () => {
  await applySource(service, toSource({ clients: [{ clientId: 'old', serviceAccountsEnabled: true }] }))
  await updateObject(service, ANN, realm, 'client', ['old'], { clientId: 'new' })
  const declared = toSource({
    clients: [
      { clientId: 'old', serviceAccountsEnabled: true },
      { clientId: 'new', serviceAccountsEnabled: true },
    ],
  })
  await expectStable(declared)
  expect(await planText(service, toSource({ clients: [] }))).toContain('- user service-account-old (consequence)')
})

test('declarations in master about a new realm of the same source are planned before the realm exists', async () => {
  const newRealmName = newName()
  const role = newName('role')
  const declared = createSource(
    [
      { realm: newRealmName },
      {
        realm: 'master',
        roles: { realm: [{ name: role, composites: { client: { [`${newRealmName}-realm`]: ['view-realm'] } } }] },
      },
    ],
    newRealmName,
  )
  const text = await planText(service, declared)
  expect(text).toContain(`+ role ${role}`)
  expect(text).toContain('the plan needs objects that another realm of this run creates first')
  await applySource(service, declared)
  expect(await planText(service, declared)).toContain('Nothing to do.')
})
