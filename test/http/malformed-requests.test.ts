// Requests that nobody in their senses sends: each is refused before it costs much, and without a word of the database.
import { expect, test } from 'vitest'
import { errorResponse } from '../../src/http/errors.ts'
import { createServer } from '../../src/http/server.ts'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { testServer } from '../support/server.ts'
import { newRealm, testService } from '../support/service.ts'

const { app, call, realm } = await testServer()
const { service } = await testService()
const path = await realm()
const name = path.split('/').at(-1)!
const tokenPath = `/realms/${name}/protocol/openid-connect/token`
const form = { 'content-type': 'application/x-www-form-urlencoded' }

test('a body of very many unknown fields is refused as fast as one of few', async () => {
  const fields = Array.from({ length: 100_000 }, (_, at) => `"field-${at}":[{"a":"${at}"}]`)
  const { body } = await call('POST', `${path}/clients`, { body: `{"clientId":"x",${fields.join()}}` })
  expect(body.error).toContain('Unrecognized field "field-0"')
  const list = `{"protocolMappers":[${fields.map((field) => `{${field}}`).join()}]}`
  expect((await call('POST', `${path}/clients`, { body: list })).body.error).toContain('Unrecognized field "field-0"')
})

test('who may do nothing is refused before their body is looked at', async () => {
  const representation = { username: 'nobody', enabled: true, credentials: [await hashPassword('pw')] }
  await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
  const login = { grant_type: 'password', client_id: 'admin-cli', username: 'nobody', password: 'pw' }
  const token = (
    await call('POST', tokenPath, { token: null, headers: form, body: new URLSearchParams(login).toString() })
  ).body.access_token
  for (const address of ['/regent/v1/plan', '/regent/v1/apply', '/admin/realms', `${path}/clients`]) {
    expect(await call('POST', address, { token, body: '{' })).toMatchObject({ status: 403 })
  }
})

test('a form is read to a small limit only', async () => {
  for (const type of [form['content-type'], 'application/octet-stream']) {
    const body = `grant_type=password&username=${'x'.repeat(70_000)}`
    expect((await call('POST', tokenPath, { token: null, headers: { 'content-type': type }, body })).status).toBe(413)
  }
})

test('what no store can keep is refused wherever it stands', async () => {
  const refused = { status: 400 }
  const forged = `${base64({ alg: 'RS256', kid: 'x' })}.${base64({ iss: 'http://x/realms/%00' })}.x`
  expect(await call('GET', `/admin/realms/%00`)).toMatchObject(refused)
  expect(await call('GET', `${path}/clients/a%00b`)).toMatchObject(refused)
  expect(await call('GET', `${path}/clients?clientId=%00`)).toMatchObject(refused)
  expect(await call('GET', `/realms/%00`, { token: null })).toMatchObject(refused)
  expect(
    await call('POST', tokenPath, { token: null, headers: form, body: 'grant_type=password&client_id=%00' }),
  ).toMatchObject(refused)
  const basic = { authorization: `Basic ${Buffer.from('a\0b:c').toString('base64')}` }
  expect(
    await call('POST', tokenPath, { token: null, headers: { ...form, ...basic }, body: 'grant_type=password' }),
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
      expect(await call('POST', `${path}/clients`, { body }), body).toMatchObject(refused)
    }
    expect(await call('POST', '/admin/realms', { body: `{"realm":"${text}"}` })).toMatchObject(refused)
    expect(
      await call('POST', '/regent/v1/plan', { body: `{"name":"x","revision":"${text}","files":[]}` }),
    ).toMatchObject(refused)
  }
  const pair = await call('POST', `${path}/clients`, { body: '{"clientId":"pair","name":"\\ud83d\\ude00"}' })
  expect(pair.status).toBe(201)
})

test("a failure's text is the caller's only where it was written for callers", () => {
  const action = { operation: 'create', kind: 'client', key: ['web'], changes: [] } as const
  const database = new Error('duplicate key value violates unique constraint "client_pkey"')
  const { status, body, fault } = errorResponse(new ActionError(action, database), 'log-id')
  expect({ status, fault }).toEqual({ status: 500, fault: true })
  expect(JSON.stringify(body)).toContain('log-id')
  expect(JSON.stringify(body)).not.toContain('duplicate key')
  expect(errorResponse(Object.assign(database, { statusCode: 400 }), 'log-id').status).toBe(500)
})

test('the page names realms only where it was told to', async () => {
  const realm = await newRealm(service)
  expect((await app.inject({ url: '/' })).body).not.toContain(realm)
  const shown = await createServer(service, { showRealms: true })
  expect((await shown.inject({ url: '/' })).body).toContain(realm)
  await shown.close()
})

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
