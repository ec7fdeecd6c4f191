// Malformed and hostile requests: each is refused before it costs much, and no error reveals details of the database.
import { expect, test } from 'vitest'
import { errorResponse } from '../../src/http/errors.ts'
import { createServer } from '../../src/http/server.ts'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { testServer } from '../support/server.ts'
import { newName, newRealm, testService } from '../support/service.ts'

const { app, call, create, createRealm } = await testServer()
const { service } = await testService()
const path = await createRealm()
const name = path.split('/').at(-1)!
const tokenPath = `/realms/${name}/protocol/openid-connect/token`
const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' }

test('a body of 100,000 unknown fields is refused at its first field', async () => {
  const fields = Array.from({ length: 100_000 }, (_, index) => `"field-${index}":[{"a":"${index}"}]`)
  const { body } = await call('POST', `${path}/clients`, { body: `{"clientId":"x",${fields.join()}}` })
  expect(body.error).toContain('Unrecognized field "field-0"')
  const list = `{"protocolMappers":[${fields.map((field) => `{${field}}`).join()}]}`
  expect((await call('POST', `${path}/clients`, { body: list })).body.error).toContain('Unrecognized field "field-0"')
})

test('a caller without permissions gets 403 before the body is parsed', async () => {
  const profile = { email: 'nobody@example.org', firstName: 'No', lastName: 'Body' }
  const representation = { ...profile, username: 'nobody', enabled: true, credentials: [await hashPassword('pw')] }
  await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
  const login = { grant_type: 'password', client_id: 'admin-cli', username: 'nobody', password: 'pw' }
  const token = (
    await call('POST', tokenPath, { token: null, headers: formHeaders, body: new URLSearchParams(login).toString() })
  ).body.access_token
  for (const address of ['/regent/v1/plan', '/regent/v1/apply', '/admin/realms', `${path}/clients`]) {
    expect(await call('POST', address, { token, body: '{' })).toMatchObject({ status: 403 })
  }
})

test('a form of 70 KB returns 413', async () => {
  for (const type of [formHeaders['content-type'], 'application/octet-stream']) {
    const body = `grant_type=password&username=${'x'.repeat(70_000)}`
    expect((await call('POST', tokenPath, { token: null, headers: { 'content-type': type }, body })).status).toBe(413)
  }
})

test('NUL and lone surrogates are refused in every part of a request', async () => {
  const badRequest = { status: 400 }
  const forged = `${base64({ alg: 'RS256', kid: 'x' })}.${base64({ iss: 'http://x/realms/%00' })}.x`
  expect(await call('GET', `/admin/realms/%00`)).toMatchObject(badRequest)
  expect(await call('GET', `${path}/clients/a%00b`)).toMatchObject(badRequest)
  expect(await call('GET', `${path}/clients?clientId=%00`)).toMatchObject(badRequest)
  expect(await call('GET', `/realms/%00`, { token: null })).toMatchObject(badRequest)
  expect(
    await call('POST', tokenPath, { token: null, headers: formHeaders, body: 'grant_type=password&client_id=%00' }),
  ).toMatchObject(badRequest)
  const basic = { authorization: `Basic ${Buffer.from('a\0b:c').toString('base64')}` }
  expect(
    await call('POST', tokenPath, { token: null, headers: { ...formHeaders, ...basic }, body: 'grant_type=password' }),
  ).toMatchObject({ status: 401 })
  expect(await call('GET', path, { token: forged })).toMatchObject({ status: 401 })
  for (const text of ['\\u0000', '\\ud800', 'x\\uDFFF']) {
    for (const body of [
      `{"clientId":"${text}"}`,
      `{"clientId":"x","id":"${text}"}`,
      `{"clientId":"x","attributes":{"${text}":"x"}}`,
      `{"clientId":"x","attributes":{"x":"${text}"}}`,
      `{"clientId":"x","protocolMappers":[{"name":"x","config":{"${text}":"y"}}]}`,
    ]) {
      expect(await call('POST', `${path}/clients`, { body }), body).toMatchObject(badRequest)
    }
    expect(await call('POST', '/admin/realms', { body: `{"realm":"${text}"}` })).toMatchObject(badRequest)
    expect(
      await call('POST', '/regent/v1/plan', { body: `{"name":"x","revision":"${text}","files":[]}` }),
    ).toMatchObject(badRequest)
  }
  const pair = await call('POST', `${path}/clients`, { body: '{"clientId":"pair","name":"\\ud83d\\ude00"}' })
  expect(pair.status).toBe(201)
})

test('an unexpected error returns a log id instead of its message', () => {
  const action = { operation: 'create', kind: 'client', key: ['web'], changes: [] } as const
  const database = new Error('duplicate key value violates unique constraint "client_pkey"')
  const { status, body, fault } = errorResponse(new ActionError(action, database), 'log-id')
  expect({ status, fault }).toEqual({ status: 500, fault: true })
  expect(JSON.stringify(body)).toContain('log-id')
  expect(JSON.stringify(body)).not.toContain('duplicate key')
  expect(errorResponse(Object.assign(database, { statusCode: 400 }), 'log-id').status).toBe(500)
})

test('the start page lists realms only with the option showRealms', async () => {
  const realm = await newRealm(service)
  expect((await app.inject({ url: '/' })).body).not.toContain(realm)
  const listingServer = await createServer(service, { showRealms: true })
  expect((await listingServer.inject({ url: '/' })).body).toContain(realm)
  await listingServer.close()
})

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

test('a source in a request needs neither a revision nor values of variables', async () => {
  const realm = newName()
  const files = [{ file: 'a.yaml', text: `realm: ${realm}\nenabled: true\n` }]
  const { status, body } = await call('POST', '/regent/v1/apply', { body: { name: realm, files } })
  expect([status, body.realms.length]).toEqual([200, 1])
  expect((await call('GET', `/admin/realms/${realm}`)).body.enabled).toBe(true)
  expect(body.sources).toMatchObject([{ name: realm, revision: expect.stringMatching(/^sha256:[0-9a-f]{12}$/) }])
  expect((await call('POST', '/regent/v1/plan', { body: { files } })).status).toBe(400)
})

test.each(['/admin/realms//master', '/admin//realms', '/realms//master'])(
  'the path %s, which is not normalized, returns 400',
  async (url) => {
    const { statusCode, body } = await app.inject({ method: 'GET', url })
    expect(statusCode).toBe(400)
    expect(JSON.parse(body)).toEqual({
      error: 'missingNormalization',
      error_description: 'Request path not normalized',
    })
  },
)

test('blank texts count as null where a number or a boolean is expected', async () => {
  const path = await createRealm({ eventsEnabled: true, eventsExpiration: 60 })
  const blank = { eventsEnabled: '', eventsExpiration: ' ', adminEventsEnabled: '' }
  expect((await call('PUT', `${path}/events/config`, { body: blank })).status).toBe(204)
  const { body } = await call('GET', `${path}/events/config`)
  expect(body).toMatchObject({ eventsEnabled: false, adminEventsEnabled: false })
  expect(body.eventsExpiration).toBeUndefined()
})

test.each([true, 'True', 'TRUE', ' true ', 1, 5])('%j in a body is a boolean that is true', async (value) => {
  const client = await create(`${await createRealm()}/clients`, { clientId: 'shop', publicClient: value })
  expect((await call('GET', client)).body.publicClient).toBe(true)
  await call('PUT', client, { body: { publicClient: typeof value === 'number' ? 0 : 'False' } })
  expect((await call('GET', client)).body.publicClient).toBe(false)
})

test('an empty text counts as absent where a query has a boolean', async () => {
  const path = await createRealm()
  await create(`${path}/groups`, { name: 'staff', attributes: { color: ['red'] } })
  expect((await call('GET', `${path}/groups?briefRepresentation=`)).body[0].attributes).toBeUndefined()
  expect((await call('GET', `${path}/groups?briefRepresentation=0`)).body[0].attributes).toEqual({ color: ['red'] })
})

test('a byte order mark before the JSON of a body is ignored', async () => {
  const clients = `${await createRealm()}/clients`
  expect((await call('POST', clients, { body: '\ufeff{"clientId":"shop"}' })).status).toBe(201)
})
