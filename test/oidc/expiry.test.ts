import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { bootstrap } from '../../src/service/bootstrap.ts'
import { openService } from '../../src/service/service.ts'
import { newDatabase } from '../support/service.ts'

let now = new Date('2030-01-01T12:00:00Z')
const service = await openService({ location: await newDatabase(), key: new Uint8Array(32), clock: () => now })
await bootstrap(service, { user: 'admin', password: 'admin' })
const app = await createServer(service)
afterAll(async () => {
  await app.close()
  await service.close()
})

test('a token opens the admin API for the time that the realm says, and not a second longer', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
  })
  const { access_token: token, expires_in: lifespan } = answer.json<{ access_token: string; expires_in: number }>()
  expect(lifespan).toBe(60)
  const read = () => app.inject({ url: '/admin/realms/master', headers: { authorization: `Bearer ${token}` } })
  now = new Date(now.getTime() + (lifespan - 1) * 1000)
  expect((await read()).statusCode).toBe(200)
  now = new Date(now.getTime() + 2000)
  const late = await read()
  expect([late.statusCode, late.json()]).toEqual([401, { error: 'HTTP 401 Unauthorized' }])
})
