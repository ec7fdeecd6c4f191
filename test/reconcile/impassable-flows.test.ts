// A plan that binds a flow that nobody can pass needs an approval.
import { beforeEach, expect, test } from 'vitest'
import { createPlanClient } from '../support/plan-client.ts'
import { type TestServer, testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const server: TestServer = await testServer()
const { call } = server
let realm: string
let regent: ReturnType<typeof createPlanClient>

beforeEach(() => {
  realm = newName()
  regent = createPlanClient(server, `source-of-${realm}`)
})

const required = (...authenticators: string[]) =>
  authenticators.map((authenticator) => ({ authenticator, requirement: 'REQUIRED' }))
const flow = (authenticationExecutions: object[], alias = 'own') => ({
  alias,
  providerId: 'basic-flow',
  topLevel: true,
  authenticationExecutions,
})
const withPasskey = flow(required('auth-username-password-form', 'webauthn-authenticator'))
const withPassword = flow(required('auth-username-password-form'))
const path = () => `/admin/realms/${realm}`

test('a plan that binds a browser flow with a required unsupported step is applied after an approval only', async () => {
  await regent.apply({ realm })
  const declared = { realm, browserFlow: 'own', authenticationFlows: [withPasskey] }
  const guards = [
    {
      guard: 'impassableFlow',
      message: `binds the flow own, which nobody can pass: Regent does not have webauthn-authenticator (source-of-${realm}.yaml:10:9), so no user can log in in a browser. Disable this step or bind another flow instead of approving this`,
      objects: ['own'],
    },
  ]
  expect((await regent.plan(declared)).body.realms[0].guards).toEqual(guards)
  const { pendingApproval } = (await regent.apply(declared)).realms[0]
  expect(pendingApproval.guards).toEqual(guards)
  expect((await call('GET', path())).body.browserFlow).toBe('browser')

  const { body } = await regent.approve(pendingApproval.plan)
  expect(body.plan).toMatchObject({ state: 'applied' })
  expect((await call('GET', path())).body.browserFlow).toBe('own')
  const again = (await regent.apply({ ...declared, displayName: 'Acme' })).realms[0]
  expect([again.pendingApproval, again.guards]).toEqual([undefined, undefined])
})

const getGuards = async (...declared: object[]) => (await regent.plan(...declared)).body.realms[0].guards ?? []
const getMessages = async (...declared: object[]) =>
  (await getGuards(...declared)).map(({ message }: { message: string }) => message)

test.each([
  ['directGrantFlow', 'no user can log in by a direct access grant'],
  ['registrationFlow', 'no user can register'],
  ['resetCredentialsFlow', 'no user can reset a forgotten password'],
])('a plan that binds a flow that nobody can pass as %s needs an approval', async (field, effect) => {
  await regent.apply({ realm, authenticationFlows: [withPasskey] })
  expect(await getMessages({ realm, authenticationFlows: [withPasskey], [field]: 'own' })).toEqual([
    expect.stringContaining(`, so ${effect}. `),
  ])
})

test('a plan that binds a client authentication flow without a supported authenticator needs an approval', async () => {
  const clientFlow = {
    ...flow([{ authenticator: 'attest-jwt', requirement: 'ALTERNATIVE' }]),
    providerId: 'client-flow',
  }
  expect(await getMessages({ realm, clientAuthenticationFlow: 'own', authenticationFlows: [clientFlow] })).toEqual([
    expect.stringContaining('attest-jwt'),
  ])
})

test('a plan with flows of clients that nobody can pass names the clients', async () => {
  const client = (clientId: string, overrides: object) => ({ clientId, authenticationFlowBindingOverrides: overrides })
  const clients = [client('a', { browser: 'own' }), client('b', { direct_grant: 'own' })]
  const created = { realm, clients, authenticationFlows: [withPasskey] }
  expect(await getGuards(created)).toEqual([])
  await regent.apply({ realm, clients: [client('a', {}), client('b', {})] })
  expect(await getMessages(created)).toEqual([
    expect.stringContaining(
      ', so no user can log in to client a in a browser, no user can log in to client b by a direct access grant. ',
    ),
  ])
})

test('a new realm with a browser flow that nobody can pass is created after an approval only', async () => {
  const declared = { realm, browserFlow: 'own', authenticationFlows: [withPasskey] }
  const { pendingApproval } = (await regent.apply(declared)).realms[0]
  expect(pendingApproval.guards).toMatchObject([{ guard: 'impassableFlow' }])
  expect((await call('GET', path())).status).toBe(404)
  await regent.approve(pendingApproval.plan)
  expect((await call('GET', path())).body.browserFlow).toBe('own')
})

test('a new realm with flows for registrations and resets of passwords that nobody can pass needs no approval', async () => {
  const declared = { realm, registrationFlow: 'own', resetCredentialsFlow: 'own', authenticationFlows: [withPasskey] }
  expect(await getGuards(declared)).toEqual([])
})

test('a plan that adds an unsupported step to a subflow of a bound flow needs an approval, also with new names', async () => {
  const subflow = { flowAlias: 'code', requirement: 'REQUIRED' }
  const code = (alias: string, ...authenticators: string[]) => ({
    ...flow(required(...authenticators), alias),
    topLevel: false,
  })
  const parent = flow([...required('auth-username-password-form'), subflow])
  await regent.apply({ realm, browserFlow: 'own', authenticationFlows: [parent, code('code', 'auth-otp-form')] })
  const declare = (...authenticators: string[]) => ({
    realm,
    browserFlow: 'ours',
    authenticationFlows: [
      {
        ...flow([...required('auth-username-password-form'), { ...subflow, flowAlias: 'key' }], 'ours'),
        renamedFrom: 'own',
      },
      { ...code('key', ...authenticators), renamedFrom: 'code' },
    ],
  })
  expect(await getGuards(declare('auth-otp-form'))).toEqual([])
  expect(await getMessages(declare('webauthn-authenticator'))).toEqual([
    expect.stringContaining('does not have webauthn-authenticator in its subflow key'),
  ])
})

test('a plan with a flow that nobody can pass needs no approval if it is not bound, or if its bound steps can be passed', async () => {
  await regent.apply({ realm })
  expect(await getGuards({ realm, authenticationFlows: [withPasskey] })).toEqual([])
  const disabled = flow([
    ...required('auth-username-password-form'),
    { authenticator: 'auth-spnego', requirement: 'DISABLED' },
  ])
  expect(await getGuards({ realm, browserFlow: 'own', authenticationFlows: [disabled] })).toEqual([])
})

/** Creates the flow `own` by REST, with one step. */
async function createFlow(provider: string): Promise<void> {
  const { authenticationExecutions: _, ...empty } = withPassword
  await call('POST', `${path()}/authentication/flows`, { body: { ...empty, builtIn: false } })
  await call('POST', `${path()}/authentication/flows/own/executions/execution`, { body: { provider } })
}

/** Makes the step of the flow `own` required. */
async function requireStep() {
  const [step] = (await call('GET', `${path()}/authentication/flows/own/executions`)).body
  const body = { ...step, requirement: 'REQUIRED' }
  return call('PUT', `${path()}/authentication/flows/own/executions`, { body })
}

test('a plan that binds an undeclared flow names the field, once an administrator has made the flow impassable', async () => {
  const declared = { realm, browserFlow: 'own' }
  await regent.apply({ realm })
  await createFlow('webauthn-authenticator')
  const { saved } = await regent.save(declared)
  await requireStep()
  expect(await getMessages(declared)).toEqual([
    expect.stringContaining(`does not have webauthn-authenticator (source-of-${realm}.yaml:2:1), so`),
  ])
  expect((await regent.applySaved(saved.id)).status).toBe(409)
  expect((await call('GET', path())).body.browserFlow).toBe('browser')
})

test('by REST, a flow that nobody can pass is accepted with a warning; a plan that changes another flow needs no approval', async () => {
  await regent.apply({ realm })
  await createFlow('webauthn-authenticator')
  expect((await call('PUT', path(), { body: { browserFlow: 'own' } })).status).toBe(204)
  const { status, headers } = await requireStep()
  expect([status, headers['regent-not-enforced']]).toEqual([204, expect.stringContaining('webauthn-authenticator')])
  expect(await getGuards({ realm, authenticationFlows: [flow(required('auth-cookie'), 'other')] })).toEqual([])
})
