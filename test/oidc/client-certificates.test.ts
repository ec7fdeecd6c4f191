// Clients with TLS certificates: how they authenticate, and tokens that are bound to the certificate. RFC 8705.
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type RequestOptions, request as sendRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen } from '../../src/http/server/listen.ts'
import { readFiles } from '../../src/http/server/secure-server.ts'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { createSelfSignedCertificate } from '../../src/lib/self-signed-certificate.ts'
import { getSubjectName, isSameName } from '../../src/oidc/client-authentication/distinguished-names.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call } = await testServer()
const { service } = await testService()

/** Creates a self-signed certificate with its key, in PEM and DER. */
function createCertificate(name: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const [from, until] = [new Date(Date.now() - 60_000), new Date(Date.now() + 3_600_000)]
  const der = createSelfSignedCertificate({ name, publicKey, privateKey, from, until })
  const thumbprint = createHash('sha256').update(der).digest('base64url')
  const pem = new X509Certificate(der).toString()
  return { der, pem, thumbprint, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

const certificate = createCertificate('client.example')
const otherCertificate = createCertificate('other.example')
const BOUND = { 'tls.client.certificate.bound.access.tokens': 'true' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const PASSWORD = { grant_type: 'password', client_id: 'web', username: 'ann', password: 'pw', scope: 'openid' }

const servers: { close(): Promise<unknown> }[] = []
afterAll(() => Promise.all(servers.map((server) => server.close())))
async function startServer(options: ServerOptions) {
  const app = await createServer(service, { clientCertificates: true, ...options })
  servers.push(app)
  return app
}

/** The encodings of a certificate in the header of a proxy. */
const encodings = {
  rfc9440: ({ der }: typeof certificate) => ({ 'client-cert': `:${der.toString('base64')}:` }),
  nginx: ({ pem }: typeof certificate) => ({ 'ssl-client-cert': encodeURIComponent(pem) }),
  haproxy: ({ der }: typeof certificate) => ({ 'ssl-client-cert': der.toString('base64') }),
} as const

/** Creates a realm with the client web, and functions that call it through a proxy. */
async function createProxiedRealm(client: object, header: keyof typeof encodings = 'rfc9440') {
  const { name, path } = await createLoginRealm(
    { sslRequired: 'none' },
    { client: { directAccessGrantsEnabled: true, ...client } },
  )
  const app = await startServer({ proxies: { headers: 'xforwarded', certificateHeader: header } })
  const at = `/realms/${name}/protocol/openid-connect`
  const encode = (sent: typeof certificate | undefined) => (sent ? encodings[header](sent) : {})
  return {
    name,
    path,
    requestTokens: async (form: Record<string, string>, sent?: typeof certificate, remoteAddress = '127.0.0.1') => {
      const payload = new URLSearchParams(form).toString()
      const headers = { ...FORM, ...encode(sent) }
      const response = await app.inject({ method: 'POST', url: `${at}/token`, headers, payload, remoteAddress })
      return { status: response.statusCode, body: response.json() }
    },
    getUserInfo: async (token: string, sent?: typeof certificate) => {
      const headers = { authorization: `Bearer ${token}`, ...encode(sent) }
      return (await app.inject({ url: `${at}/userinfo`, headers })).statusCode
    },
    discover: async () => (await app.inject(`/realms/${name}/.well-known/openid-configuration`)).json(),
  }
}

describe.each(['rfc9440', 'nginx', 'haproxy'] as const)('with the header of %s', (header) => {
  test('tokens are bound to the certificate, and used with it only', async () => {
    const realm = await createProxiedRealm({ attributes: BOUND }, header)
    const missing = await realm.requestTokens(PASSWORD)
    expect(missing).toMatchObject({
      status: 400,
      body: { error_description: 'Client Certification missing for MTLS HoK Token Binding' },
    })
    const { body } = await realm.requestTokens(PASSWORD, certificate)
    const cnf = { 'x5t#S256': certificate.thumbprint }
    expect(body.token_type).toBe('Bearer')
    expect(decodeJwt(body.access_token)).toMatchObject({ typ: 'Bearer', cnf })
    expect(decodeJwt(body.refresh_token)).toMatchObject({ cnf })
    const statuses = [certificate, otherCertificate, undefined].map((sent) =>
      realm.getUserInfo(body.access_token, sent),
    )
    expect(await Promise.all(statuses)).toEqual([200, 401, 401])
    const refresh = { grant_type: 'refresh_token', client_id: 'web', refresh_token: body.refresh_token }
    expect((await realm.requestTokens(refresh, otherCertificate)).body.error_description).toBe(
      'Client certificate missing, or its thumbprint and one in the refresh token did NOT match',
    )
    expect((await realm.requestTokens(refresh)).status).toBe(400)
    expect((await realm.requestTokens(refresh, certificate)).status).toBe(200)
  })

  test('certificates count from trusted proxies only', async () => {
    const realm = await createProxiedRealm({ attributes: BOUND }, header)
    expect((await realm.requestTokens(PASSWORD, certificate, '203.0.113.5')).status).toBe(400)
    expect((await realm.requestTokens(PASSWORD, certificate, '::ffff:10.1.2.3')).status).toBe(200)
  })
})

test('an invalid header contains no certificate, and without the setting none is read', async () => {
  const realm = await createProxiedRealm({ attributes: BOUND })
  const url = `/realms/${realm.name}/protocol/openid-connect/token`
  const payload = new URLSearchParams(PASSWORD).toString()
  const valid = encodings.rfc9440(certificate)
  const app = await startServer({ proxies: { headers: 'xforwarded', certificateHeader: 'rfc9440' } })
  for (const header of ['', 'x', '::', ':AAAA:', `${valid['client-cert']},${valid['client-cert']}`]) {
    const headers = { ...FORM, 'client-cert': header }
    expect((await app.inject({ method: 'POST', url, headers, payload })).statusCode, header).toBe(400)
  }
  const plain = await startServer({ proxies: { headers: 'xforwarded' } })
  expect((await plain.inject({ method: 'POST', url, headers: { ...FORM, ...valid }, payload })).statusCode).toBe(400)
})

test('a bound token is no bearer token of the admin API without the certificate', async () => {
  const realm = await createProxiedRealm({ attributes: BOUND })
  const [role] = (await call('GET', `${realm.path}/clients?clientId=realm-management`)).body
  const admin = (await call('GET', `${realm.path}/clients/${role.id}/roles/realm-admin`)).body
  const [ann] = (await call('GET', `${realm.path}/users?username=ann`)).body
  await call('POST', `${realm.path}/users/${ann.id}/role-mappings/clients/${role.id}`, { body: [admin] })
  const { body } = await realm.requestTokens(PASSWORD, certificate)
  const app = await startServer({ proxies: { headers: 'xforwarded', certificateHeader: 'rfc9440' } })
  const get = async (headers: Record<string, string>) =>
    (await app.inject({ url: realm.path, headers: { authorization: `Bearer ${body.access_token}`, ...headers } }))
      .statusCode
  const statuses = [
    await get(encodings.rfc9440(certificate)),
    await get({}),
    await get(encodings.rfc9440(otherCertificate)),
  ]
  expect(statuses).toEqual([200, 401, 401])
})

test('a bound token is no bearer token of a request for permissions, which cannot check the certificate', async () => {
  const confidential = { publicClient: false, secret: 'secret', serviceAccountsEnabled: true }
  const realm = await createProxiedRealm({ ...confidential, authorizationServicesEnabled: true })
  const credentials = { grant_type: 'client_credentials', client_id: 'web', client_secret: 'secret' }
  const requestPermissions = async (token: string) => {
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:uma-ticket', audience: 'web' }
    const { body } = await call('POST', `/realms/${realm.name}/protocol/openid-connect/token`, {
      token,
      headers: FORM,
      body: new URLSearchParams(form).toString(),
    })
    return body.error_description
  }
  const plain = await realm.requestTokens(credentials)
  expect(await requestPermissions(plain.body.access_token)).not.toBe('Invalid bearer token')
  const [web] = (await call('GET', `${realm.path}/clients?clientId=web`)).body
  await call('PUT', `${realm.path}/clients/${web.id}`, { body: { attributes: BOUND } })
  const bound = await realm.requestTokens(credentials, certificate)
  expect(await requestPermissions(bound.body.access_token)).toBe('Invalid bearer token')
})

test('tokens from before are refused once the client requires a certificate', async () => {
  const realm = await createProxiedRealm({})
  const { body } = await realm.requestTokens(PASSWORD)
  expect(await realm.getUserInfo(body.access_token)).toBe(200)
  const [web] = (await call('GET', `${realm.path}/clients?clientId=web`)).body
  await call('PUT', `${realm.path}/clients/${web.id}`, { body: { attributes: BOUND } })
  expect(await realm.getUserInfo(body.access_token, certificate)).toBe(401)
})

describe('client-x509', () => {
  const createClient = (attributes: object) =>
    createProxiedRealm({
      publicClient: false,
      serviceAccountsEnabled: true,
      clientAuthenticatorType: 'client-x509',
      secret: 'secret',
      attributes,
    })
  const form = { grant_type: 'client_credentials', client_id: 'web' }

  test.each([
    [{ 'x509.subjectdn': 'CN=client.example' }, 200],
    [{ 'x509.subjectdn': 'cn = client.example' }, 200],
    [{ 'x509.subjectdn': 'CN=other.example' }, 401],
    [{ 'x509.subjectdn': '.*' }, 401],
    [{ 'x509.subjectdn': '' }, 401],
    [{}, 401],
    [{ 'x509.subjectdn': '(.*?)client(.*?)', 'x509.allow.regex.pattern.comparison': 'true' }, 200],
    [{ 'x509.subjectdn': 'client', 'x509.allow.regex.pattern.comparison': 'true' }, 401],
    [{ 'x509.subjectdn': '(', 'x509.allow.regex.pattern.comparison': 'true' }, 401],
  ])('authenticates a client with %j: %s', async (attributes, status) => {
    const realm = await createClient(attributes)
    expect((await realm.requestTokens(form, certificate)).status).toBe(status)
    expect((await realm.requestTokens(form)).status).toBe(401)
    expect((await realm.requestTokens({ ...form, client_secret: 'secret' })).status).toBe(401)
  })
})

test.each([
  ['C=DE\nO=Acme\\, Inc.\nCN=a', 'CN=a, O="Acme, Inc.", C=DE', 'cn=a,O=Acme\\, Inc.,C=de', true],
  ['O=x\nCN=a', 'CN=a, O=x', 'CN=a', false],
  ['O=x\nCN=a', 'CN=a, O=x', 'O=x, CN=a', false],
  ['CN=a\\, O=x', 'CN="a, O=x"', 'CN=a, O=x', false],
  ['emailAddress=a@b\nCN=\\C3\\A4', 'CN=ä, EMAILADDRESS=a@b', 'CN=ä,E=a@b', true],
  ['CN=a', 'CN=a', 'nonsense', false],
])('the subject %j is %j for Java, and is compared with %j: %s', (subject, java, expected, isSame) => {
  expect(getSubjectName({ subject })).toBe(java)
  expect(isSameName(java, expected)).toBe(isSame)
})

describe('over HTTPS', () => {
  let address = ''
  let folder = ''
  let realm: Awaited<ReturnType<typeof createLoginRealm>>
  beforeAll(async () => {
    realm = await createLoginRealm({}, { client: { directAccessGrantsEnabled: true, attributes: BOUND } })
    folder = await mkdtemp(join(tmpdir(), 'certificates-'))
    const serverCertificate = createCertificate('localhost')
    const files = {
      certificateFile: join(folder, 'cert'),
      keyFile: join(folder, 'key'),
      clientCaFile: join(folder, 'ca'),
    }
    await writeFile(files.certificateFile, serverCertificate.pem)
    await writeFile(files.keyFile, serverCertificate.key)
    await writeFile(files.clientCaFile, certificate.pem)
    const app = await startServer({})
    const { clientCaFile } = files
    const https = { readCertificate: readFiles(files), clientCaFile, port: 0, isClientOptional: true }
    address = (await listen(app, { host: '127.0.0.1', port: 0, https })).publicUrl
  })
  afterAll(() => rm(folder, { recursive: true }))

  const requestTokens = (options: RequestOptions) =>
    new Promise<number | undefined>((resolve, reject) => {
      const url = `${address}/realms/${realm.name}/protocol/openid-connect/token`
      const sent = sendRequest(url, { method: 'POST', headers: FORM, rejectUnauthorized: false, ...options })
      sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject)
      sent.end(new URLSearchParams(PASSWORD).toString())
    })

  test('a certificate of a trusted CA counts, and another one does not', async () => {
    expect(await requestTokens({ cert: certificate.pem, key: certificate.key })).toBe(200)
    expect(await requestTokens({ cert: otherCertificate.pem, key: otherCertificate.key })).toBe(400)
    expect(await requestTokens({})).toBe(400)
    expect(await requestTokens({ headers: { ...FORM, ...encodings.rfc9440(certificate) } })).toBe(400)
  })
})

test('discovery announces certificates only where the server accepts them', async () => {
  const realm = await createProxiedRealm({})
  const document = await realm.discover()
  expect(document.tls_client_certificate_bound_access_tokens).toBe(true)
  expect(document.mtls_endpoint_aliases.token_endpoint).toBe(document.token_endpoint)
  expect(document.token_endpoint_auth_methods_supported).toContain('tls_client_auth')
  const plain = (await call('GET', `/realms/${realm.name}/.well-known/openid-configuration`, { token: null })).body
  expect(plain).not.toHaveProperty('mtls_endpoint_aliases')
  expect(plain.token_endpoint_auth_methods_supported).not.toContain('tls_client_auth')
})
