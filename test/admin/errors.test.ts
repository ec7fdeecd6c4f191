// Requests that no operation accepts, and properties of all responses.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { app, call, create, createRealm } = await testServer()
const path = await createRealm()

test.each([
  ['{"colour":1}', 'line 1 column 12'],
  ['{"colour":1,"redirectUris":"x"}', 'line 1 column 12'],
  ['{"redirectUris":"x","colour":123}', 'line 1 column 33'],
  ['{\n  "name": "colour",\n  "colour": "red"\n}', 'line 3 column 14'],
  ['{"attributes":{"colour":"\\"x"},"colour":true}', 'line 1 column 45'],
  ['{"redirectUris":["{"],"colour":null}', 'line 1 column 36'],
  ['{"colour":{"a":1}}', 'line 1 column 12'],
])('the message names the unknown field of %s and its position, as in Keycloak', async (body, position) => {
  expect(await call('POST', `${path}/clients`, { body })).toMatchObject({
    status: 400,
    body: {
      error: `Invalid json representation for ClientRepresentation. Unrecognized field "colour" at ${position}.`,
    },
  })
})

test('the message names an unknown nested field and its representation', async () => {
  const response = await call('POST', `${path}/clients`, { body: '{"protocolMappers":[{"name":"x","colour":"r"}]}' })
  expect(response.body.error).toBe(
    'Invalid json representation for ProtocolMapperRepresentation. Unrecognized field "colour" at line 1 column 43.',
  )
})

test('invalid JSON and JSON of the wrong type have different messages', async () => {
  const getError = async (body: string) => (await call('POST', `${path}/clients`, { body })).body.error
  expect(await getError('{"clientId":"a",}')).toBe('invalid_request')
  expect(await getError('')).toBe('invalid_request')
  expect(await getError('[]')).toBe('unknown_error')
  expect(await getError('"x"')).toBe('unknown_error')
  expect(await getError('{"name":{}}')).toBe('unknown_error')
  expect(await getError('{"name":"\\u0000"}')).toBe('unknown_error')
})

test.each([
  ['PUT', 'clients/nowhere', 'Could not find client'],
  ['POST', 'clients/nowhere/roles', 'Could not find client'],
  ['PUT', 'clients/nowhere/roles/reader', 'Could not find client'],
  ['PUT', 'clients/nowhere/protocol-mappers/models/x', 'Could not find client'],
  ['POST', 'clients/nowhere/protocol-mappers/add-models', 'Could not find client'],
  ['PUT', 'client-scopes/nowhere', 'Could not find client scope'],
  ['POST', 'client-scopes/nowhere/protocol-mappers/models', 'Could not find client scope'],
  ['PUT', '../nowhere', 'Realm not found.'],
  ['POST', '../nowhere/clients', 'Realm not found.'],
])('%s %s returns 404 before the body is read', async (method, address, error) => {
  const url = new URL(`${path}/${address}`, 'http://localhost').pathname
  for (const body of ['{', '{"nowhere":1}', '[1]']) {
    expect(await call(method, url, { body })).toMatchObject({ status: 404, body: { error } })
  }
  const headers = { 'content-type': 'text/plain' }
  expect(await call(method, url, { body: '{}', headers })).toMatchObject({ status: 404, body: { error } })
})

test('an invalid body returns 400 if only the last object in the URL does not exist', async () => {
  const client = await create(`${path}/clients`, { clientId: 'shop' })
  for (const address of [`${path}/roles/x`, `${path}/roles-by-id/x`, `${client}/protocol-mappers/models/x`]) {
    expect(await call('PUT', address, { body: '{' })).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  }
})

test('numbers and booleans may be strings, and strings may be numbers', async () => {
  const client = await create(`${path}/clients`, { name: 5, enabled: 'true', notBefore: '7' })
  expect((await call('GET', client)).body).toMatchObject({ name: '5', enabled: true, notBefore: 7 })
})

test('the content type must be JSON, and may have a charset', async () => {
  const send = (contentType: string) =>
    call('POST', `${path}/client-scopes`, {
      body: { name: `x${Math.random()}`, protocol: 'saml' },
      headers: { 'content-type': contentType },
    })
  expect((await send('application/json;charset=UTF-8')).status).toBe(201)
  expect(await send('text/plain')).toMatchObject({
    status: 415,
    body: { error: 'The content-type header value did not match the value in @Consumes' },
  })
})

test('a trailing slash and an unexpected body are ignored', async () => {
  const scope = await create(`${path}/client-scopes/`, { name: 'orders', protocol: 'saml' })
  expect(scope).not.toContain('//')
  expect((await call('GET', `${scope}/`)).status).toBe(200)
  expect((await call('DELETE', scope, { body: [{ id: 'x' }] })).status).toBe(204)
  const other = await create(`${path}/client-scopes`, { name: 'orders', protocol: 'saml' })
  expect((await call('DELETE', other, { body: {} })).status).toBe(204)
})

test('HEAD returns the status of GET without a body', async () => {
  const response = await call('HEAD', path)
  expect(response).toMatchObject({ status: 200, body: undefined })
})

test('a request without a token returns 401', async () => {
  const unauthorized = { status: 401, body: { error: 'HTTP 401 Unauthorized' } }
  for (const address of [path, '/admin/realms/nowhere', '/admin/realms', `${path}/users`]) {
    expect(await call('GET', address, { token: null })).toMatchObject(unauthorized)
    expect(await call('GET', address, { token: 'not-a-token' })).toMatchObject(unauthorized)
  }
  expect(await call('POST', `${path}/clients`, { token: null, body: '{' })).toMatchObject(unauthorized)
})

test('an unknown path returns 404, and an unknown method 405', async () => {
  expect(await call('GET', `${path}/nothing`)).toMatchObject({ status: 404, body: { error: 'HTTP 404 Not Found' } })
  expect(await call('PATCH', `${path}/clients`)).toMatchObject({
    status: 405,
    body: { error: 'HTTP 405 Method Not Allowed' },
  })
  expect(await call('GET', '/admin/realms/nowhere/clients')).toMatchObject({
    status: 404,
    body: { error: 'Realm not found.' },
  })
})

test('every response has the security headers', async () => {
  for (const address of [path, '/', '/admin/realms/nowhere']) {
    expect((await call('GET', address)).headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
    })
  }
})

test('the server has health endpoints and a home page', async () => {
  expect((await call('GET', '/health/live', { token: null })).body).toEqual({ status: 'UP' })
  expect((await call('GET', '/health/ready', { token: null })).body).toEqual({ status: 'UP' })
  const page = await app.inject({ url: '/' })
  expect(page.body).toContain('Regent')
  expect(page.body).not.toMatch(/(src|href)="https?:/)
})

test('first and max are 32-bit integers, and an empty value is the same as absent', async () => {
  const getStatus = async (query: string) => (await call('GET', `${path}/users?${query}`)).status
  expect(await getStatus('first=0&max=2147483647')).toBe(200)
  expect(await getStatus('first=2147483647&max=2147483647')).toBe(200)
  expect(await getStatus('first=-2147483648&max=')).toBe(200)
  expect(await getStatus('max=2147483648')).toBe(404)
  expect(await getStatus('first=ten')).toBe(404)
})
