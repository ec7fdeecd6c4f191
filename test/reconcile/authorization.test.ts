// Authorization services of clients: resources, scopes and policies in documents.
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { deleteObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { exportDocument, getLive, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

useNewRealmPerTest()

const policies = [
  { name: 'Treasurers', type: 'role', config: { roles: '[{"id":"treasurer","required":true},{"id":"api/auditor"}]' } },
  { name: 'Mia', type: 'user', config: { users: '["mia"]' } },
  { name: 'Machines', type: 'client', config: { clients: '["atm"]' } },
  { name: 'Branch', type: 'group', config: { groups: '[{"path":"/branch","extendChildren":true}]', groupsClaim: 'g' } },
  { name: 'Cash', type: 'client-scope', config: { clientScopes: '[{"id":"cash","required":true},{"id":"email"}]' } },
  { name: 'Office hours', type: 'time', config: { hour: '8', hourEnd: '18' } },
  { name: 'Both', type: 'aggregate', logic: 'NEGATIVE', config: { applyPolicies: '["Treasurers","Office hours"]' } },
  { name: 'Open', type: 'scope', config: { resources: '["Safe"]', scopes: '["open"]', applyPolicies: '["Both"]' } },
]

const bank = (settings: Representation = {}, more: Representation = {}): Representation => ({
  realm,
  enabled: true,
  roles: { realm: [{ name: 'treasurer' }], client: { api: [{ name: 'auditor' }] } },
  groups: [{ name: 'branch' }],
  users: [{ username: 'mia', enabled: true }],
  clientScopes: [{ name: 'cash', protocol: 'openid-connect' }],
  clients: [
    { clientId: 'atm', publicClient: true },
    {
      clientId: 'api',
      authorizationServicesEnabled: true,
      authorizationSettings: {
        policyEnforcementMode: 'PERMISSIVE',
        scopes: [{ name: 'count', displayName: 'Count what is there' }],
        resources: [{ name: 'Safe', uri: '/safe/*', owner: { name: 'mia' }, scopes: ['open', { name: 'count' }] }],
        policies,
        ...settings,
      },
      ...more,
    },
  ],
})

test('an export contains the declared authorization settings', async () => {
  await applySource(service, createSource([bank()]))
  const { clients } = await exportDocument({ full: true })
  const api = (clients as Representation[]).find(({ clientId }) => clientId === 'api')!
  expect(api).toMatchObject({ serviceAccountsEnabled: true, authorizationServicesEnabled: true })
  expect(api.authorizationSettings).toMatchObject({
    allowRemoteResourceManagement: true,
    policyEnforcementMode: 'PERMISSIVE',
    decisionStrategy: 'UNANIMOUS',
    scopes: [{ name: 'count', displayName: 'Count what is there' }, { name: 'open' }],
    resources: [
      {
        name: 'Safe',
        uris: ['/safe/*'],
        owner: { name: 'mia' },
        ownerManagedAccess: false,
        scopes: [{ name: 'count' }, { name: 'open' }],
      },
    ],
  })
  const settings = api.authorizationSettings as { policies: Representation[] }
  const config = Object.fromEntries(settings.policies.map(({ name, config }) => [name, config]))
  expect(config).toEqual({
    Treasurers: { roles: '[{"id":"api/auditor","required":false},{"id":"treasurer","required":true}]' },
    Mia: { users: '["mia"]' },
    Machines: { clients: '["atm"]' },
    Branch: { groups: '[{"path":"/branch","extendChildren":true}]', groupsClaim: 'g' },
    Cash: { clientScopes: '[{"id":"email","required":false},{"id":"cash","required":true}]' },
    'Office hours': { hour: '8', hourEnd: '18' },
    Both: { applyPolicies: '["Office hours","Treasurers"]' },
    Open: { resources: '["Safe"]', scopes: '["open"]', applyPolicies: '["Both"]' },
  })
})

test('a plan shows the references of policies, and is empty after the apply', async () => {
  const state = createSource([bank()])
  const text = await planText(service, state)
  expect(text).toContain('authorization policy Open of client api')
  await applySource(service, state)
  expect(await planText(service, state)).toContain('Nothing to do.')
  const changed = createSource([bank({ policies: [...policies.slice(0, -1), { ...policies.at(-1)!, config: {} }] })])
  expect(await planText(service, changed)).toMatch(/resources: -Safe/)
  await applySource(service, changed)
  expect(await planText(service, changed)).toContain('Nothing to do.')
})

test('a role of a policy whose `required` changes moves between requiredRoles and roles', async () => {
  await applySource(service, createSource([bank()]))
  const roles = '[{"id":"treasurer"},{"id":"api/auditor","required":true}]'
  const changed = createSource([bank({ policies: [{ ...policies[0]!, config: { roles } }, ...policies.slice(1)] })])
  expect(await planText(service, changed)).toMatch(/requiredRoles: \+\S*auditor -treasurer/)
  await applySource(service, changed)
  expect(await planText(service, changed)).toContain('Nothing to do.')
})

test('an unknown scope of a policy is refused at its position, with the nearest name', async () => {
  const misspelt = [{ name: 'Open', type: 'scope', config: { scopes: '["opeen"]' } }]
  await expect(planText(service, createSource([bank({ policies: misspelt })]))).rejects.toThrow(
    /^test-1.yaml:39:13: authorization policy Open of client api: scopes refers to authorization scope opeen of client api, which does not exist. Did you mean open\?$/,
  )
})

test('a setting that is not a JSON list is refused at its position', async () => {
  const broken = [{ name: 'Treasurers', type: 'role', config: { roles: '[{"id":' } }]
  await expect(planText(service, createSource([bank({ policies: broken })]))).rejects.toThrow(
    /^test-1.yaml:39:13: .*config.roles must be a list as JSON, such as \[\{"id":"<name>"\}\]$/,
  )
})

test('renaming a role renames it in policies, and deleting it removes it from them', async () => {
  await applySource(service, createSource([bank()]))
  const getPolicy = async () => (await getLive('authorizationPolicy', 'client', 'api', 'Treasurers')).representation
  await updateObject(service, ANN, realm, 'role', ['treasurer'], { name: 'cashier' })
  expect(await getPolicy()).toMatchObject({ requiredRoles: { realm: ['cashier'] } })
  expect(await planText(service, createSource([bank()]))).toMatch(/corrects a change by ann/)
  await deleteObject(service, ANN, realm, 'role', 'cashier')
  expect(await getPolicy()).not.toHaveProperty('requiredRoles')
})

test('a client that was renamed by REST gets its declared name again in the apply that changes its policies', async () => {
  await applySource(service, createSource([bank()]))
  await updateObject(service, ANN, realm, 'client', ['api'], { clientId: 'theirs' })
  const config = { resources: '["Safe"]', scopes: '["count"]', applyPolicies: '["Mia"]' }
  const changed = createSource([bank({ policies: [...policies.slice(0, -1), { ...policies.at(-1)!, config }] })])
  await applySource(service, changed)
  expect((await getLive('authorizationPolicy', 'client', 'api', 'Open')).representation).toMatchObject({
    scopes: ['count'],
    policies: ['Mia'],
  })
  expect(await planText(service, changed)).toContain('Nothing to do.')
})

test('a permission is deleted with its last resource', async () => {
  await applySource(service, createSource([bank()]))
  await deleteObject(service, ANN, realm, 'authorizationResource', 'client', 'api', 'Safe')
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'authorizationPolicy')).keys()]).not.toContain('Open')
})

test('resources are deleted with their owner', async () => {
  await applySource(service, createSource([bank()]))
  await deleteObject(service, ANN, realm, 'user', 'mia')
  expect((await listLiveObjects(service, SYSTEM, realm, 'authorizationResource')).size).toBe(0)
})

test('authorization services grant uma_protection; disabling them deletes policies, resources and scopes', async () => {
  await applySource(service, createSource([bank()]))
  expect((await getLive('user', 'service-account-api')).representation).toMatchObject({
    clientRoles: { api: ['uma_protection'] },
  })
  const off = bank({}, { authorizationServicesEnabled: false, authorizationSettings: null })
  await applySource(service, createSource([off]))
  for (const kind of ['authorizationPolicy', 'authorizationResource', 'authorizationScope'] as const)
    expect((await listLiveObjects(service, SYSTEM, realm, kind)).size).toBe(0)
  expect(await planText(service, createSource([off]))).toContain('Nothing to do.')
})

test('a policy with a field that its type does not have is refused', async () => {
  await applySource(service, createSource([bank()]))
  const policy = {
    apiVersion: 'regent.dev/v1alpha1',
    kind: 'RealmAuthorizationPolicy',
    spec: { realm, client: 'api', name: 'Night', type: 'time', users: ['mia'] },
  }
  await expect(applySource(service, createSource([policy], 'other'))).rejects.toThrow(
    'is of type time, which has no users',
  )
})

test('settings of a client without authorization services are refused', async () => {
  const without = createSource([bank({}, { authorizationServicesEnabled: false })])
  await expect(applySource(service, without)).rejects.toThrow(/client api has no authorization services/)
})
