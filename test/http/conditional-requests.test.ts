// Tags of what can be replaced, and writes that are asked for only as long as it is what the caller knows.
import { gunzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { findTaggedReads } from '../../src/http/conditions.ts'
import { createBody, createFilledRealm, type FilledRealm, toAddress } from '../support/filled-realm.ts'
import { testServer } from '../support/server.ts'

const { app, adminToken, call, make, realm } = await testServer()

const LABEL = 'thing'
let filled: FilledRealm
beforeAll(async () => {
  filled = await createFilledRealm(LABEL)
  await call('PUT', toAddress('/admin/realms/{realm}/localization/{locale}/{key}', filled), {
    body: 'Hello',
    headers: { 'content-type': 'text/plain' },
  })
})

/** Only some required actions have settings. */
const addressAt = (path: string) => toAddress(path, filled).replace(`/${LABEL}/config`, '/UPDATE_PASSWORD/config')

const shown = [...findTaggedReads(operations).values()]
const tag = async (address: string) => (await call('GET', address)).headers.etag as string
const given = (condition: string) => ({ 'if-match': condition })

test.each(shown)('$path has a tag that lasts as long as what it shows', async ({ path }) => {
  const address = addressAt(path)
  const [first, again] = [await call('GET', address), await call('GET', address)]
  expect(first.status).toBe(200)
  expect(first.headers.etag).toMatch(/^"[0-9a-f]{32}"$/)
  expect(again.headers.etag).toBe(first.headers.etag)
  const known = { 'if-none-match': `"other", W/${first.headers.etag}` }
  for (const method of ['GET', 'HEAD']) {
    const answer = await app.inject({
      method: method as 'GET',
      url: address,
      headers: { ...known, authorization: `Bearer ${await adminToken()}` },
    })
    expect([method, answer.statusCode, answer.body]).toEqual([method, 304, ''])
    expect(answer.headers).toMatchObject({ etag: first.headers.etag, 'cache-control': 'no-cache' })
    expect(answer.headers).not.toHaveProperty('content-type')
  }
})

const writes = operations.filter(
  ({ method, path }) => ['PUT', 'DELETE'].includes(method) && findTaggedReads(operations).has(path),
)

test.each(writes)('$method $path changes nothing where another tag is named', async (operation) => {
  const { method, path } = operation
  const address = addressAt(path)
  const before = await tag(address)
  const text = operation.body?.plain && { body: 'Good day', headers: { 'content-type': 'text/plain' } }
  const request = operation.body ? (text ?? { body: createBody(operation, LABEL) }) : {}
  const headers = { ...text?.headers, ...given(`"other", W/${before}`) }
  const { status, body } = await call(method, address, { ...request, headers })
  expect([status, Object.keys(body)]).toEqual([412, ['errorMessage']])
  expect(await tag(address)).toBe(before)
})

test('who names the tag of what is there changes it, and the next one who does not know of that changes nothing', async () => {
  const path = await realm()
  const address = await make(`${path}/users`, { username: 'ann' })
  const old = await tag(address)
  const put = async (condition: string, firstName: string) =>
    (await call('PUT', address, { body: { firstName }, headers: given(condition) })).status
  expect(await put(`"other" , ${old}`, 'Ann')).toBe(204)
  expect(await put(old, 'Anna')).toBe(412)
  expect((await call('GET', address)).body.firstName).toBe('Ann')
  expect(await put('*', 'Anne')).toBe(204)
  expect((await call('DELETE', address, { headers: given(old) })).status).toBe(412)
  expect((await call('DELETE', address, { headers: given(await tag(address)) })).status).toBe(204)
  expect((await call('PUT', address, { body: {}, headers: given('*') })).status).toBe(404)
  expect((await call('GET', path, { headers: given(old) })).status).toBe(412)
})

test('an answer in gzip has a tag of its own, which is as good', async () => {
  const address = await realm()
  const get = async (headers: Record<string, string>) =>
    app.inject({ url: address, headers: { ...headers, authorization: `Bearer ${await adminToken()}` } })
  const [plain, small] = [await get({}), await get({ 'accept-encoding': 'gzip' })]
  expect(gunzipSync(small.rawPayload).toString()).toBe(plain.body)
  const own = String(small.headers.etag)
  expect(own).not.toBe(plain.headers.etag)
  const again = await get({ 'accept-encoding': 'gzip', 'if-none-match': own })
  expect(again.statusCode).toBe(304)
  expect(again.headers).toMatchObject({ etag: own, vary: 'accept-encoding' })
  expect(again.headers).not.toHaveProperty('content-encoding')
  for (const condition of [own, String(plain.headers.etag)]) {
    const { status } = await call('PUT', address, { body: {}, headers: given(condition) })
    expect(status, condition).toBe(204)
  }
})

test('what shows by a query is compared by the same query', async () => {
  const path = await realm()
  const plain = await make(`${path}/users`, { username: 'ann' })
  const address = `${plain}?userProfileMetadata=true`
  const headers = given(await tag(address))
  expect((await call('PUT', plain, { body: { firstName: 'Ann' }, headers })).status).toBe(412)
  expect((await call('PUT', address, { body: { firstName: 'Ann' }, headers })).status).toBe(204)
})

test('what has no tag is not changed on a condition', async () => {
  const path = await realm()
  const { headers } = await call('GET', `${path}/roles`)
  expect(headers).not.toHaveProperty('etag')
  const answer = await app.inject({
    method: 'POST',
    url: `${path}/roles`,
    headers: { ...given('"other"'), authorization: `Bearer ${await adminToken()}` },
    payload: { name: 'new' },
  })
  expect([answer.statusCode, answer.json()]).toEqual([
    412,
    { errorMessage: 'This resource has no entity tag. Send the request without If-Match.' },
  ])
  expect((await call('GET', `${path}/roles/new`)).status).toBe(404)
})

test('scripts may read tags and send conditions', async () => {
  const path = await realm()
  const origin = { origin: 'http://localhost' }
  const answer = await call('GET', path, { headers: origin })
  expect(answer.headers['access-control-expose-headers']).toContain('ETag')
  const preflight = await app.inject({ method: 'OPTIONS', url: path, headers: origin })
  expect(preflight.headers['access-control-allow-headers']).toContain('If-Match, If-None-Match')
})
