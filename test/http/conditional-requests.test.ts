// Entity tags, and requests with If-Match and If-None-Match (RFC 9110, section 13).
import { gunzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { findTaggedReads } from '../../src/http/conditions.ts'
import { createBody, createFilledRealm, type FilledRealm, toAddress } from '../support/filled-realm.ts'
import { testServer } from '../support/server.ts'

const { app, adminToken, call, create, createRealm } = await testServer()

const LABEL = 'sample'
let filled: FilledRealm
beforeAll(async () => {
  filled = await createFilledRealm(LABEL)
  await call('PUT', toAddress('/admin/realms/{realm}/localization/{locale}/{key}', filled), {
    body: 'Hello',
    headers: { 'content-type': 'text/plain' },
  })
})

/** Returns the URL of a path. Only some required actions have a configuration. */
const toUrl = (path: string) => toAddress(path, filled).replace(`/${LABEL}/config`, '/UPDATE_PASSWORD/config')

const taggedReads = [...findTaggedReads(operations).values()]
const getETag = async (address: string) => (await call('GET', address)).headers.etag as string
const ifMatch = (condition: string) => ({ 'if-match': condition })

test.each(taggedReads)('GET $path returns a stable ETag, and 304 if If-None-Match contains it', async ({ path }) => {
  const address = toUrl(path)
  const [first, again] = [await call('GET', address), await call('GET', address)]
  expect(first.status).toBe(200)
  expect(first.headers.etag).toMatch(/^"[0-9a-f]{32}"$/)
  expect(again.headers.etag).toBe(first.headers.etag)
  const ifNoneMatch = { 'if-none-match': `"other", W/${first.headers.etag}` }
  for (const method of ['GET', 'HEAD']) {
    const response = await app.inject({
      method: method as 'GET',
      url: address,
      headers: { ...ifNoneMatch, accept: 'application/json, */*;q=0.5', authorization: `Bearer ${await adminToken()}` },
    })
    expect([method, response.statusCode, response.body]).toEqual([method, 304, ''])
    expect(response.headers).toMatchObject({ etag: first.headers.etag, 'cache-control': 'no-cache' })
    expect(response.headers).not.toHaveProperty('content-type')
  }
})

const writes = operations.filter(
  ({ method, path }) => ['PUT', 'DELETE'].includes(method) && findTaggedReads(operations).has(path),
)

test.each(writes)('$method $path with another If-Match returns 412 and changes nothing', async (operation) => {
  const { method, path } = operation
  const address = toUrl(path)
  const before = await getETag(address)
  const text = operation.body?.plain && { body: 'Good day', headers: { 'content-type': 'text/plain' } }
  const request = operation.body ? (text ?? { body: createBody(operation, LABEL) }) : {}
  const headers = { ...text?.headers, ...ifMatch(`"other", W/${before}`) }
  const { status, body } = await call(method, address, { ...request, headers })
  expect([status, Object.keys(body)]).toEqual([412, ['errorMessage']])
  expect(await getETag(address)).toBe(before)
})

test('PUT and DELETE succeed with the current ETag in If-Match, and return 412 with a stale one', async () => {
  const path = await createRealm()
  const address = await create(`${path}/users`, { username: 'ann' })
  const staleETag = await getETag(address)
  const put = async (condition: string, firstName: string) =>
    (await call('PUT', address, { body: { firstName }, headers: ifMatch(condition) })).status
  expect(await put(`"other" , ${staleETag}`, 'Ann')).toBe(204)
  expect(await put(staleETag, 'Anna')).toBe(412)
  expect((await call('GET', address)).body.firstName).toBe('Ann')
  expect(await put('*', 'Anne')).toBe(204)
  expect((await call('DELETE', address, { headers: ifMatch(staleETag) })).status).toBe(412)
  expect((await call('DELETE', address, { headers: ifMatch(await getETag(address)) })).status).toBe(204)
  expect((await call('PUT', address, { body: {}, headers: ifMatch('*') })).status).toBe(404)
  expect((await call('GET', path, { headers: ifMatch(staleETag) })).status).toBe(412)
})

test('a compressed response has a different ETag, which conditions accept too', async () => {
  const address = await createRealm()
  const get = async (headers: Record<string, string>) =>
    app.inject({ url: address, headers: { ...headers, authorization: `Bearer ${await adminToken()}` } })
  const [plain, compressed] = [await get({}), await get({ 'accept-encoding': 'gzip' })]
  expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.body)
  const compressedETag = String(compressed.headers.etag)
  expect(compressedETag).not.toBe(plain.headers.etag)
  const again = await get({ 'accept-encoding': 'gzip', 'if-none-match': compressedETag })
  expect(again.statusCode).toBe(304)
  expect(again.headers).toMatchObject({ etag: compressedETag, vary: 'accept-encoding' })
  expect(again.headers).not.toHaveProperty('content-encoding')
  for (const condition of [compressedETag, String(plain.headers.etag)]) {
    const { status } = await call('PUT', address, { body: {}, headers: ifMatch(condition) })
    expect(status, condition).toBe(204)
  }
})

test('If-Match is compared with the ETag of the same query parameters', async () => {
  const path = await createRealm()
  const plain = await create(`${path}/users`, { username: 'ann' })
  const address = `${plain}?userProfileMetadata=true`
  const headers = ifMatch(await getETag(address))
  expect((await call('PUT', plain, { body: { firstName: 'Ann' }, headers })).status).toBe(412)
  expect((await call('PUT', address, { body: { firstName: 'Ann' }, headers })).status).toBe(204)
})

test('If-Match on a resource without ETag returns 412 and changes nothing', async () => {
  const path = await createRealm()
  const { headers } = await call('GET', `${path}/roles`)
  expect(headers).not.toHaveProperty('etag')
  const response = await app.inject({
    method: 'POST',
    url: `${path}/roles`,
    headers: { ...ifMatch('"other"'), authorization: `Bearer ${await adminToken()}` },
    payload: { name: 'new' },
  })
  expect([response.statusCode, response.json()]).toEqual([
    412,
    { errorMessage: 'This resource has no entity tag. Send the request without If-Match.' },
  ])
  expect((await call('GET', `${path}/roles/new`)).status).toBe(404)
})

test('CORS exposes ETag and allows If-Match and If-None-Match', async () => {
  const path = await createRealm()
  const origin = { origin: 'http://localhost' }
  const response = await call('GET', path, { headers: origin })
  expect(response.headers['access-control-expose-headers']).toContain('ETag')
  const preflight = await app.inject({ method: 'OPTIONS', url: path, headers: origin })
  expect(preflight.headers['access-control-allow-headers']).toContain('If-Match, If-None-Match')
})
