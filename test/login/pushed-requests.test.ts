// Pushed authorization requests. RFC 9126.
import { expect, test } from 'vitest'
import { APPLICATION, testBrowser } from '../support/browser.ts'
import { openProtectedServers } from '../support/protected-realm.ts'

const { app, createRealm, pass } = await openProtectedServers()

const PAR = 'ext/par/request'
const required = { 'require.pushed.authorization.requests': 'true' }
const credentials = { client_id: 'server', client_secret: 'secret' }
const request = { response_type: 'code', redirect_uri: APPLICATION, scope: 'openid', state: 'pushed' }

test('a client that must push its requests logs in only with the address of a pushed request', async () => {
  const realm = await createRealm(required)
  const direct = await realm.open({ client_id: 'server', ...request })
  expect(Object.fromEntries(direct.response!)).toMatchObject({
    error: 'invalid_request',
    error_description: 'Pushed Authorization Request is only allowed.',
    state: 'pushed',
  })
  const pushed = await realm.post(PAR, { ...credentials, ...request })
  expect(pushed).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' }, body: { expires_in: 60 } })
  const { request_uri } = pushed.body
  expect(request_uri).toMatch(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/)
  // Only the pushed parameters count.
  const { response } = await realm.logIn({
    client_id: 'server',
    request_uri,
    state: 'other',
    redirect_uri: 'http://x/',
  })
  expect(response?.get('state')).toBe('pushed')
  const tokens = await realm.post('token', {
    ...credentials,
    grant_type: 'authorization_code',
    code: response!.get('code')!,
    redirect_uri: APPLICATION,
  })
  expect(tokens).toMatchObject({ status: 200, body: { token_type: 'Bearer' } })
})

test('a pushed request is used once, by its client, on every server, and until it expires', async () => {
  const realm = await createRealm({}, { settings: { attributes: { parRequestUriLifespan: '90' } } })
  const push = async () => {
    const { body } = await realm.post(PAR, { ...credentials, ...request })
    expect(body.expires_in).toBe(90)
    return { client_id: 'server', request_uri: body.request_uri }
  }
  const pushed = await push()
  expect((await realm.open({ ...pushed, client_id: 'web' })).status).toBe(400)
  expect((await realm.open(pushed)).status).toBe(200)
  expect((await realm.open(pushed, { isOther: true })).status).toBe(400)
  expect((await realm.open(pushed)).status).toBe(400)
  const [early, late] = [await push(), await push()]
  pass(85)
  expect((await realm.open(early)).status).toBe(200)
  pass(6)
  expect((await realm.open(late)).status).toBe(400)
})

test('the page of a pushed request can be loaded again, and an expired login starts again', async () => {
  const realm = await createRealm(required, { settings: { accessCodeLifespanLogin: 300 } })
  const { body } = await realm.post(PAR, { ...credentials, ...request })
  const browser = testBrowser(app)
  const parameters = new URLSearchParams({ client_id: 'server', request_uri: body.request_uri })
  const page = await browser.open(`${realm.protocol}/auth?${parameters}`)
  expect((await browser.open(page.url)).status).toBe(200)
  pass(400)
  const again = await browser.send(page, { username: 'ann', password: 'pw' })
  const { response } = await browser.send(again, { username: 'ann', password: 'pw' })
  expect(response?.get('state')).toBe('pushed')
})

test.each([
  [{ client_secret: 'wrong' }, 401, 'unauthorized_client', 'Invalid client or Invalid client credentials'],
  [{ request_uri: 'urn:x' }, 400, 'invalid_request', 'It is not allowed to include request_uri to PAR.'],
  [{ redirect_uri: 'http://x.example/' }, 400, 'invalid_request', 'Invalid parameter: redirect_uri'],
  [{ response_mode: 'nope' }, 400, 'invalid_request', 'Invalid parameter: response_mode'],
  [{ scope: 'nope' }, 400, 'invalid_request', 'Invalid scopes: nope'],
  [{ code_challenge: 'short' }, 400, 'invalid_request', 'Invalid parameter: code_challenge'],
  [{ response_type: 'x' }, 400, 'invalid_request', 'unsupported_response_type'],
  [{ response_type: 'token' }, 401, 'unauthorized_client', /Implicit flow is disabled for the client/],
])('a pushed request with %j is refused', async (parameters, status, error, description) => {
  const realm = await createRealm()
  const refused = await realm.post(PAR, { ...credentials, ...request, ...parameters })
  expect(refused).toMatchObject({ status, body: { error } })
  expect(refused.body.error_description).toMatch(description)
})

test('a public client pushes requests, too, and discovery names the endpoint', async () => {
  const realm = await createRealm()
  expect((await realm.post(PAR, { client_id: 'web', ...request })).status).toBe(201)
  expect((await realm.get(PAR)).status).toBe(405)
  const { body } = await realm.get('../../.well-known/openid-configuration')
  expect(body.pushed_authorization_request_endpoint).toBe(`${realm.protocol}/${PAR}`)
})
