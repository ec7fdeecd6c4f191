// The form of responses, their compression, HEAD requests, and metrics.
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { operations } from '../../src/http/admin/index.ts'
import { sortKeys } from '../../src/http/key-order.ts'
import { listParameters } from '../../src/http/operation.ts'
import { createServer } from '../../src/http/server.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { updateObject } from '../support/live-objects.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, createSource } from '../support/sources.ts'

const { app, call, createRealm } = await testServer()
const { service } = await testService()

/** A separate server, whose metrics start at zero. */
const measuredServer = await createServer(service, { metrics: true, caller: SYSTEM })
afterAll(() => measuredServer.close())
const readMetrics = async () => (await measuredServer.inject('/metrics')).body

test('JSON has a charset in the content type only if Keycloak gives it one, since clients compare the type as a text', async () => {
  const realm = await createRealm()
  const name = realm.split('/').at(-1)
  const protocol = `/realms/${name}/protocol/openid-connect`
  const getType = async (...request: Parameters<typeof call>) => (await call(...request)).headers['content-type']
  const form = { token: null, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  for (const path of [`${protocol}/token`, `${protocol}/token/introspect`, `${protocol}/revoke`])
    expect(await getType('POST', path, { ...form, body: 'grant_type=password' }), path).toBe('application/json')
  for (const path of [
    `${protocol}/certs`,
    `/realms/${name}/.well-known/openid-configuration`,
    `${realm}/users/x`,
    '/x',
  ])
    expect(await getType('GET', path), path).toBe('application/json')
  for (const path of [realm, `${realm}/users`, `/realms/${name}`])
    expect(await getType('GET', path), path).toBe('application/json;charset=UTF-8')
})

test('representations have their fields in the order of the schema, which is the order of columns in kcadm.sh', async () => {
  const realm = await createRealm()
  const body = { alias: 'partner', providerId: 'oidc', config: { clientId: 'c' }, displayName: 'Partner' }
  await call('POST', `${realm}/identity-provider/instances`, { body })
  const [provider] = (await call('GET', `${realm}/identity-provider/instances`)).body
  const names = Object.keys(provider).filter((field) =>
    ['alias', 'displayName', 'providerId', 'enabled'].includes(field),
  )
  expect(names).toEqual(['alias', 'displayName', 'providerId', 'enabled'])
})

test('sortKeys sorts nested objects, keeps other fields, and changes no value', () => {
  const inner = z.looseObject({ b: z.string().optional(), a: z.int() })
  const schema = z.looseObject({
    list: z.array(inner).optional(),
    map: z.record(z.string(), inner),
    lazy: z.lazy(() => z.nullable(inner)),
  })
  const text =
    '{"lazy":{"a":1,"b":"x"},"other":1,"__proto__":{"c":2},"map":{"y":{"a":2,"b":""},"x":{"a":3}},"list":[{"a":4,"b":"z"}]}'
  expect(JSON.stringify(sortKeys(schema, JSON.parse(text)))).toBe(
    '{"list":[{"b":"z","a":4}],"map":{"y":{"b":"","a":2},"x":{"a":3}},"lazy":{"b":"x","a":1},"other":1,"__proto__":{"c":2}}',
  )
  expect(sortKeys(schema, null)).toBeNull()
  expect(sortKeys(undefined, false)).toBe(false)
})

test('a long response is compressed only if the client accepts gzip', async () => {
  const getDocument = (encoding?: string) =>
    app.inject({ url: '/openapi.json', headers: encoding === undefined ? {} : { 'accept-encoding': encoding } })
  const plain = await getDocument()
  expect(plain.headers).toMatchObject({ vary: 'accept-encoding' })
  expect(plain.headers['content-encoding']).toBeUndefined()
  for (const encoding of ['gzip', 'br;q=1, GZIP;q=0.5', '*']) {
    const { headers, rawPayload } = await getDocument(encoding)
    expect(headers, encoding).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
      'content-length': String(rawPayload.length),
    })
    expect(gunzipSync(rawPayload).toString()).toBe(plain.body)
  }
  for (const encoding of ['identity', 'br', 'gzip;q=0, *', '*;q=0'])
    expect((await getDocument(encoding)).headers['content-encoding'], encoding).toBeUndefined()
})

test('HEAD returns the status and headers of GET, without a body', async () => {
  const path = await createRealm()
  const readable = operations.filter(({ method, path }) => method === 'GET' && listParameters(path).length === 1)
  for (const { path: template } of readable) {
    const address = template.replace('/admin/realms/{realm}', path)
    const options = { headers: { 'x-request-id': 'same' } }
    const [getResponse, headResponse] = [await call('GET', address, options), await call('HEAD', address, options)]
    expect(headResponse.status, address).toBe(getResponse.status)
    expect({ ...headResponse.headers, date: '' }, address).toEqual({ ...getResponse.headers, date: '' })
    expect(headResponse.body, address).toBeUndefined()
  }
  expect((await call('HEAD', path, { token: null })).status).toBe(401)
})

test('requests are counted by operation, method and status, and unknown paths as one operation', async () => {
  const name = (await createRealm()).split('/').at(-1)!
  for (const path of [
    `/admin/realms/${name}`,
    `/admin/realms/${name}`,
    '/admin/realms/nowhere-1',
    '/no/such/1',
    '/no/such/2',
  ])
    await measuredServer.inject(path)
  const text = await readMetrics()
  const count = (labels: string) =>
    text.split('\n').find((line) => line.startsWith(`regent_http_request_duration_seconds_count{${labels}}`))
  expect(count('operation="getRealm",method="GET",status="200"')).toMatch(/ 2$/)
  expect(count('operation="getRealm",method="GET",status="404"')).toMatch(/ 1$/)
  expect(count('operation="none",method="GET",status="404"')).toMatch(/ 2$/)
  expect(text).toMatch(/^process_cpu_seconds_total /m)
  expect(text).not.toContain(name)
})

test('metrics count applies by outcome, and managed objects that changed since their last apply', async () => {
  const value = async (metric: string) =>
    Number(
      (await readMetrics())
        .split('\n')
        .find((line) => line.startsWith(`${metric} `))!
        .split(' ')[1],
    )
  const applies = (outcome: string) => value(`regent_applies_total{outcome="${outcome}"}`)
  const before = [await applies('changed'), await applies('unchanged'), await applies('failed')] as const
  const name = newName()
  const source = createSource([{ realm: name, clients: [{ clientId: 'shop', name: 'Shop' }] }], name)
  await applySources(service, SYSTEM, [source])
  await applySources(service, SYSTEM, [source])
  const invalidSource = createSource(
    [{ realm: name, clients: [{ clientId: 'shop', rootUrl: 'javascript:alert(1)' }] }],
    name,
  )
  await expect(applySources(service, SYSTEM, [invalidSource])).rejects.toThrow()
  expect(await applies('changed')).toBe(before[0] + 1)
  expect(await applies('unchanged')).toBe(before[1] + 1)
  expect(await applies('failed')).toBe(before[2] + 1)
  const changed = await value('regent_changed_objects')
  await updateObject(service, ANN, name, 'client', ['shop'], { name: 'Store' })
  expect(await value('regent_changed_objects')).toBe(changed + 1)
})
