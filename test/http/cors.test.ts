import { expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { app, call, make, realm } = await testServer()
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
const path = await realm({
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
])('a client answers pages of the origins that it names: %s, %s', async (client, origin, answered) => {
  const answer = await logIn(origin, client)
  expect(answer.headers['access-control-allow-origin']).toBe(answered ? origin : undefined)
  expect(answer.headers['access-control-allow-credentials']).toBe(answered ? 'true' : undefined)
  expect(answer.json()).toMatchObject({ error: answered ? 'invalid_grant' : 'Invalid origin' })
  if (answered) expect(answer.headers).toMatchObject({ vary: expect.stringContaining('origin') })
})

test('pages of the server itself are of no other origin', async () => {
  expect((await logIn('http://localhost', 'plain')).json()).toMatchObject({ error: 'invalid_grant' })
})

test('who may not ask is told so before the password is looked at', async () => {
  await call('DELETE', `${path}/events`)
  await logIn('https://evil.example', 'plus')
  expect((await call('GET', `${path}/events`)).body).toEqual([])
})

test('each endpoint of applications that scripts call looks at the origin', async () => {
  for (const endpoint of ['token', 'revoke', 'logout']) {
    const answer = await post(`${protocol}/${endpoint}`, 'https://evil.example', {
      client_id: 'plus',
      grant_type: 'refresh_token',
      refresh_token: 'x',
      token: 'x',
    })
    expect([endpoint, answer.statusCode, answer.json()]).toEqual([endpoint, 403, { error: 'Invalid origin' }])
  }
  const introspection = await post(`${protocol}/token/introspect`, 'https://app.example', { client_id: 'plus' })
  expect(introspection.headers).not.toHaveProperty('access-control-allow-origin')
})

test('no script of another page reads or sends the page of log-out, which comes with cookies', async () => {
  const browser = testBrowser(app)
  const { logInAddress, name: realm } = await createLoginRealm()
  await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const url = `/realms/${realm}/protocol/openid-connect/logout`
  const headers = { cookie, origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' }
  for (const payload of ['', 'client_id=web', 'id_token_hint=x', 'confirmLogout=true']) {
    const answers = [
      await app.inject({ method: 'POST', url, headers, payload }),
      await app.inject({ url: `${url}?${payload}`, headers }),
    ]
    for (const answer of answers) expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  }
  const shown = await app.inject({ method: 'POST', url, headers, payload: '' })
  expect(shown.body).toContain('Do you want to sign out?')
  const [, action] = /action="([^"]*)"/.exec(shown.body)!
  const confirmed = await app.inject({ method: 'POST', url: new URL(action!).pathname, headers, payload: '' })
  expect(confirmed.headers).not.toHaveProperty('access-control-allow-origin')
  const wrong = { client_id: 'web', refresh_token: 'x' }
  const foreign = await post(url, 'https://evil.example', wrong)
  expect([foreign.statusCode, foreign.headers['access-control-allow-origin']]).toEqual([403, undefined])
})

test('what is for everybody is for every page', async () => {
  for (const url of [`${protocol}/certs`, `/realms/${name}`, `/realms/${name}/.well-known/openid-configuration`]) {
    const answer = await app.inject({ url, headers: { origin: 'https://evil.example' } })
    expect(answer.headers, url).toMatchObject({ 'access-control-allow-origin': 'https://evil.example' })
  }
})

test('browsers are told beforehand what a script may send', async () => {
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

test('no script reads what the authorization endpoint answers', async () => {
  for (const method of ['GET', 'OPTIONS'] as const) {
    const url = `${protocol}/auth?client_id=any&response_type=code&redirect_uri=https://app.example/`
    const answer = await app.inject({ method, url, headers: { origin: 'https://app.example' } })
    expect(answer.headers, method).not.toHaveProperty('access-control-allow-origin')
  }
})

test('the admin API answers pages of the origins that the client of the token names', async () => {
  const client = newName('console')
  await make('/admin/realms/master/clients', {
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
  const ask = async (origin: string, url = path) => {
    const answer = await app.inject({ url, headers: { origin, authorization: `Bearer ${token}` } })
    return [answer.statusCode, answer.headers['access-control-allow-origin']]
  }
  expect(await ask('https://console.example')).toEqual([200, 'https://console.example'])
  expect(await ask('https://console.example', `${path}/roles/none`)).toEqual([404, 'https://console.example'])
  expect(await ask('https://evil.example')).toEqual([403, undefined])
  const info = '/realms/master/protocol/openid-connect/userinfo'
  expect((await ask('https://evil.example', info))[1]).toBe(undefined)
})

test('the server knows its own pages by its host name', async () => {
  const named = await createServer(service, { hostname: 'https://id.example/sso' })
  const asked = async (origin: string) => {
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
    const payload = 'grant_type=password&client_id=plain&username=nobody&password=x'
    return (await named.inject({ method: 'POST', url: `${protocol}/token`, headers, payload })).statusCode
  }
  expect(await asked('https://id.example')).toBe(400)
  expect(await asked('http://localhost')).toBe(403)
  await named.close()
})
