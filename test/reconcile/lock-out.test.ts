// An apply that would lock out its caller is refused, unless the caller allows it.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { logInWithPassword } from '../support/password-login.ts'
import { toSourceBody } from '../support/plan-client.ts'
import { testServer } from '../support/server.ts'

const { call } = await testServer()

test.each<[string, object]>([
  ['the caller disabled', { users: [{ username: 'admin', enabled: false }] }],
  [
    'clients without full scope',
    { clients: ['admin-cli', 'security-admin-console'].map((clientId) => ({ clientId, fullScopeAllowed: false })) },
  ],
  ['the realm disabled', { enabled: false }],
  [
    'flows without a password step',
    {
      browserFlow: 'mine',
      directGrantFlow: 'mine',
      authenticationFlows: [
        {
          alias: 'mine',
          topLevel: true,
          builtIn: false,
          authenticationExecutions: [{ authenticator: 'auth-cookie', requirement: 'ALTERNATIVE' }],
        },
      ],
    },
  ],
  ['HTTPS, which the caller does not have', { sslRequired: 'all' }],
  ['an access token lifespan of 0', { accessTokenLifespan: 0 }],
  ['a client with a secret', { clients: [{ clientId: 'admin-cli', publicClient: false, secret: 'x' }] }],
])('an apply with %s by a realm administrator is refused, unless the lock-out is allowed', async (_, content) => {
  const administered = await createAdminRealm({})
  const toBody = (more: object) =>
    toSourceBody([{ realm: administered.name, ...more }], `source-of-${administered.name}`)
  const apply = async (more: object, headers = {}) =>
    call('POST', '/regent/v1/apply', { token: await administered.token('admin'), body: toBody(more), headers })
  expect((await apply({ displayName: 'Ours' })).status).toBe(200)
  const refusal = await apply(content)
  expect([refusal.status, refusal.body.errorMessage ?? refusal.body.error_description]).toEqual([
    400,
    expect.stringContaining('This would lock you out'),
  ])
  // An administrator of the master realm is not locked out.
  expect((await call('POST', '/regent/v1/plan', { body: toBody(content) })).status).toBe(200)
  expect((await apply(content, { 'Regent-Allow-Lock-Out': 'true' })).status).toBe(200)
})

test('a rollback by a realm administrator to settings that lock them out is refused, unless the lock-out is allowed', async () => {
  const { name, token } = await createAdminRealm({})
  const put = (accessTokenLifespan: number) => call('PUT', `/admin/realms/${name}`, { body: { accessTokenLifespan } })
  expect((await put(0)).status).toBe(204)
  const { body: revisions } = await call('GET', `/regent/v1/history/${name}?max=1`)
  expect((await put(300)).status).toBe(204)
  const rollBack = async (headers = {}) =>
    call('POST', `/regent/v1/rollback/${name}`, {
      token: await token('admin'),
      body: { revision: revisions[0].number },
      headers,
    })
  const refusal = await rollBack()
  expect([refusal.status, refusal.body.errorMessage ?? refusal.body.error_description]).toEqual([
    400,
    expect.stringContaining('This would lock you out'),
  ])
  expect((await rollBack({ 'Regent-Allow-Lock-Out': 'true' })).status).toBe(200)
})

test('a realm administrator may delete the realm', async () => {
  const administered = await createAdminRealm({})
  const toBody = (documents: object[]) => toSourceBody(documents, `source-of-${administered.name}`)
  const apply = async (documents: object[]) =>
    call('POST', '/regent/v1/apply', { token: await administered.token('admin'), body: toBody(documents) })
  expect((await apply([{ realm: administered.name }])).status).toBe(200)
  const { status, body: outcome } = await apply([])
  expect([status, outcome.realms[0].pendingApproval.guards[0].guard]).toEqual([200, 'deletesRealm'])
})

test('an apply that locks out the client of the caller’s token is refused, even if the caller can log in with another client', async () => {
  const administered = await createAdminRealm({})
  const other = { clientId: 'other', publicClient: true, directAccessGrantsEnabled: true }
  await administered.as('admin', 'POST', 'clients', other)
  const body = toSourceBody(
    [{ realm: administered.name, clients: [{ clientId: 'admin-cli', fullScopeAllowed: false }] }],
    `source-of-${administered.name}`,
  )
  const refusal = await call('POST', '/regent/v1/apply', { token: await administered.token('admin'), body })
  expect([refusal.status, refusal.body.errorMessage]).toEqual([
    400,
    expect.stringContaining('through the client admin-cli'),
  ])
  // A caller who logged in with the other client is not locked out.
  const login = await logInWithPassword(administered.name, { clientId: 'other', username: 'admin', password: 'pw' })
  expect((await call('POST', '/regent/v1/apply', { token: login.body.access_token, body })).status).toBe(200)
})
