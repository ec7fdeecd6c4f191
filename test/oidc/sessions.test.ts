// Sessions in the admin API, and the notifications of clients when sessions end.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()
const { service, statements } = await testService()

const received: { path: string; body: string }[] = []
const application = createServer(async (request, response) => {
  received.push({ path: request.url ?? '', body: await text(request) })
  response.writeHead(request.url?.startsWith('/refusing') ? 500 : 204).end()
})
await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${(application.address() as AddressInfo).port}`
afterAll(() => application.close())

async function realmWithAnn(client: object = {}) {
  const path = await createRealm()
  const web = { clientId: 'web', publicClient: true, directAccessGrantsEnabled: true, ...client }
  const clientPath = await create(`${path}/clients`, web)
  const credentials = [{ type: 'password', value: 'pw' }]
  const ann = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'A', lastName: 'E', credentials }
  const user = await create(`${path}/users`, ann)
  const post = (form: Record<string, string>) =>
    call('POST', `${path.replace('/admin', '')}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: 'web', ...form }).toString(),
    })
  const logIn = async (scope = '') =>
    (await post({ grant_type: 'password', username: 'ann', password: 'pw', scope })).body
  return { path, client: clientPath, user, post, logIn }
}

test('a client with a back-channel logout URL receives a logout token when a session ends', async () => {
  const attributes = { 'backchannel.logout.url': `${address}/ended` }
  const { path, logIn } = await realmWithAnn({ attributes })
  const { session_state: session } = await logIn()
  expect((await call('DELETE', `${path}/sessions/${session}`)).status).toBe(204)
  await service.outboxWorker!.whenIdle()
  const [notification] = received.splice(0)
  const token = new URLSearchParams(notification!.body).get('logout_token')!
  expect(notification!.path).toBe('/ended')
  expect(decodeProtectedHeader(token)).toMatchObject({ typ: 'logout+jwt', alg: 'RS256' })
  const claims = decodeJwt(token)
  expect(claims).toMatchObject({ aud: 'web', sid: session })
  expect(claims.iss).toMatch(new RegExp(`/realms/${path.split('/').at(-1)}$`))
  expect(claims.events).toEqual({ 'http://schemas.openid.net/event/backchannel-logout': {} })
})

test('a client with an admin URL and no back-channel logout URL is notified when a session or all of a user end', async () => {
  const { path, user, logIn } = await realmWithAnn({ adminUrl: `${address}/admin` })
  const ends: ((session: string) => ReturnType<typeof call>)[] = [
    (session) => call('DELETE', `${path}/sessions/${session}`),
    () => call('POST', `${user}/logout`),
  ]
  for (const end of ends) {
    const { session_state: session } = await logIn()
    expect((await end(session)).status).toBe(204)
    await service.outboxWorker!.whenIdle()
    const [notification, ...further] = received.splice(0)
    expect(further).toEqual([])
    expect(notification!.path).toBe('/admin/k_logout')
    expect(decodeJwt(notification!.body)).toMatchObject({
      ...{ action: 'LOGOUT', resource: 'web', notBefore: 0 },
      keycloakSessionIds: [session],
    })
  }
  await logIn()
  expect((await call('POST', `${path}/logout-all`)).body).toEqual({ successRequests: [`${address}/admin`] })
  await service.outboxWorker!.whenIdle()
  expect(received.splice(0).map(({ path }) => path)).toEqual(['/admin/k_logout'])
})

test('a revocation is pushed to clients with an admin URL, and the response lists the results', async () => {
  const { path, client } = await realmWithAnn({ adminUrl: `${address}/admin` })
  await create(`${path}/clients`, { clientId: 'other', adminUrl: `${address}/refusing` })
  expect((await call('POST', `${path}/push-revocation`)).body).toEqual({
    successRequests: [`${address}/admin`],
    failedRequests: [`${address}/refusing`],
  })
  const pushed = received.splice(0).find(({ path }) => path === '/admin/k_push_not_before')
  expect(decodeJwt(pushed!.body)).toMatchObject({ action: 'PUSH_NOT_BEFORE', resource: 'web', notBefore: 0 })
  expect((await call('POST', `${client}/push-revocation`)).body).toEqual({ successRequests: [`${address}/admin`] })
})

test('logout-all ends online and offline sessions', async () => {
  const { path, client, post, logIn } = await realmWithAnn()
  const online = await logIn()
  const offline = await logIn('offline_access')
  const stats = async () => (await call('GET', `${path}/client-session-stats`)).body
  expect(await stats()).toMatchObject([{ clientId: 'web', active: '1', offline: '1' }])
  expect((await call('POST', `${path}/logout-all`)).status).toBe(200)
  expect(await stats()).toEqual([])
  expect((await call('GET', `${client}/offline-session-count`)).body).toEqual({ count: 0 })
  expect((await call('GET', `${client}/session-count`)).body).toEqual({ count: 0 })
  const refresh = (refresh_token: string) => post({ grant_type: 'refresh_token', refresh_token })
  for (const { refresh_token } of [online, offline])
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant')
  await call('PUT', path, { body: { notBefore: 0 } })
  expect((await refresh(offline.refresh_token)).body.error_description).toBe('Offline user session not found')
  expect((await call('DELETE', `${path}/sessions/${offline.session_state}?isOffline=true`)).status).toBe(404)
})

test('logging a user out retains their offline sessions', async () => {
  const { client, user, logIn } = await realmWithAnn()
  await logIn()
  await logIn('offline_access')
  expect((await call('POST', `${user}/logout`)).status).toBe(204)
  expect((await call('GET', `${client}/session-count`)).body).toEqual({ count: 0 })
  expect((await call('GET', `${client}/offline-session-count`)).body).toEqual({ count: 1 })
})

test('listing and ending sessions takes a constant number of statements', async () => {
  const costWith = async (sessions: number) => {
    const { path, client, user, logIn } = await realmWithAnn()
    for (let at = 0; at < sessions; at++) await logIn()
    const cost = async (method: string, url: string) => (await statements(() => call(method, url))).length
    // The first call fills the cache of the realm.
    await call('GET', path)
    return [
      await cost('GET', `${client}/user-sessions`),
      await cost('GET', `${user}/sessions`),
      await cost('POST', `${path}/logout-all`),
    ]
  }
  expect(await costWith(20)).toEqual(await costWith(1))
})
