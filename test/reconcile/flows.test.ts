// Authentication flows and required actions as documents state them, also old ones.
import { beforeEach, expect, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject, listLiveObjects } from '../support/live-objects.ts'
import { testServer } from '../support/server.ts'
import { newRealm, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

let service: Service
let realm: string
const live = (kind: Parameters<typeof getLiveObject>[3], ...key: string[]) =>
  getLiveObject(service, SYSTEM, realm, kind, ...key)
const state = (document: object) => createSource([{ realm, ...document }], realm)
const flow = (alias: string, ...authenticationExecutions: object[]) => ({ alias, authenticationExecutions })

beforeEach(async () => {
  service = (await testService()).service
  realm = await newRealm(service)
})

test('steps stand in the order of their priorities, however a document lists them', async () => {
  const steps = [
    { authenticator: 'auth-otp-form', requirement: 'REQUIRED', priority: 20 },
    { authenticator: 'auth-cookie', requirement: 'REQUIRED', priority: 10 },
    { authenticator: 'auth-spnego', requirement: 'REQUIRED' },
  ]
  const stated = state({ authenticationFlows: [flow('ours', ...steps)] })
  await applySource(service, stated)
  expect((await live('authenticationFlow', 'ours')).representation.authenticationExecutions).toMatchObject([
    { authenticator: 'auth-spnego', priority: 0 },
    { authenticator: 'auth-cookie', priority: 10 },
    { authenticator: 'auth-otp-form', priority: 20 },
  ])
  expect(await planText(service, { ...stated, name: `${realm} again` })).toContain('Nothing to do.')
})

test('an optional step of an old document becomes a conditional flow', async () => {
  const steps = [
    { authenticator: 'auth-password-form', requirement: 'REQUIRED', priority: 10 },
    { authenticator: 'auth-otp-form', requirement: 'OPTIONAL', priority: 20, autheticatorFlow: false },
  ]
  const stated = state({ authenticationFlows: [flow('ours', ...steps)] })
  await applySource(service, stated)
  expect((await live('authenticationFlow', 'ours')).representation.authenticationExecutions).toMatchObject([
    { authenticator: 'auth-password-form', requirement: 'REQUIRED' },
    { flowAlias: 'ours - auth-otp-form - Conditional', requirement: 'CONDITIONAL', priority: 20 },
  ])
  const added = await live('authenticationFlow', 'ours - auth-otp-form - Conditional')
  expect(added.representation.authenticationExecutions).toMatchObject([
    { authenticator: 'conditional-user-configured', requirement: 'REQUIRED' },
    { authenticator: 'auth-otp-form', requirement: 'REQUIRED' },
  ])
  expect(await planText(service, { ...stated, name: `${realm} again` })).toContain('Nothing to do.')
})

test('the required action that was in small letters is the one in capitals', async () => {
  const old = { alias: 'terms_and_conditions', providerId: 'terms_and_conditions', enabled: true }
  await applySource(service, state({ requiredActions: [old] }))
  expect((await live('requiredAction', 'TERMS_AND_CONDITIONS')).representation.enabled).toBe(true)
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'requiredAction')).keys()]).not.toContain(old.alias)
})

test('what Regent does not have is kept, and the plan says so once', async () => {
  const phone = { authenticator: 'phone', requirement: 'REQUIRED' }
  const stated = state({
    authenticationFlows: [flow('one', phone), flow('two', phone), flow('three', { authenticator: 'badge' })],
    requiredActions: [{ alias: 'enrol', providerId: 'enrol-badge', enabled: true }],
  })
  const text = await planText(service, stated)
  expect(text).toMatch(
    /2 authentication flows: Regent does not have the authenticator phone; logins that reach it fail/,
  )
  expect(text).toMatch(/flow three: Regent does not have the authenticator badge; .* {2}\S+:\d+:\d+/)
  expect(text).toMatch(
    /required action enrol: Regent does not have the provider enrol-badge; logins that require it fail/,
  )
  await applySource(service, stated)
  expect((await live('requiredAction', 'enrol')).representation).toMatchObject({ enabled: true, priority: 0 })
})

test('a step that an administrator adds over REST is drift of the flow, and the others keep their ids', async () => {
  const { call, make } = await testServer()
  const stated = state({ authenticationFlows: [flow('ours', { authenticator: 'auth-cookie' })] })
  await applySource(service, stated)
  const executions = `/admin/realms/${realm}/authentication/flows/ours/executions`
  const [before] = (await call('GET', executions)).body
  await make(`${executions}/execution`, { provider: 'auth-otp-form' })
  expect(await planText(service, stated)).toMatch(
    /authenticationExecutions: {2}corrects a change by admin .*\n *-auth-otp-form/,
  )
  await applySource(service, stated)
  expect((await call('GET', executions)).body).toEqual([before])
})

test('settings that an export masks stay what they are', async () => {
  const config = (value: string) => [{ alias: 'phone settings', config: { key: value, digits: '6' } }]
  await applySource(service, state({ authenticatorConfig: config('k1') }))
  const masked = state({ authenticatorConfig: config('**********') })
  expect(await planText(service, masked)).toMatch(/config.key is masked; the live value is retained/)
  await applySource(service, masked)
  expect((await live('authenticatorConfig', 'phone settings')).representation.config).toEqual({
    digits: '6',
    key: 'k1',
  })
})

test('a failure names what failed, also where flows are parts of flows that stand before them', async () => {
  const stated = state({
    authenticationFlows: [flow('whole', { flowAlias: 'part', authenticatorFlow: true }), flow('part')],
    clients: [{ clientId: 'shop', rootUrl: 'nonsense' }],
  })
  await expect(applySource(service, stated)).rejects.toMatchObject({
    action: { kind: 'client', key: ['shop'] },
    message: 'Root URL is not a valid URL',
  })
})

test('a step names what it is', async () => {
  const stated = state({ authenticationFlows: [flow('ours', { requirement: 'REQUIRED' })] })
  const message = 'Authentication flow "ours": a step has neither an authenticator nor a flowAlias'
  await expect(applySource(service, stated)).rejects.toThrow(message)
})
