// Cross-origin requests of browsers: the web origins of clients, and preflight requests.
import { expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { app, call, create, createRealm } = await testServer()
const { service } = await testService()

const clients = [
  { clientId: 'plain', redirectUris: ['https://app.example/*'], webOrigins: [] },
  {
    clientId: 'plus',
    rootUrl: 'https://root.example/app',
    redirectUris: ['/cb/*', 'https://app.example/*', 'http://[::1]:3000/cb', 'myapp:/cb'],
    webOrigins: ['+', 'https://extra.example'],
  },
  { clientId: 'own', redirectUris: ['/cb'], webOrigins: ['+'] },
  { clientId: 'any', webOrigins: ['*'] },
]
const path = await createRealm({
  eventsEnabled: true,
  clients: clients.map((client) => ({ publicClient: true, directAccessGrantsEnabled: true, ...client })),
})
const name = path.split('/').at(-1)!
const protocol = `/realms/${name}/protocol/openid-connect`

const post = (url: string, origin: string, form: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url,
    headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
  })
const logIn = (origin: string, client: string) =>
  post(`${protocol}/token`, origin, { grant_type: 'password', client_id: client, username: 'nobody', password: 'x' })

test.each([
  ['plain', 'https://app.example', false],
  ['plus', 'https://app.example', true],
  ['plus', 'https://root.example', true],
  ['plus', 'https://extra.example', true],
  ['plus', 'http://[::1]:3000', true],
  ['plus', 'https://evil.example', false],
  ['plus', 'HTTPS://APP.EXAMPLE', false],
  ['plus', 'null', false],
  ['own', 'http://localhost:80', true],
  ['own', 'http://localhost:81', false],
  ['any', 'https://evil.example', true],
])('client "%s" allows origin %s: %s', async (client, origin, isAllowed) => {
  const response = await logIn(origin, client)
  expect(response.headers['access-control-allow-origin']).toBe(isAllowed ? origin : undefined)
  expect(response.headers['access-control-allow-credentials']).toBe(isAllowed ? 'true' : undefined)
  expect(response.json()).toMatchObject({ error: isAllowed ? 'invalid_grant' : 'Invalid origin' })
  if (isAllowed) expect(response.headers).toMatchObject({ vary: expect.stringContaining('origin') })
})

test('requests from the origin of the server are accepted for every client', async () => {
  expect((await logIn('http://localhost', 'plain')).json()).toMatchObject({ error: 'invalid_grant' })
})

test('a wrong origin is refused before the credentials are checked', async () => {
  await call('DELETE', `${path}/events`)
  await logIn('https://evil.example', 'plus')
  expect((await call('GET', `${path}/events`)).body).toEqual([])
})

test('token, revoke and logout refuse other origins, and introspection sends no CORS headers', async () => {
  for (const endpoint of ['token', 'revoke', 'logout']) {
    const response = await post(`${protocol}/${endpoint}`, 'https://evil.example', {
      client_id: 'plus',
      grant_type: 'refresh_token',
      refresh_token: 'x',
      token: 'x',
    })
    expect([endpoint, response.statusCode, response.json()]).toEqual([endpoint, 403, { error: 'Invalid origin' }])
  }
  const introspection = await post(`${protocol}/token/introspect`, 'https://app.example', { client_id: 'plus' })
  expect(introspection.headers).not.toHaveProperty('access-control-allow-origin')
})

test('the logout page of a session sends no CORS headers to other origins', async () => {
  const browser = testBrowser(app)
  const { logInAddress, name: realm } = await createLoginRealm()
  await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const url = `/realms/${realm}/protocol/openid-connect/logout`
  const headers = { cookie, origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' }
  for (const payload of ['', 'client_id=web', 'id_token_hint=x', 'confirmLogout=true']) {
    const responses = [
      await app.inject({ method: 'POST', url, headers, payload }),
      await app.inject({ url: `${url}?${payload}`, headers }),
    ]
    for (const response of responses) expect(response.headers).not.toHaveProperty('access-control-allow-origin')
  }
  const page = await app.inject({ method: 'POST', url, headers, payload: '' })
  expect(page.body).toContain('Do you want to sign out?')
  const [, action] = /action="([^"]*)"/.exec(page.body)!
  const confirmed = await app.inject({ method: 'POST', url: new URL(action!).pathname, headers, payload: '' })
  expect(confirmed.headers).not.toHaveProperty('access-control-allow-origin')
  const invalidForm = { client_id: 'web', refresh_token: 'x' }
  const refused = await post(url, 'https://evil.example', invalidForm)
  expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([403, undefined])
})

test('public endpoints allow every origin', async () => {
  for (const url of [`${protocol}/certs`, `/realms/${name}`, `/realms/${name}/.well-known/openid-configuration`]) {
    const response = await app.inject({ url, headers: { origin: 'https://evil.example' } })
    expect(response.headers, url).toMatchObject({ 'access-control-allow-origin': 'https://evil.example' })
  }
})

test('preflight requests return the allowed origin, methods and headers', async () => {
  const preflight = async (url: string) =>
    (await app.inject({ method: 'OPTIONS', url, headers: { origin: 'https://app.example' } })).headers
  expect(await preflight(`${protocol}/token`)).toMatchObject({
    'access-control-allow-origin': 'https://app.example',
    'access-control-allow-methods': 'POST, OPTIONS',
    'access-control-allow-headers': expect.stringContaining('Authorization'),
    'access-control-max-age': '3600',
  })
  expect(await preflight('/admin/realms')).toMatchObject({ 'access-control-allow-methods': 'DELETE, POST, GET, PUT' })
  expect(await preflight(`${protocol}/token/introspect`)).not.toHaveProperty('access-control-allow-origin')
})

test('the authorization endpoint sends no CORS headers', async () => {
  for (const method of ['GET', 'OPTIONS'] as const) {
    const url = `${protocol}/auth?client_id=any&response_type=code&redirect_uri=https://app.example/`
    const response = await app.inject({ method, url, headers: { origin: 'https://app.example' } })
    expect(response.headers, method).not.toHaveProperty('access-control-allow-origin')
  }
})

test('the admin API allows only the origins of the client of the token', async () => {
  const client = newName('console')
  await create('/admin/realms/master/clients', {
    clientId: client,
    publicClient: true,
    directAccessGrantsEnabled: true,
    webOrigins: ['https://console.example'],
  })
  const login = await post('/realms/master/protocol/openid-connect/token', 'https://console.example', {
    grant_type: 'password',
    client_id: client,
    username: 'admin',
    password: 'admin',
    scope: 'openid',
  })
  const { access_token: token } = login.json<{ access_token: string }>()
  const requestFrom = async (origin: string, url = path) => {
    const response = await app.inject({ url, headers: { origin, authorization: `Bearer ${token}` } })
    return [response.statusCode, response.headers['access-control-allow-origin']]
  }
  expect(await requestFrom('https://console.example')).toEqual([200, 'https://console.example'])
  expect(await requestFrom('https://console.example', `${path}/roles/none`)).toEqual([404, 'https://console.example'])
  expect(await requestFrom('https://evil.example')).toEqual([403, undefined])
  const info = '/realms/master/protocol/openid-connect/userinfo'
  expect((await requestFrom('https://evil.example', info))[1]).toBe(undefined)
})

test('a configured host name determines the origin of the server', async () => {
  const namedServer = await createServer(service, { hostname: 'https://id.example/sso' })
  const getStatus = async (origin: string) => {
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
    const payload = 'grant_type=password&client_id=plain&username=nobody&password=x'
    return (await namedServer.inject({ method: 'POST', url: `${protocol}/token`, headers, payload })).statusCode
  }
  expect(await getStatus('https://id.example')).toBe(400)
  expect(await getStatus('http://localhost')).toBe(403)
  await namedServer.close()
})
