// Limits of requests: a body of an unauthenticated caller is read up to a limit, and a larger one closes the connection.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { listen } from '../../src/http/server/listen.ts'
import { createServer } from '../../src/http/server.ts'
import { signWebhook } from '../../src/lib/webhook-signature.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const MB = 1024 * 1024
const { service } = await testService()
const { adminToken, createRealm } = await testServer()
const master = '/realms/master'
const openid = `${master}/protocol/openid-connect`

const pushed: string[][] = []
const webhook = { all: { secret: 'hook', pushed: (urls: readonly string[]) => pushed.push([...urls]) } }
const app = await createServer(service, { basePath: '/v1', metrics: true, webhook })
const sockets = new Set<Socket>()
let port = 0
beforeAll(async () => {
  app.server.on('connection', (socket) => sockets.add(socket))
  port = Number(new URL((await listen(app, { host: '127.0.0.1', port: 0 })).localUrl).port)
})
afterAll(() => app.close())

interface FloodRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: readonly string[]
  readonly chunked?: boolean | undefined
  readonly type?: string
  readonly size?: number
}

/** Sends a body, of 64 MB by default. Returns the response and the number of bytes that the server read from the socket. */
async function flood({
  method = 'POST',
  path,
  headers = [],
  chunked,
  type = 'application/json',
  size = 64 * MB,
}: FloodRequest) {
  sockets.clear()
  const socket = connect(port, '127.0.0.1')
  const length = chunked ? 'transfer-encoding: chunked' : `content-length: ${size}`
  const head = [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1', `content-type: ${type}`, length, ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const piece = Buffer.from('0,'.repeat(32 * 1024))
  const framed = chunked ? Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]) : piece
  let text = ''
  let isOver = false
  socket.on('data', (data) => {
    text += data
  })
  const markOver = () => {
    isOver = true
  }
  socket.on('end', markOver).on('error', markOver).on('close', markOver)
  for (let sent = 0; sent < size && !isOver; sent += piece.length) {
    if (!socket.write(framed)) await Promise.race([once(socket, 'drain').catch(markOver), waitFor(() => isOver)])
  }
  await waitFor(() => isOver)
  const [accepted] = sockets
  const read = accepted!.bytesRead
  socket.destroy()
  return { status: Number(text.split(' ')[1]), closes: /^connection: close\r$/im.test(text), read, body: text }
}

async function waitFor(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !condition(); tries++) await setTimeout(10)
}

/** The limit of an unauthenticated body, plus one read of the socket, in bytes. */
const MAX_READ = (32 + 64) * 1024

describe.each([false, true])('with chunked transfer encoding: %s', (chunked) => {
  test.each<[number, string, string, string?]>([
    [404, 'POST', '/nonexistent'],
    [404, 'PUT', '/realms/master/nonexistent'],
    [404, 'POST', '/metrics'],
    [404, 'POST', '/health/ready'],
    [200, 'GET', '/health/live'],
    [200, 'GET', '/openapi.json'],
    [200, 'GET', master],
    [400, 'POST', '/%'],
    [413, 'POST', `${openid}/token`, 'application/x-www-form-urlencoded'],
    [413, 'POST', `${openid}/token`],
    [413, 'POST', `${openid}/userinfo`],
    [413, 'POST', `${openid}/logout`, 'application/x-www-form-urlencoded'],
    [413, 'POST', `${master}/login-actions/authenticate`, 'application/x-www-form-urlencoded'],
    [401, 'POST', '/admin/realms'],
    [401, 'PUT', '/admin/realms/master'],
    [401, 'DELETE', '/admin/realms/master'],
    [401, 'PATCH', '/admin/realms'],
    [401, 'POST', '/admin/realms/master/partialImport'],
    [401, 'POST', '/v1'],
    [401, 'POST', '/regent/v1/plan'],
    [401, 'POST', '/regent/v1/apply'],
    [401, 'GET', '/admin/realms'],
    [401, 'POST', '/regent/v1/webhook'],
  ])('%d for %s %s, which reads at most its limit and closes the connection', async (status, method, path, type) => {
    const response = await flood({ method, path, chunked, ...(type && { type }) })
    expect(response).toMatchObject({ status, closes: true })
    expect(response.read).toBeLessThanOrEqual(MAX_READ)
  })

  test('a malformed bearer token returns 401 before the body is read', async () => {
    const response = await flood({ path: '/regent/v1/apply', chunked, headers: ['authorization: Bearer a.b.c'] })
    expect(response).toMatchObject({ status: 401, closes: true })
    expect(response.read).toBeLessThanOrEqual(MAX_READ)
  })

  test('an operation without a body returns 413 to an authenticated caller who sends one', async () => {
    const headers = [`authorization: Bearer ${await adminToken()}`]
    for (const [method, path] of [
      ['PUT', '/admin/serverinfo'],
      ['PUT', '/admin/realms/master/credential-registrators'],
    ] as const) {
      const response = await flood({ method, path, chunked, headers })
      expect(response, path).toMatchObject({ status: 413, closes: true })
      expect(response.read).toBeLessThanOrEqual(MAX_READ)
    }
  })

  test('a caller without admin permissions gets 403 before the body is read', async () => {
    const headers = [`authorization: Bearer ${await createAdminToken('master', {})}`]
    for (const [method, path] of [
      ['POST', '/admin/realms'],
      ['POST', '/admin/realms/master/partialImport'],
      ['GET', '/admin/realms'],
      ['POST', '/regent/v1/apply'],
    ] as const) {
      const response = await flood({ method, path, chunked, headers })
      expect(response, path).toMatchObject({ status: 403, closes: true })
      expect(response.read).toBeLessThanOrEqual(MAX_READ)
    }
  })
})

test('an administrator may import 64 MB, with and without chunked encoding', async () => {
  const path = await createRealm()
  const last = '"users":[{"username":"last"}]'
  const body = Buffer.from(`{"ifResourceExists":"SKIP","id":"${'x'.repeat(63 * MB)}",${last}}`)
  for (const stream of [false, true]) {
    const response = await fetch(`http://127.0.0.1:${port}${path}/partialImport`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await adminToken()}`, 'content-type': 'application/json' },
      ...(stream ? { body: new Blob([body]).stream(), duplex: 'half' } : { body }),
    })
    expect(await response.json()).toMatchObject(stream ? { skipped: 1 } : { added: 1 })
  }
})

test('a body of 65 MB returns 413 to an administrator', async () => {
  const headers = [`authorization: Bearer ${await adminToken()}`]
  const path = '/admin/realms/master/partialImport'
  const response = await flood({ path, headers, size: 65 * MB })
  expect(response).toMatchObject({ status: 413, closes: true })
  expect(response.read).toBeLessThanOrEqual(MAX_READ)
})

test('a small body that is not read leaves the connection open', async () => {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  for (let times = 1; times <= 2; times++) {
    socket.write('POST /nonexistent HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\n')
    await setTimeout(50)
    socket.write('abc')
    await waitFor(() => text.split('HTTP/1.1 404').length > times)
  }
  expect(text.split('HTTP/1.1 404')).toHaveLength(3)
  expect(text).not.toMatch(/connection: close/i)
  socket.destroy()
})

test('an unauthenticated body that takes 30 seconds closes the connection', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    for (const path of [`${openid}/token`, '/nonexistent', '/regent/v1/apply']) {
      const socket = connect(port, '127.0.0.1')
      const form = 'content-type: application/x-www-form-urlencoded'
      const request = once(app.server, 'request')
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${form}\r\ncontent-length: 10\r\n\r\nabc`)
      await request
      const closed = once(socket, 'close')
      socket.resume()
      vi.advanceTimersByTime(30_000)
      await closed
    }
  } finally {
    vi.useRealTimers()
  }
})

test('the body of an authenticated caller may take longer than 30 seconds', async () => {
  const authorization = `authorization: Bearer ${await adminToken()}`
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const socket = connect(port, '127.0.0.1')
    const json = 'content-type: application/json\r\ncontent-length: 2\r\nexpect: 100-continue'
    socket.write(`POST /admin/realms HTTP/1.1\r\nhost: x\r\n${authorization}\r\n${json}\r\n\r\n`)
    // The server sends 100 Continue after it has authenticated the caller.
    const [continueResponse] = await once(socket, 'data')
    expect(String(continueResponse)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    vi.advanceTimersByTime(60_000)
    socket.write('{}')
    const closed = once(socket, 'close').then(() => ['closed'])
    const [response] = await Promise.race([once(socket, 'data'), closed])
    expect(String(response)).toMatch(/^HTTP\/1\.1 400 /)
    socket.destroy()
  } finally {
    vi.useRealTimers()
  }
})

test('headers must arrive within 20 seconds, and whole requests within five minutes', async () => {
  expect(app.server).toMatchObject({ headersTimeout: 20_000, requestTimeout: 300_000 })
})

test('Expect: 100-continue gets the error at once if the request would be refused', async () => {
  const getStatusLine = async (path: string) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    const form = 'content-type: application/x-www-form-urlencoded'
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${form}\r\ncontent-length: 10\r\nexpect: 100-continue\r\n\r\n`)
    await waitFor(() => text !== '')
    socket.destroy()
    return text.split('\r\n')[0]
  }
  expect(await getStatusLine('/admin/realms')).toBe('HTTP/1.1 401 Unauthorized')
  expect(await getStatusLine(`${openid}/token`)).toBe('HTTP/1.1 100 Continue')
})

describe('webhooks', () => {
  const path = '/regent/v1/webhook'
  const body = Buffer.from(
    JSON.stringify({ repository: { clone_url: 'https://git.example/a.git', x: 'y'.repeat(MB) } }),
  )
  const signature = { 'x-hub-signature-256': signWebhook(body, 'hook') }
  const post = (headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })

  test('a fifth concurrent body returns 503, and a signed body is accepted afterwards', async () => {
    const forged = `x-hub-signature-256: sha256=${'0'.repeat(64)}`
    const openSockets = Array.from({ length: 4 }, () => connect(port, '127.0.0.1'))
    for (const socket of openSockets)
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${forged}\r\ncontent-length: 1000000\r\n\r\n`)
    await setTimeout(200)
    expect((await post(signature)).status).toBe(503)
    for (const socket of openSockets) socket.destroy()
    await setTimeout(200)
    expect((await post(signature)).status).toBe(202)
    expect(pushed).toEqual([['https://git.example/a.git']])
  })

  test('a body of 64 MB returns 413', async () => {
    const response = await flood({ path, headers: [`x-hub-signature-256: sha256=${'0'.repeat(64)}`] })
    expect(response).toMatchObject({ status: 413, closes: true })
    expect(response.read).toBeLessThanOrEqual(MAX_READ)
  })
})

test('a form of 501 fields is refused, and one of 500 is accepted', async () => {
  const post = (fields: number) =>
    fetch(`http://127.0.0.1:${port}${openid}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Array.from({ length: fields }, (_, at) => `f${at}=x`).join('&'),
    }).then((response) => response.json())
  expect(await post(501)).toMatchObject({
    error_description: expect.stringContaining('more than 500 query parameters or form fields'),
  })
  expect(await post(500)).not.toMatchObject({
    error_description: expect.stringContaining('more than 500 query parameters or form fields'),
  })
  const repeated = await fetch(`http://127.0.0.1:${port}${master}?${'a=1&'.repeat(501)}`)
  expect(repeated.status).toBe(400)
})

test('a URL or headers of more than 32 KB return 431', async () => {
  const { status } = await fetch(`http://127.0.0.1:${port}/${'a'.repeat(33 * 1024)}`)
  expect(status).toBe(431)
  const cookie = await fetch(`http://127.0.0.1:${port}${master}`, { headers: { cookie: 'a=b; '.repeat(7 * 1024) } })
  expect(cookie.status).toBe(431)
})
