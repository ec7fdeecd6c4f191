// The expiry of tokens and sessions.
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { replaceRealm } from '../../src/service/admin-api/realms/realms.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap, resetAdminPassword } from '../../src/service/operations/bootstrap.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { sweepExpiredRows } from '../../src/service/operations/sweeper.ts'
import { newDatabase } from '../support/service.ts'

let now = new Date('2030-01-01T12:00:00Z')
const service = await openService({ location: await newDatabase(), key: new Uint8Array(32), clock: () => now })
await bootstrap(service, { user: 'admin', password: 'admin' })
const app = await createServer(service)
afterAll(async () => {
  await app.close()
  await service.close()
})

test('an access token is valid for the lifespan of the realm, and not a second longer', async () => {
  const response = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
  })
  const { access_token: token, expires_in: lifespan } = response.json<{ access_token: string; expires_in: number }>()
  expect(lifespan).toBe(60)
  const read = () => app.inject({ url: '/admin/realms/master', headers: { authorization: `Bearer ${token}` } })
  now = new Date(now.getTime() + (lifespan - 1) * 1000)
  expect((await read()).statusCode).toBe(200)
  now = new Date(now.getTime() + 2000)
  const late = await read()
  expect([late.statusCode, late.json()]).toEqual([401, { error: 'HTTP 401 Unauthorized' }])
})

test('a refresh token expires with its session, and a new password ends the session at once', async () => {
  const post = async (form: Record<string, string>) => {
    const response = await app.inject({
      method: 'POST',
      url: '/realms/master/protocol/openid-connect/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ client_id: 'admin-cli', ...form }).toString(),
    })
    return response.json<Record<string, never>>()
  }
  const logIn = (password: string) => post({ grant_type: 'password', username: 'admin', password })
  const refresh = ({ refresh_token }: Record<string, string>) =>
    post({ grant_type: 'refresh_token', refresh_token: refresh_token! })
  const master = { ssoSessionIdleTimeout: 1000, ssoSessionMaxLifespan: 1500 }
  await service.write(SYSTEM, 'master', (context) => replaceRealm(context, master))
  const later = (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000)
  }

  let tokens = await logIn('admin')
  expect(tokens.refresh_expires_in).toBe(1000)
  later(900)
  tokens = await refresh(tokens)
  expect(tokens.refresh_expires_in).toBe(600)
  later(590)
  tokens = await refresh(tokens)
  expect(tokens).toMatchObject({ expires_in: 10, refresh_expires_in: 10 })
  later(11)
  expect(await refresh(tokens)).toMatchObject({ error: 'invalid_grant' })

  tokens = await logIn('admin')
  expect(await refresh(tokens)).toHaveProperty('access_token')
  await resetAdminPassword(service, 'admin', { password: 'another', create: true })
  expect(await refresh(tokens)).toEqual({ error: 'invalid_grant', error_description: 'Session not active' })
  expect(await refresh(await logIn('another'))).toHaveProperty('access_token')
})

test('sweeping deletes expired sessions only', async () => {
  const listSessions = () =>
    service.query(async (db) => {
      const { sql } = await import('kysely')
      const query = sql<{ offline: boolean }>`/* test */ select s.offline from user_session s order by s.offline`
      return (await query.execute(db)).rows.map(({ offline }) => offline)
    })
  const logIn = async (scope = '') => {
    const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'another', scope }
    await app.inject({
      method: 'POST',
      url: '/realms/master/protocol/openid-connect/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString(),
    })
  }
  now = new Date(now.getTime() + 3_600_000)
  await sweepExpiredRows(service, now)
  expect(await listSessions()).toEqual([])
  await logIn()
  await logIn('offline_access')
  await sweepExpiredRows(service, now)
  expect(await listSessions()).toEqual([false, true])
  now = new Date(now.getTime() + 1_100_000)
  await sweepExpiredRows(service, now)
  expect(await listSessions()).toEqual([true])
})
