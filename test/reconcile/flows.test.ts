// Authentication flows and required actions in documents, also of old versions.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listLiveObjects } from '../support/live-objects.ts'
import { getLive, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { testServer } from '../support/server.ts'
import { applySource, planText } from '../support/sources.ts'

useNewRealmPerTest()

const flow = (alias: string, ...authenticationExecutions: object[]) => ({ alias, authenticationExecutions })

test('the steps of a flow are ordered by their priorities, not by their order in the document', async () => {
  const steps = [
    { authenticator: 'auth-otp-form', requirement: 'REQUIRED', priority: 20 },
    { authenticator: 'auth-cookie', requirement: 'REQUIRED', priority: 10 },
    { authenticator: 'auth-spnego', requirement: 'REQUIRED' },
  ]
  const declared = toRealmSource({ authenticationFlows: [flow('ours', ...steps)] })
  await applySource(service, declared)
  expect((await getLive('authenticationFlow', 'ours')).representation.authenticationExecutions).toMatchObject([
    { authenticator: 'auth-spnego', priority: 0 },
    { authenticator: 'auth-cookie', priority: 10 },
    { authenticator: 'auth-otp-form', priority: 20 },
  ])
  expect(await planText(service, { ...declared, name: `${realm} again` })).toContain('Nothing to do.')
})

test('a step with the former requirement OPTIONAL becomes a conditional subflow', async () => {
  const steps = [
    { authenticator: 'auth-password-form', requirement: 'REQUIRED', priority: 10 },
    { authenticator: 'auth-otp-form', requirement: 'OPTIONAL', priority: 20, autheticatorFlow: false },
  ]
  const declared = toRealmSource({ authenticationFlows: [flow('ours', ...steps)] })
  await applySource(service, declared)
  expect((await getLive('authenticationFlow', 'ours')).representation.authenticationExecutions).toMatchObject([
    { authenticator: 'auth-password-form', requirement: 'REQUIRED' },
    { flowAlias: 'ours - auth-otp-form - Conditional', requirement: 'CONDITIONAL', priority: 20 },
  ])
  const added = await getLive('authenticationFlow', 'ours - auth-otp-form - Conditional')
  expect(added.representation.authenticationExecutions).toMatchObject([
    { authenticator: 'conditional-user-configured', requirement: 'REQUIRED' },
    { authenticator: 'auth-otp-form', requirement: 'REQUIRED' },
  ])
  expect(await planText(service, { ...declared, name: `${realm} again` })).toContain('Nothing to do.')
})

test('the former required action terms_and_conditions is applied as TERMS_AND_CONDITIONS', async () => {
  const old = { alias: 'terms_and_conditions', providerId: 'terms_and_conditions', enabled: true }
  await applySource(service, toRealmSource({ requiredActions: [old] }))
  expect((await getLive('requiredAction', 'TERMS_AND_CONDITIONS')).representation.enabled).toBe(true)
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'requiredAction')).keys()]).not.toContain(old.alias)
})

test('unknown authenticators and required actions are stored, and the plan notes each of them once', async () => {
  const phone = { authenticator: 'phone', requirement: 'REQUIRED' }
  const declared = toRealmSource({
    authenticationFlows: [flow('one', phone), flow('two', phone), flow('three', { authenticator: 'badge' })],
    requiredActions: [{ alias: 'enrol', providerId: 'enrol-badge', enabled: true }],
  })
  const text = await planText(service, declared)
  expect(text).toMatch(
    /2 authentication flows: Regent does not have the authenticator phone; logins that reach it fail/,
  )
  expect(text).toMatch(/flow three: Regent does not have the authenticator badge; .* {2}\S+:\d+:\d+/)
  expect(text).toMatch(
    /required action enrol: Regent does not have the required action enrol-badge; logins of users who have it fail/,
  )
  await applySource(service, declared)
  expect((await getLive('requiredAction', 'enrol')).representation).toMatchObject({ enabled: true, priority: 0 })
})

test('a step that an administrator adds by REST is drift, and its correction keeps the ids of the other steps', async () => {
  const { call, create } = await testServer()
  const declared = toRealmSource({ authenticationFlows: [flow('ours', { authenticator: 'auth-cookie' })] })
  await applySource(service, declared)
  const executions = `/admin/realms/${realm}/authentication/flows/ours/executions`
  const [before] = (await call('GET', executions)).body
  await create(`${executions}/execution`, { provider: 'auth-otp-form' })
  expect(await planText(service, declared)).toMatch(
    /authenticationExecutions: {2}corrects a change by admin .*\n *-auth-otp-form/,
  )
  await applySource(service, declared)
  expect((await call('GET', executions)).body).toEqual([before])
})

test('masked settings of an authenticator keep their live values', async () => {
  const config = (value: string) => [{ alias: 'phone settings', config: { key: value, digits: '6' } }]
  await applySource(service, toRealmSource({ authenticatorConfig: config('k1') }))
  const masked = toRealmSource({ authenticatorConfig: config('**********') })
  expect(await planText(service, masked)).toMatch(/config.key is masked; the live value is retained/)
  await applySource(service, masked)
  expect((await getLive('authenticatorConfig', 'phone settings')).representation.config).toEqual({
    digits: '6',
    key: 'k1',
  })
})

test('the error of an apply names the failed object, also if a flow is declared before its subflow', async () => {
  const declared = toRealmSource({
    authenticationFlows: [flow('whole', { flowAlias: 'part', authenticatorFlow: true }), flow('part')],
    clients: [{ clientId: 'shop', rootUrl: 'nonsense' }],
  })
  await expect(applySource(service, declared)).rejects.toMatchObject({
    action: { kind: 'client', key: ['shop'] },
    message: 'Root URL is not a valid URL',
  })
})

test('a step without an authenticator and without a subflow is refused', async () => {
  const declared = toRealmSource({ authenticationFlows: [flow('ours', { requirement: 'REQUIRED' })] })
  const message = 'Authentication flow "ours": a step has neither an authenticator nor a flowAlias'
  await expect(applySource(service, declared)).rejects.toThrow(message)
})
