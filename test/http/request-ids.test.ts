// The ids of requests and traces: in responses, in log lines, and in errors.
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { testService } from '../support/service.ts'

const { service } = await testService()
const lines: string[] = []
const failingService: Service = {
  ...service,
  listRealms: () => Promise.reject(new Error('no realms')),
  write: () => Promise.reject(new Error('nothing can be written')),
}
const server = await createServer(failingService, {
  showRealms: true,
  logLevel: 'debug',
  logTo: { write: (line) => void lines.push(line) },
  caller: SYSTEM,
})
afterAll(() => server.close())

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const get = (headers: Record<string, string> = {}, url = '/health/live') => server.inject({ url, headers })
const readLog = () => lines.splice(0).map((line) => JSON.parse(line))

test('a response has the request id of the request if it is valid, else a new one', async () => {
  expect((await get({ 'x-request-id': 'edge:1234/ab-c' })).headers['x-request-id']).toBe('edge:1234/ab-c')
  for (const id of ['', 'a b', 'ä', `${'x'.repeat(129)}`, '<script>'])
    expect((await get({ 'x-request-id': id })).headers['x-request-id'], id).toMatch(UUID)
  const ids = [await get(), await get()].map(({ headers }) => headers['x-request-id'])
  expect(new Set(ids).size).toBe(2)
  expect((await get({ 'x-request-id': 'r-1' }, '/nowhere')).headers['x-request-id']).toBe('r-1')
})

test('an unexpected error has the request id in its body and, with the trace, in the log', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`
  readLog()
  const response = await get({ 'x-request-id': 'r-2', traceparent }, '/')
  expect(response.statusCode).toBe(500)
  expect(response.json()).toEqual({
    error: 'unknown_error',
    error_description: 'For more on this error consult the server log: r-2',
  })
  expect(readLog()).toMatchObject([
    { level: 50, requestId: 'r-2', traceId, spanId: 'b7ad6b7169203331', msg: 'no realms' },
  ])
})

test('an unexpected error after the body of a request was read has the request id in the log', async () => {
  readLog()
  const payload = { clientId: 'shop' }
  const headers = { 'x-request-id': 'r-3' }
  const response = await server.inject({ method: 'POST', url: '/admin/realms/master/clients', headers, payload })
  expect(response.statusCode).toBe(500)
  expect(readLog()).toMatchObject([{ level: 50, requestId: 'r-3' }])
})

test('a user event in the log has the id of its request', async () => {
  readLog()
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'nobody', password: 'x' }
  await server.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'x-request-id': 'r-4', 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
  })
  expect(readLog()).toMatchObject([{ level: 40, msg: 'LOGIN_ERROR', requestId: 'r-4' }])
})

test('an invalid traceparent is ignored', async () => {
  const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  for (const traceparent of [
    `00-${trace}-${span}`,
    `ff-${trace}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}-01-more`,
  ]) {
    readLog()
    await get({ traceparent }, '/')
    expect(readLog()[0], traceparent).not.toHaveProperty('traceId')
  }
  await get({ traceparent: `cc-${trace}-${span}-01-more` }, '/')
  expect(readLog()[0]).toHaveProperty('traceId', trace)
})
