// No apply takes the access of whoever applies it, unless they say that they mean it.
import { expect, test } from 'vitest'
import { sourceText } from '../support/plans.ts'
import { administeredRealm } from '../support/realm-with-boss.ts'
import { testServer } from '../support/server.ts'

const { call } = await testServer()

test.each<[string, object]>([
  ['the caller disabled', { users: [{ username: 'boss', enabled: false }] }],
  [
    'clients without full scope',
    { clients: ['admin-cli', 'security-admin-console'].map((clientId) => ({ clientId, fullScopeAllowed: false })) },
  ],
  ['the realm disabled', { enabled: false }],
  [
    'flows that ask for no password',
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
  ['tokens that are expired', { accessTokenLifespan: 0 }],
  ['a client with a secret', { clients: [{ clientId: 'admin-cli', publicClient: false, secret: 'x' }] }],
])('an apply with %s by an administrator of the realm is refused, unless it is meant', async (_, content) => {
  const own = await administeredRealm({})
  const declared = (more: object) => sourceText([{ realm: own.name, ...more }], `source-of-${own.name}`)
  const apply = async (more: object, headers = {}) =>
    call('POST', '/regent/v1/apply', { token: await own.token('boss'), body: declared(more), headers })
  expect((await apply({ displayName: 'Ours' })).status).toBe(200)
  const answer = await apply(content)
  expect([answer.status, answer.body.errorMessage ?? answer.body.error_description]).toEqual([
    400,
    expect.stringContaining('This would lock you out'),
  ])
  // Who administers from elsewhere keeps their access.
  expect((await call('POST', '/regent/v1/plan', { body: declared(content) })).status).toBe(200)
  expect((await apply(content, { 'Regent-Allow-Lock-Out': 'true' })).status).toBe(200)
})

test('an administrator of a realm may still delete it', async () => {
  const own = await administeredRealm({})
  const body = (documents: object[]) => sourceText(documents, `source-of-${own.name}`)
  const apply = async (documents: object[]) =>
    call('POST', '/regent/v1/apply', { token: await own.token('boss'), body: body(documents) })
  expect((await apply([{ realm: own.name }])).status).toBe(200)
  const { status, body: outcome } = await apply([])
  expect([status, outcome.realms[0].pendingApproval.guards[0].guard]).toEqual([200, 'deletesRealm'])
})

test('an apply that leaves the caller another client than the one of their token is refused, unless it is meant', async () => {
  const own = await administeredRealm({})
  const other = { clientId: 'other', publicClient: true, directAccessGrantsEnabled: true }
  await own.as('boss', 'POST', 'clients', other)
  const body = sourceText(
    [{ realm: own.name, clients: [{ clientId: 'admin-cli', fullScopeAllowed: false }] }],
    `source-of-${own.name}`,
  )
  const answer = await call('POST', '/regent/v1/apply', { token: await own.token('boss'), body })
  expect([answer.status, answer.body.errorMessage]).toEqual([400, expect.stringContaining('by the client admin-cli')])
  // Who logs in by the other client keeps their access.
  const form = new URLSearchParams({ grant_type: 'password', client_id: 'other', username: 'boss', password: 'pw' })
  const granted = await call('POST', `/realms/${own.name}/protocol/openid-connect/token`, {
    token: null,
    body: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect((await call('POST', '/regent/v1/apply', { token: granted.body.access_token, body })).status).toBe(200)
})
