// HTTPS, forwarding headers of proxies, and security headers of pages.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get, type RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { listen } from '../../src/http/server/listen.ts'
import { readFiles } from '../../src/http/server/secure-server.ts'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { createSelfSignedCertificate } from '../../src/lib/self-signed-certificate.ts'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'
import { newRealm, testService } from '../support/service.ts'

const { service } = await testService()
const { app } = await testServer()
const closeables: { close(): Promise<unknown> }[] = []
afterAll(() => Promise.all(closeables.map((closeable) => closeable.close())))

const startServer = async (options: ServerOptions) => {
  const server = await createServer(service, options)
  closeables.push(server)
  return server
}

const NEAR = '10.1.2.3'
const FAR = '203.0.113.5'

describe('sslRequired', () => {
  const httpsRequired = { status: 403, body: { error: 'invalid_request', error_description: 'HTTPS required' } }

  test.each([
    ['none', FAR, false],
    ['external', NEAR, false],
    ['external', '127.0.0.1', false],
    ['external', '::ffff:192.168.0.1', false],
    ['external', 'fd00::1', false],
    ['external', FAR, true],
    ['external', '2001:db8::1', true],
    ['all', '127.0.0.1', true],
  ])('%s: plain HTTP from %s is refused: %s', async (sslRequired, address, isRefused) => {
    const realm = await newRealm(service, { sslRequired })
    const https = await startServer({ proxies: { headers: 'xforwarded' } })
    for (const path of ['protocol/openid-connect/certs', '.well-known/openid-configuration']) {
      const url = `/realms/${realm}/${path}`
      const plain = await app.inject({ url, remoteAddress: address })
      expect(plain.statusCode, path).toBe(isRefused ? 403 : 200)
      if (isRefused) expect(plain.json()).toEqual(httpsRequired.body)
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': address }
      expect((await https.inject({ url, headers })).statusCode, path).toBe(200)
    }
  })

  test('applies to each OIDC endpoint, and the login page shows the error', async () => {
    const { name, logInAddress } = await createLoginRealm({ sslRequired: 'all' })
    for (const path of ['token', 'token/introspect', 'revoke', 'logout']) {
      const url = `/realms/${name}/protocol/openid-connect/${path}`
      const payload = 'grant_type=password&client_id=web&username=ann&password=pw&token=x&refresh_token=x'
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const response = await app.inject({ method: 'POST', url, headers, payload })
      expect({ status: response.statusCode, body: response.json() }, path).toEqual(httpsRequired)
    }
    const page = await testBrowser(app).open(logInAddress().address)
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining('HTTPS required') })
  })
})

describe('client address and issuer are those of', () => {
  const forwardingHeaders = {
    forwarded: 'for="[2001:db8::1]:4711";proto=http, for=198.51.100.7;proto=HTTPS;host="id.example:8443"',
    'x-forwarded-for': `192.0.2.1, ${FAR}`,
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'sso.example',
    'x-forwarded-port': '9443',
  }
  const direct = { issuer: 'http://server.test', address: NEAR }

  test.each<[string, ServerOptions, { issuer: string; address: string }, object?]>([
    ['the connection, without trusted proxies', {}, direct],
    [
      'X-Forwarded-For, -Proto, -Host and -Port',
      { proxies: { headers: 'xforwarded' } },
      { issuer: 'https://sso.example:9443', address: FAR },
    ],
    [
      'Forwarded',
      { proxies: { headers: 'forwarded' } },
      { issuer: 'https://id.example:8443', address: '198.51.100.7' },
    ],
    ['the connection, if the proxy is not trusted', { proxies: { headers: 'xforwarded', trusted: [FAR] } }, direct],
    [
      'Forwarded, through several trusted proxies',
      { proxies: { headers: 'forwarded', trusted: [`${NEAR}/8`, '198.51.100.0/24'] } },
      {
        issuer: 'https://id.example:8443',
        address: '2001:db8::1',
      },
    ],
    [
      'the connection, if the header is malformed',
      { proxies: { headers: 'forwarded' } },
      direct,
      { forwarded: 'for=1.2.3.4;;=' },
    ],
    [
      'X-Forwarded-For and the configured host name',
      { hostname: 'https://id.example', proxies: { headers: 'xforwarded' } },
      {
        issuer: 'https://id.example',
        address: FAR,
      },
    ],
  ])('%s', async (_, options, { issuer, address }, headers = {}) => {
    const realm = await newRealm(service, { eventsEnabled: true, sslRequired: 'none' })
    const server = await startServer(options)
    const request = { headers: { ...forwardingHeaders, host: 'server.test', ...headers }, remoteAddress: NEAR }
    const { issuer: actualIssuer } = (
      await server.inject({ ...request, url: `/realms/${realm}/.well-known/openid-configuration` })
    ).json<{ issuer: string }>()
    expect(actualIssuer).toBe(`${issuer}/realms/${realm}`)
    await server.inject({
      ...request,
      method: 'POST',
      url: `/realms/${realm}/protocol/openid-connect/token`,
      headers: { ...request.headers, 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'grant_type=password&client_id=nobody',
    })
    const { call } = await testServer()
    expect((await call('GET', `/admin/realms/${realm}/events`)).body).toMatchObject([{ ipAddress: address }])
  })
})

test('with a certificate the server listens publicly for HTTPS, and for HTTP on its own machine only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'regent-tls-'))
  closeables.push({ close: () => rm(folder, { recursive: true }) })
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const [from, until] = [new Date(Date.now() - 1000), new Date(Date.now() + 60_000)]
  const der = createSelfSignedCertificate({ name: 'localhost', ...pair, from, until })
  const certificate = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
  const files = { certificateFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
  await writeFile(files.certificateFile, certificate)
  await writeFile(files.keyFile, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const server = await startServer({})
  const listening = await listen(server, {
    host: '127.0.0.1',
    port: 0,
    https: { port: 0, readCertificate: readFiles(files) },
  })
  expect(listening.publicUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  expect(listening.localUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const realm = await newRealm(service, { sslRequired: 'all' })
  const path = `/realms/${realm}/.well-known/openid-configuration`
  const discovery = await getText(`${listening.publicUrl}${path}`, { ca: certificate, servername: 'localhost' })
  expect(JSON.parse(discovery)).toMatchObject({ issuer: `${listening.publicUrl}/realms/${realm}` })
  expect((await fetch(`${listening.localUrl}${path}`)).status).toBe(403)
})

test('a header of 40 KB returns 431', async () => {
  const address = await listen(await startServer({}), { host: '127.0.0.1', port: 0 })
  const response = await fetch(`${address.publicUrl}/health/live`, { headers: { cookie: 'x'.repeat(40_000) } })
  expect(response.status).toBe(431)
})

test('pages have the browserSecurityHeaders of the realm, and omit those that are empty', async () => {
  const { logInAddress } = await createLoginRealm({
    browserSecurityHeaders: { xFrameOptions: '', contentSecurityPolicy: "frame-ancestors 'self' https://app.example" },
  })
  const { headers } = await testBrowser(app).open(logInAddress().address)
  expect(headers['content-security-policy']).toBe("frame-ancestors 'self' https://app.example")
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers).not.toHaveProperty('x-frame-options')
  expect((await app.inject({ url: '/health/live' })).headers['x-frame-options']).toBe('SAMEORIGIN')
})

function getText(url: string, options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { ...options, agent: false }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve(text)
    }).on('error', reject)
  })
}
