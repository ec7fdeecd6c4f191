// Initial access tokens: the number of clients that they register, and their expiry.
import { decodeJwt } from 'jose'
import { afterAll, expect, inject, test } from 'vitest'
import { sweepExpiredRows } from '../../../src/service/operations/sweeper.ts'
import { createCommandFolder } from '../../support/cli.ts'
import { createRegistrationRealm } from '../../support/registration-realm.ts'
import { testServer } from '../../support/server.ts'
import { testService } from '../../support/service.ts'

const { call } = await testServer()
const { service } = await testService()

test('each registration uses one of the clients of a token, and a refused one does not', async () => {
  const { createToken, send, path } = await createRegistrationRealm()
  const { token } = await createToken({ count: 2, expiration: 60 })
  const getRemaining = async () => (await call('GET', `${path}/clients-initial-access`)).body[0].remainingCount
  expect((await send('POST', 'default', { token, body: { clientId: 'one' } })).status).toBe(201)
  expect(await getRemaining()).toBe(1)
  expect((await send('POST', 'default', { token, body: { clientId: 'one' } })).status).toBe(400)
  expect(await getRemaining()).toBe(1)
  expect((await send('POST', 'default', { token, body: { clientId: 'two' } })).status).toBe(201)
  const refused = await send('POST', 'default', { token, body: { clientId: 'three' } })
  expect([refused.status, refused.body.error_description]).toEqual([401, 'No remaining count on initial access token'])
})

test('concurrent registrations use a token at most as often as it permits', async () => {
  const { createToken, send } = await createRegistrationRealm()
  const { token } = await createToken({ count: 3 })
  const requests = Array.from({ length: 10 }, (_, at) =>
    send('POST', 'default', { token, body: { clientId: `client-${at}` } }),
  )
  const statuses = (await Promise.all(requests)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(3)
  expect(statuses.filter((status) => status === 401)).toHaveLength(7)
})

test('an expired, deleted or forged token is refused; expired and used-up ones are deleted after a while', async () => {
  const { createToken, send, path } = await createRegistrationRealm()
  const { token: lasting } = await createToken({ count: 5 })
  expect(decodeJwt(lasting)).not.toHaveProperty('exp')
  await createToken({ count: 0 })
  const { token: expired } = await createToken({ expiration: 1 })
  const { token: deleted, id } = await createToken({ expiration: 60 })
  await call('DELETE', `${path}/clients-initial-access/${id}`)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  const [header, , signature] = lasting.split('.')
  const forged = [header, Buffer.from('{"typ":"InitialAccessToken"}').toString('base64url'), signature].join('.')
  const register = async (token: string) =>
    (await send('POST', 'default', { token, body: { clientId: 'app' } })).body.error_description
  expect(await register(expired)).toBe('Failed decode token')
  expect(await register(forged)).toBe('Failed decode token')
  expect(await register(deleted)).toBe('Initial Access Token not found')
  await sweepExpiredRows(service, new Date(Date.now() + 1000))
  expect((await call('GET', `${path}/clients-initial-access`)).body).toMatchObject([{ count: 5 }])
  expect(await register(lasting)).toBeUndefined()
})

test('a token registers clients, and neither reads nor changes any', async () => {
  const { createToken, send, register } = await createRegistrationRealm()
  await register({ clientId: 'app' })
  const { token } = await createToken()
  expect((await send('GET', 'default/app', { token })).body.error_description).toBe('Not initial access token allowed')
  expect((await send('PUT', 'default/app', { token, body: { clientId: 'app' } })).status).toBe(401)
  expect((await send('DELETE', 'default/app', { token })).status).toBe(401)
  // Its access is that of its own realm, and not of the admin API.
  const other = await createRegistrationRealm()
  expect((await other.send('POST', 'default', { token, body: { clientId: 'app' } })).status).toBe(401)
})

const at = await createCommandFolder()
afterAll(() => at.remove())

test.runIf(inject('databaseUrl'))('two servers use a token at most as often as it permits', async () => {
  const [first, second] = [await at.serve('--source', ''), await at.serve('--source', '')]
  const form = new URLSearchParams({
    grant_type: 'password',
    client_id: 'admin-cli',
    username: 'admin',
    password: 'admin',
  })
  const login = await fetch(`${first.url}/realms/master/protocol/openid-connect/token`, { method: 'POST', body: form })
  const { access_token: admin } = (await login.json()) as { access_token: string }
  const post = (url: string, bearer: string, body: object) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post(`${first.url}/admin/realms`, admin, { realm: 'registering', enabled: true })
  const created = await post(`${first.url}/admin/realms/registering/clients-initial-access`, admin, { count: 4 })
  const { token } = (await created.json()) as { token: string }
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, number) => {
      const { url } = number % 2 ? first : second
      return post(`${url}/realms/registering/clients-registrations/default`, token, { clientId: `client-${number}` })
    }),
  )
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(4)
})
