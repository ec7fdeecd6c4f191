// The token endpoint: password and refresh grants, and the tokens that they issue.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap, resetAdminPassword } from '../../src/service/operations/bootstrap.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { testServer } from '../support/server.ts'
import { openNewService, testService } from '../support/service.ts'

const { app, call, create, createRealm } = await testServer()
const { service } = await testService()

const post = (realmName: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  call('POST', `/realms/${realmName}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
  })
const admin = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }

/** Creates a realm with a confidential client and the user Ann. */
async function realmWithAnn(
  settings: object = {},
): Promise<{ name: string; path: string; form: Record<string, string> }> {
  const path = await createRealm(settings)
  const name = path.split('/').at(-1)!
  await create(`${path}/clients`, { clientId: 'web', secret: 'web-secret', directAccessGrantsEnabled: true })
  const ann = { username: 'ann', enabled: true, firstName: 'Ann', lastName: 'Example', email: 'ann@example.org' }
  const representation = { ...ann, credentials: [await hashPassword('pw')] }
  await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
  const client = { client_id: 'web', client_secret: 'web-secret' }
  return { name, path, form: { ...client, grant_type: 'password', username: 'ann', password: 'pw' } }
}

test('an administrator gets a token for a password, which is accepted by the admin API', async () => {
  const response = await post('master', admin)
  expect(response.status).toBe(200)
  expect(response.headers['cache-control']).toBe('no-store')
  const claims = decodeJwt(response.body.access_token)
  expect(claims).toMatchObject({ typ: 'Bearer', azp: 'admin-cli' })
  expect(claims.iss).toMatch(/\/realms\/master$/)
  expect(claims.exp! - claims.iat!).toBe(response.body.expires_in)
  expect((await call('GET', '/admin/realms/master', { token: response.body.access_token })).status).toBe(200)
})

test('a client authenticates by form or header, and a public client also with an empty secret', async () => {
  const { name, form } = await realmWithAnn()
  const { client_id, client_secret, ...rest } = form
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  expect((await post(name, form)).body).toMatchObject({ token_type: 'Bearer', scope: 'email profile' })
  expect((await post(name, rest, basic(`${client_id}:${client_secret}`))).status).toBe(200)
  expect((await post(name, rest, basic('web:wrong'))).body.error).toBe('unauthorized_client')
  const { client_id: _, ...login } = admin
  expect((await post('master', login, basic('admin-cli:'))).status).toBe(200)
})

test('a refresh token is accepted from its client and realm only', async () => {
  const { name, form } = await realmWithAnn()
  const first = (await post(name, form)).body
  const refresh = { client_id: 'web', client_secret: 'web-secret', grant_type: 'refresh_token' }
  const second = await post(name, { ...refresh, refresh_token: first.refresh_token })
  expect(decodeJwt(second.body.access_token).sid).toBe(decodeJwt(first.access_token).sid)
  expect((await post(name, { ...refresh, refresh_token: first.access_token })).body.error).toBe('invalid_grant')
  expect((await call('GET', `/admin/realms/${name}`, { token: first.refresh_token })).status).toBe(401)
  const other = await realmWithAnn()
  expect((await post(other.name, { ...refresh, refresh_token: first.refresh_token })).body.error).toBe('invalid_grant')
})

test('an ID token is issued for the scope openid, and is not accepted by the admin API', async () => {
  const { body } = await post('master', { ...admin, scope: 'openid' })
  expect(decodeJwt(body.id_token)).toMatchObject({ typ: 'ID', aud: 'admin-cli' })
  expect((await call('GET', '/admin/realms/master', { token: body.id_token })).status).toBe(401)
})

test('a token of another realm has no permissions in master, and is invalid after not-before or the deletion of its realm', async () => {
  const { name, path, form } = await realmWithAnn()
  const token = (await post(name, form)).body.access_token
  expect((await call('GET', '/admin/realms/master', { token })).status).toBe(403)
  await call('PUT', path, { body: { notBefore: Math.floor(Date.now() / 1000) + 60 } })
  expect((await call('GET', '/admin/realms/master', { token })).status).toBe(401)
  await call('PUT', path, { body: { notBefore: 0 } })
  await call('DELETE', path)
  await create('/admin/realms', { realm: name, enabled: true })
  expect((await call('GET', '/admin/realms/master', { token })).status).toBe(401)
})

test('a token with an invalid signature is refused', async () => {
  const [head, body, signature] = (await post('master', admin)).body.access_token.split('.')
  const forged = Buffer.from(JSON.stringify({ ...decodeJwt(`${head}.${body}.x`), sub: 'another' })).toString(
    'base64url',
  )
  expect((await call('GET', '/admin/realms', { token: `${head}.${forged}.${signature}` })).status).toBe(401)
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  expect((await call('GET', '/admin/realms', { token: `${none}.${body}.` })).status).toBe(401)
})

test('a disabled realm issues no tokens', async () => {
  const { name, path, form } = await realmWithAnn()
  await call('PUT', path, { body: { enabled: false } })
  expect((await post(name, form)).status).toBe(403)
})

test('discovery names only existing endpoints', async () => {
  const { name } = await realmWithAnn()
  const { body } = await call('GET', `/realms/${name}/.well-known/openid-configuration`, { token: null })
  for (const address of Object.entries(body).filter(([key]) => /_(endpoint|uri)$/.test(key))) {
    const { statusCode } = await app.inject({ url: new URL(String(address[1])).pathname })
    expect([200, 400, 401, 405], String(address)).toContain(statusCode)
  }
  const { keys } = (await call('GET', `/realms/${name}/protocol/openid-connect/certs`, { token: null })).body
  expect(keys.find(({ use }: { use: string }) => use === 'sig')).toMatchObject({ kty: 'RSA', alg: 'RS256' })
  for (const key of keys) expect(key).not.toHaveProperty('d')
})

test('the first start creates one master realm and one administrator, even if two servers start at once', async () => {
  const emptyService = await openNewService()
  const administrator = { user: 'admin', password: 'admin' }
  await Promise.all([bootstrap(emptyService, administrator), bootstrap(emptyService, administrator)])
  await bootstrap(emptyService, { user: 'other', password: 'other' })
  expect((await emptyService.listRealms()).map(({ name }) => name)).toEqual(['master'])
  const find = (name: string) =>
    emptyService.read(SYSTEM, 'master', async (context) => (await users.list(context, { keys: [[name]] }))[0])
  expect(await find('admin')).toBeDefined()
  expect(await find('other')).toBeUndefined()
  await resetAdminPassword(emptyService, 'admin', { password: 'new', create: true })
  await resetAdminPassword(emptyService, 'rescue', { password: 'new', create: true })
  expect(await find('rescue')).toBeDefined()
  await emptyService.close()
})

test('a reused refresh token is refused and ends its session if the realm revokes refresh tokens', async () => {
  const { name, path, form } = await realmWithAnn({ revokeRefreshToken: true, refreshTokenMaxReuse: 0 })
  const refresh = (refresh_token: string) =>
    post(name, { client_id: 'web', client_secret: 'web-secret', grant_type: 'refresh_token', refresh_token })
  const first = (await post(name, form)).body
  const answers = await Promise.all([1, 2, 3].map(() => refresh(first.refresh_token)))
  const granted = answers.filter(({ status }) => status === 200)
  expect(granted.length).toBeLessThanOrEqual(1)
  expect(answers.map(({ body }) => body.error_description)).toContain('Maximum allowed refresh token reuse exceeded')
  for (const { body } of granted) expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant')

  await call('PUT', path, { body: { refreshTokenMaxReuse: 1 } })
  const second = (await post(name, form)).body.refresh_token
  expect([(await refresh(second)).status, (await refresh(second)).status, (await refresh(second)).status]).toEqual([
    200, 200, 400,
  ])
})

test('the end of a session invalidates its access tokens', async () => {
  const token = (await post('master', admin)).body
  const read = async () => (await call('GET', '/admin/realms/master', { token: token.access_token })).status
  expect(await read()).toBe(200)
  const end = await call('POST', '/realms/master/protocol/openid-connect/logout', {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id: 'admin-cli', refresh_token: token.refresh_token }).toString(),
  })
  expect(end.status).toBe(204)
  expect(await read()).toBe(401)
})
