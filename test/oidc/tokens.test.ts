import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap, resetAdminPassword } from '../../src/service/operations/bootstrap.ts'
import { hashPassword } from '../../src/service/users/passwords.ts'
import { users } from '../../src/service/users/users.ts'
import { testServer } from '../support/server.ts'
import { freshService, testService } from '../support/service.ts'

const { app, call, make, realm } = await testServer()
const { service } = await testService()

const post = (realmName: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  call('POST', `/realms/${realmName}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
  })
const admin = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }

/** A realm with a confidential client and a person. */
async function realmWithAnn(
  settings: object = {},
): Promise<{ name: string; path: string; form: Record<string, string> }> {
  const path = await realm(settings)
  const name = path.split('/').at(-1)!
  await make(`${path}/clients`, { clientId: 'web', secret: 'web-secret', directAccessGrantsEnabled: true })
  const person = { username: 'ann', enabled: true, firstName: 'Ann', lastName: 'Example', email: 'ann@example.org' }
  const representation = { ...person, credentials: [await hashPassword('pw')] }
  await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
  const client = { client_id: 'web', client_secret: 'web-secret' }
  return { name, path, form: { ...client, grant_type: 'password', username: 'ann', password: 'pw' } }
}

test('an administrator gets a token for a password, and it opens the admin API', async () => {
  const answer = await post('master', admin)
  expect(answer.status).toBe(200)
  expect(answer.headers['cache-control']).toBe('no-store')
  const claims = decodeJwt(answer.body.access_token)
  expect(claims).toMatchObject({ typ: 'Bearer', azp: 'admin-cli' })
  expect(claims.iss).toMatch(/\/realms\/master$/)
  expect(claims.exp! - claims.iat!).toBe(answer.body.expires_in)
  expect((await call('GET', '/admin/realms/master', { token: answer.body.access_token })).status).toBe(200)
})

test('a client proves itself by form or by Basic; the public one with an empty secret too', async () => {
  const { name, form } = await realmWithAnn()
  const { client_id, client_secret, ...rest } = form
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  expect((await post(name, form)).body).toMatchObject({ token_type: 'Bearer', scope: 'email profile' })
  expect((await post(name, rest, basic(`${client_id}:${client_secret}`))).status).toBe(200)
  expect((await post(name, rest, basic('web:wrong'))).body.error).toBe('unauthorized_client')
  const { client_id: _, ...login } = admin
  expect((await post('master', login, basic('admin-cli:'))).status).toBe(200)
})

test('a refresh token gives new tokens to its client, and nothing else does', async () => {
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

test('an ID token comes with the scope openid, and does not open the admin API', async () => {
  const { body } = await post('master', { ...admin, scope: 'openid' })
  expect(decodeJwt(body.id_token)).toMatchObject({ typ: 'ID', aud: 'admin-cli' })
  expect((await call('GET', '/admin/realms/master', { token: body.id_token })).status).toBe(401)
})

test('a token of another realm opens nothing here, and none after its realm is gone or its time is cut off', async () => {
  const { name, path, form } = await realmWithAnn()
  const token = (await post(name, form)).body.access_token
  expect((await call('GET', '/admin/realms/master', { token })).status).toBe(403)
  await call('PUT', path, { body: { notBefore: Math.floor(Date.now() / 1000) + 60 } })
  expect((await call('GET', '/admin/realms/master', { token })).status).toBe(401)
  await call('PUT', path, { body: { notBefore: 0 } })
  await call('DELETE', path)
  await make('/admin/realms', { realm: name, enabled: true })
  expect((await call('GET', '/admin/realms/master', { token })).status).toBe(401)
})

test('a token whose signature was changed is worth nothing', async () => {
  const [head, body, signature] = (await post('master', admin)).body.access_token.split('.')
  const forged = Buffer.from(JSON.stringify({ ...decodeJwt(`${head}.${body}.x`), sub: 'somebody' })).toString(
    'base64url',
  )
  expect((await call('GET', '/admin/realms', { token: `${head}.${forged}.${signature}` })).status).toBe(401)
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  expect((await call('GET', '/admin/realms', { token: `${none}.${body}.` })).status).toBe(401)
})

test('a disabled realm gives no tokens', async () => {
  const { name, path, form } = await realmWithAnn()
  await call('PUT', path, { body: { enabled: false } })
  expect((await post(name, form)).status).toBe(403)
})

test('discovery names only what is there', async () => {
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

test('the first start makes one master realm and one administrator, also when two start at once', async () => {
  const fresh = await freshService()
  const administrator = { user: 'admin', password: 'admin' }
  await Promise.all([bootstrap(fresh, administrator), bootstrap(fresh, administrator)])
  await bootstrap(fresh, { user: 'other', password: 'other' })
  expect((await fresh.realms()).map(({ name }) => name)).toEqual(['master'])
  const find = (name: string) =>
    fresh.read(SYSTEM, 'master', async (context) => (await users.list(context, { keys: [[name]] }))[0])
  expect(await find('admin')).toBeDefined()
  expect(await find('other')).toBeUndefined()
  await resetAdminPassword(fresh, 'admin', 'new')
  await resetAdminPassword(fresh, 'rescue', 'new')
  expect(await find('rescue')).toBeDefined()
  await fresh.close()
})

test('a refresh token counts once where the realm revokes them; used again, it ends what came of it', async () => {
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

test('a session that ends takes its access tokens along', async () => {
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
