// Clients that decide permissions: their resources, scopes and policies in documents, and what follows them around.
import { beforeEach, expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { deleteObject, getLiveObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { newRealm, testService } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

let service: Service
let realm: string
const live = (kind: Parameters<typeof getLiveObject>[3], ...key: string[]) =>
  getLiveObject(service, SYSTEM, realm, kind, ...key)

beforeEach(async () => {
  service = (await testService()).service
  realm = await newRealm(service)
})

const policies = [
  { name: 'Tellers', type: 'role', config: { roles: '[{"id":"teller","required":true},{"id":"api/auditor"}]' } },
  { name: 'Mia', type: 'user', config: { users: '["mia"]' } },
  { name: 'Machines', type: 'client', config: { clients: '["atm"]' } },
  { name: 'Branch', type: 'group', config: { groups: '[{"path":"/branch","extendChildren":true}]', groupsClaim: 'g' } },
  { name: 'Cash', type: 'client-scope', config: { clientScopes: '[{"id":"cash","required":true},{"id":"email"}]' } },
  { name: 'Office hours', type: 'time', config: { hour: '8', hourEnd: '18' } },
  { name: 'Both', type: 'aggregate', logic: 'NEGATIVE', config: { applyPolicies: '["Tellers","Office hours"]' } },
  { name: 'Open', type: 'scope', config: { resources: '["Safe"]', scopes: '["open"]', applyPolicies: '["Both"]' } },
]

const bank = (settings: Representation = {}, more: Representation = {}): Representation => ({
  realm,
  enabled: true,
  roles: { realm: [{ name: 'teller' }], client: { api: [{ name: 'auditor' }] } },
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

test('the settings come back as they were stated', async () => {
  await applySource(service, createSource([bank()]))
  const { clients } = await service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true }))
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
  const config = Object.fromEntries(settings.policies.map((one) => [one.name, one.config]))
  expect(config).toEqual({
    Tellers: { roles: '[{"id":"api/auditor","required":false},{"id":"teller","required":true}]' },
    Mia: { users: '["mia"]' },
    Machines: { clients: '["atm"]' },
    Branch: { groups: '[{"path":"/branch","extendChildren":true}]', groupsClaim: 'g' },
    Cash: { clientScopes: '[{"id":"email","required":false},{"id":"cash","required":true}]' },
    'Office hours': { hour: '8', hourEnd: '18' },
    Both: { applyPolicies: '["Office hours","Tellers"]' },
    Open: { resources: '["Safe"]', scopes: '["open"]', applyPolicies: '["Both"]' },
  })
})

test('a plan shows what policies name, and is empty once it is applied', async () => {
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

test('a role that is needed, and then only one of several, is one role', async () => {
  await applySource(service, createSource([bank()]))
  const roles = '[{"id":"teller"},{"id":"api/auditor","required":true}]'
  const changed = createSource([bank({ policies: [{ ...policies[0]!, config: { roles } }, ...policies.slice(1)] })])
  expect(await planText(service, changed)).toMatch(/requiredRoles: \+\S*auditor -teller/)
  await applySource(service, changed)
  expect(await planText(service, changed)).toContain('Nothing to do.')
})

test('what a policy names must be there, and the message says where', async () => {
  const named = [{ name: 'Open', type: 'scope', config: { scopes: '["opeen"]' } }]
  await expect(planText(service, createSource([bank({ policies: named })]))).rejects.toThrow(
    /^test-1.yaml:39:13: authorization policy Open of client api: scopes refers to authorization scope opeen of client api, which does not exist. Did you mean open\?$/,
  )
})

test('a setting that is no list as JSON is refused where it stands', async () => {
  const broken = [{ name: 'Tellers', type: 'role', config: { roles: '[{"id":' } }]
  await expect(planText(service, createSource([bank({ policies: broken })]))).rejects.toThrow(
    /^test-1.yaml:39:13: .*config.roles must be a list as JSON, such as \[\{"id":"<name>"\}\]$/,
  )
})

test('a renamed role is renamed in policies too, and a deleted one is gone from them', async () => {
  await applySource(service, createSource([bank()]))
  const tellers = async () => (await live('authorizationPolicy', 'client', 'api', 'Tellers')).representation
  await updateObject(service, ANN, realm, 'role', ['teller'], { name: 'cashier' })
  expect(await tellers()).toMatchObject({ requiredRoles: { realm: ['cashier'] } })
  expect(await planText(service, createSource([bank()]))).toMatch(/corrects a change by ann/)
  await deleteObject(service, ANN, realm, 'role', 'cashier')
  expect(await tellers()).not.toHaveProperty('requiredRoles')
})

test('a client that somebody renamed is called as before, and its policies change at the same time', async () => {
  await applySource(service, createSource([bank()]))
  await updateObject(service, ANN, realm, 'client', ['api'], { clientId: 'theirs' })
  const config = { resources: '["Safe"]', scopes: '["count"]', applyPolicies: '["Mia"]' }
  const changed = createSource([bank({ policies: [...policies.slice(0, -1), { ...policies.at(-1)!, config }] })])
  await applySource(service, changed)
  expect((await live('authorizationPolicy', 'client', 'api', 'Open')).representation).toMatchObject({
    scopes: ['count'],
    policies: ['Mia'],
  })
  expect(await planText(service, changed)).toContain('Nothing to do.')
})

test('a permission ends with the last resource that it names', async () => {
  await applySource(service, createSource([bank()]))
  await deleteObject(service, ANN, realm, 'authorizationResource', 'client', 'api', 'Safe')
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'authorizationPolicy')).keys()]).not.toContain('Open')
})

test('resources go with the person who owns them', async () => {
  await applySource(service, createSource([bank()]))
  await deleteObject(service, ANN, realm, 'user', 'mia')
  expect((await listLiveObjects(service, SYSTEM, realm, 'authorizationResource')).size).toBe(0)
})

test('authorization services bring a role, and what they decide by goes with them', async () => {
  await applySource(service, createSource([bank()]))
  expect((await live('user', 'service-account-api')).representation).toMatchObject({
    clientRoles: { api: ['uma_protection'] },
  })
  const off = bank({}, { authorizationServicesEnabled: false, authorizationSettings: null })
  await applySource(service, createSource([off]))
  for (const kind of ['authorizationPolicy', 'authorizationResource', 'authorizationScope'] as const)
    expect((await listLiveObjects(service, SYSTEM, realm, kind)).size).toBe(0)
  expect(await planText(service, createSource([off]))).toContain('Nothing to do.')
})

test('a policy names only what its type names', async () => {
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
