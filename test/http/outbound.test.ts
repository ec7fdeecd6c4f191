// Connections to hosts that realms and callers name: in production to no private address, and never to a metadata address.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createPlainServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { createOutboundGuard } from '../../src/cli/commands/serve.ts'
import { readSettings } from '../../src/config.ts'
import { createServer } from '../../src/http/server.ts'
import { createOutbound, type Outbound } from '../../src/lib/http/outbound.ts'
import { openLdapConnection } from '../../src/lib/ldap/ldap-connection.ts'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import type { FindSecretText } from '../../src/operator/cluster/cluster-cache.ts'
import type { Resource } from '../../src/operator/cluster/resource.ts'
import { type GitSourceDefaults, openFollowedRepository } from '../../src/operator/git/followed-git-source.ts'
import { parseGitSources } from '../../src/operator/git/git-source.ts'
import { parseGitAddress } from '../../src/reconcile/read/git-address.ts'
import { openGitSource } from '../../src/reconcile/read/git-source.ts'
import type { Service } from '../../src/service/context/service.ts'
import { sendOverSmtp } from '../../src/service/messages/smtp.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { hasGit } from '../support/git.ts'
import { openNewService } from '../support/service.ts'

const requests: string[] = []
const internalBody = '{"keys":[],"issuer":"internal","token_endpoint":"http://x/internal"}'
const internalServer = createPlainServer((request, response) => {
  requests.push(`${request.method} ${request.url}`)
  response.end(internalBody)
}).listen(0)
const connections: string[] = []
const mailServer = createTcpServer((socket) => {
  connections.push('mail')
  socket.destroy()
}).listen(0)
await Promise.all([once(internalServer, 'listening'), once(mailServer, 'listening')])
const getPort = (server: typeof mailServer) => (server.address() as AddressInfo).port
const port = getPort(internalServer)

const METADATA = ['169.254.169.254', '[::ffff:169.254.169.254]', '0xa9fea9fe', '[fd00:ec2::254]']
const PRIVATE = ['127.0.0.1', 'localhost', '0x7f000001', '[::1]', '[::ffff:7f00:1]']

const servers: { service: Service; close(): Promise<unknown> }[] = []
afterAll(async () => {
  for (const { service, close } of servers) {
    await close()
    await service.close()
  }
  internalServer.close()
  mailServer.close()
})

async function startServer(outbound: Outbound) {
  const service = await openNewService({ outbound })
  await bootstrap(service, { user: 'admin', password: 'admin' })
  const app = await createServer(service)
  servers.push({ service, close: () => app.close() })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const token = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: form,
    payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
  })
  const headers = { authorization: `Bearer ${token.json().access_token}` }
  const call = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) => {
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: response.statusCode, text: response.body, location: String(response.headers.location) }
  }
  const realm = `r-${randomUUID().slice(0, 8)}`
  expect((await call('POST', '/admin/realms', { realm, enabled: true, sslRequired: 'none' })).status).toBe(201)
  const admin = await call('GET', '/admin/realms/master/users?username=admin')
  await call('PUT', `/admin/realms/master/users/${JSON.parse(admin.text)[0].id}`, { email: 'a@b.example' })
  return { service, app, call, realm, path: `/admin/realms/${realm}`, form }
}

const production = await startServer(createOutbound({}))
const development = await startServer(createOutbound({ development: true }))
const allowingLoopback = await startServer(createOutbound({ allow: ['127.0.0.0/8'] }))

const importFrom = ({ call, path }: typeof production, host: string, providerId = 'oidc') =>
  call('POST', `${path}/identity-provider/import-config`, { providerId, fromUrl: `http://${host}:${port}/meta` })

/** Returns a guard that resolves every name to this address and has checked it. */
const createFixedGuard = (address: string): Outbound => ({ ...createOutbound({}), resolve: async () => address })

describe('the import of an identity provider configuration', () => {
  test.each([...PRIVATE, ...METADATA])('does not connect to %s in production', async (host) => {
    requests.length = 0
    for (const provider of ['oidc', 'saml', 'keycloak-oidc']) {
      const response = await importFrom(production, host, provider)
      expect(response.status).toBe(400)
      expect(response.text).not.toContain('internal"')
    }
    expect(requests).toEqual([])
  })

  test.each(METADATA)('does not connect to %s in development', async (host) => {
    const response = await importFrom(development, host)
    expect(response).toMatchObject({ status: 400, text: expect.stringContaining('metadata address') })
  })

  test('connects to private addresses in development, and in production to allowed ones', async () => {
    for (const server of [development, allowingLoopback])
      expect(await importFrom(server, '127.0.0.1')).toMatchObject({ status: 200 })
    expect((await importFrom(allowingLoopback, '[::1]')).status).toBe(400)
  })
})

test('keys of an identity provider are not fetched from a private address', async () => {
  const { call, path } = production
  const config = { clientId: 'x', clientSecret: 'y', useJwksUrl: 'true', jwksUrl: `http://127.0.0.1:${port}/keys` }
  const urls = { authorizationUrl: 'https://x.example/a', tokenUrl: 'https://x.example/t' }
  const provider = { alias: 'idp', providerId: 'oidc', config: { ...config, ...urls } }
  expect((await call('POST', `${path}/identity-provider/instances`, provider)).status).toBe(201)
  requests.length = 0
  const response = await call('GET', `${path}/identity-provider/instances/idp/reload-keys`)
  expect(response).toMatchObject({ status: 400, text: expect.stringContaining('is in a private network') })
  expect(requests).toEqual([])
})

describe('a client with a JWKS URL and an admin URL', () => {
  const createClient = async ({ call, path }: typeof production, clientId: string) => {
    const origin = `http://127.0.0.1:${port}`
    const attributes = { 'use.jwks.url': 'true', 'jwks.url': `${origin}/jwks/${clientId}` }
    const client = { clientId, clientAuthenticatorType: 'client-jwt', adminUrl: `${origin}/admin`, attributes }
    return (await call('POST', `${path}/clients`, client)).location
  }
  const sendAssertion = async ({ app, realm, form }: typeof production, clientId: string, kid: string) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1000)
    const aud = `http://localhost:80/realms/${realm}`
    const claims = { iss: clientId, sub: clientId, aud, jti: randomUUID(), exp: now + 30, iat: now }
    const assertion = `${part({ alg: 'RS256', kid })}.${part(claims)}.AAAA`
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    const response = await app.inject({
      method: 'POST',
      url: `/realms/${realm}/protocol/openid-connect/token`,
      headers: form,
      payload: `grant_type=client_credentials&client_assertion_type=${encodeURIComponent(type)}&client_assertion=${assertion}`,
    })
    return response.json()
  }

  test('causes no connection to a private address in production', async () => {
    const location = await createClient(production, 'c1')
    requests.length = 0
    expect(await sendAssertion(production, 'c1', 'x')).toMatchObject({ error: expect.stringContaining('client') })
    const pushed = await production.call('POST', `${new URL(location).pathname}/push-revocation`)
    expect(JSON.parse(pushed.text)).toEqual({ failedRequests: [`http://127.0.0.1:${port}/admin`] })
    const logout = await production.call('POST', `${production.path}/logout-all`)
    expect(logout.text).not.toContain('successRequests')
    expect(requests).toEqual([])
  })

  test('has its keys fetched once for several forged assertions, also if the fetch fails', async () => {
    await createClient(development, 'c2')
    requests.length = 0
    for (const kid of ['a', 'b', 'c', 'd']) await sendAssertion(development, 'c2', kid)
    expect(requests.filter((request) => request.includes('/jwks/c2'))).toHaveLength(1)
    const { call, path } = development
    const attributes = { 'use.jwks.url': 'true', 'jwks.url': `http://127.0.0.1:${getPort(mailServer)}/jwks` }
    await call('POST', `${path}/clients`, { clientId: 'c3', clientAuthenticatorType: 'client-jwt', attributes })
    connections.length = 0
    for (const kid of ['a', 'b', 'c', 'd']) await sendAssertion(development, 'c3', kid)
    expect(connections).toHaveLength(1)
  })
})

describe('a mail server', () => {
  const testConnection = ({ call, path }: typeof production, host: string, more: object = {}) =>
    call('POST', `${path}/testSMTPConnection`, { host, port: getPort(mailServer), from: 'a@b.example', ...more })

  test.each(['127.0.0.1', 'localhost', '0x7f000001', '::1', '169.254.169.254', '2852039166'])(
    'at %s gets no connection in production, and the error is the same for open and closed ports',
    async (host) => {
      connections.length = 0
      const responses = await Promise.all([
        testConnection(production, host),
        testConnection(production, host, { port: 1 }),
      ])
      expect(responses[0]!.status).toBe(400)
      expect(responses[1]!.text).toBe(responses[0]!.text)
      expect(connections).toEqual([])
    },
  )

  test('of a realm at a private address gets no email in production', async () => {
    const { service, realm, call, path } = production
    const smtpServer = { host: '127.0.0.1', port: String(getPort(mailServer)), from: 'a@b.example' }
    expect((await call('PUT', path, { smtpServer })).status).toBe(204)
    connections.length = 0
    const message = { kind: 'mail', to: 'a@b.example', template: 'emailTest' } as const
    await expect(deliverers.mail({ service, realm, message, id: 'x' })).rejects.toThrow('is in a private network')
    expect(connections).toEqual([])
  })

  test('is connected to at the checked address, without resolving its name again', async () => {
    const email = { to: 'a@b.example', id: 'x', subject: 'x', text: 'x', html: 'x' }
    const settings = { host: 'checked.invalid', port: String(getPort(mailServer)), from: 'a@b.example' }
    const service = { ...development.service, outbound: createFixedGuard('127.0.0.1') }
    connections.length = 0
    await expect(sendOverSmtp(service, { realm: development.realm, settings }, email)).rejects.toThrow(
      'the mail server does not respond',
    )
    expect(connections).toEqual(['mail'])
  })

  test('is connected to in development, but its token endpoint not at a metadata address', async () => {
    connections.length = 0
    expect((await testConnection(development, '127.0.0.1')).status).toBe(400)
    expect(connections).toEqual(['mail'])
    const token = { auth: 'true', authType: 'token', user: 'x', authTokenClientId: 'x', authTokenClientSecret: 'y' }
    const authTokenUrl = 'http://169.254.169.254/token'
    const response = await testConnection(development, '127.0.0.1', { ...token, authTokenUrl })
    expect(response.text).toContain('169.254.169.254')
  })
})

describe('an LDAP directory', () => {
  const open = (outbound: Outbound, host: string, urls: readonly string[] = []) =>
    openLdapConnection(outbound, {
      urls: [`ldap://${host}:${getPort(mailServer)}`, ...urls],
      startTls: false,
      connectTimeout: 5000,
      readTimeout: 5000,
    })

  test.each([...PRIVATE, ...METADATA])('at %s is not connected to in production', async (host) => {
    const before = connections.length
    await expect(open(createOutbound({}), host)).rejects.toMatchObject({ problem: 'refused address' })
    expect(connections).toHaveLength(before)
  })

  test.each(METADATA)('at %s is not connected to in development', async (host) => {
    await expect(open(createOutbound({ development: true }), host)).rejects.toMatchObject({
      problem: 'refused address',
    })
  })

  test('is connected to in development, and a second URL is checked like the first one', async () => {
    const before = connections.length
    const urls = [`ldap://169.254.169.254:${getPort(mailServer)}`]
    await expect(open(createOutbound({ development: true }), '127.0.0.1', urls)).rejects.toMatchObject({
      problem: 'refused address',
    })
    expect(connections).toHaveLength(before + 1)
  })
})

test('a notification of an application at a private address is dropped, but a configured webhook is sent', async () => {
  const message = { kind: 'notice', url: `http://127.0.0.1:${port}/logout`, form: {} } as const
  requests.length = 0
  const { service, realm } = production
  await expect(deliverers.notice({ service, realm, message, id: 'x' })).rejects.toThrow('is in a private network')
  expect(requests).toEqual([])
  const webhook = { kind: 'webhook', url: `http://127.0.0.1:${port}/drift`, event: 'drift', body: '{}' } as const
  await deliverers.webhook({ service, realm, message: webhook, id: 'x' })
  expect(requests).toEqual(['POST /drift'])
})

test('private addresses are allowed in development, and in production only if --outbound-allow lists them', () => {
  const requiredSettings = { database: 'postgres://x', hostname: 'https://id.example', keyFile: '/key' }
  const isAllowed = (address: string, flags: Record<string, unknown>) => {
    try {
      createOutboundGuard(readSettings(flags, {})).check(address)
      return true
    } catch {
      return false
    }
  }
  const production = { ...requiredSettings, production: true }
  const allowing = { ...production, outboundAllow: '10.1.0.0/16,fd12::/16' }
  for (const address of ['10.1.2.3', 'fd12::1'])
    expect([{}, production, allowing].map((flags) => isAllowed(address, flags))).toEqual([true, false, true])
  expect([{}, production, allowing].map((flags) => isAllowed('169.254.169.254', flags))).toEqual([false, false, false])
})

/** Opens a repository as for a RealmSource resource. */
const openRepository = (url: string, outbound: Outbound) =>
  openGitSource(parseGitAddress(url)!, { env: {}, isAllowed: () => false, outbound, keys: {} })

test.skipIf(!hasGit).each(['https://', 'ssh://git@'])(
  'git connects to the checked address, without resolving the name again: %s',
  async (prefix) => {
    const outbound = createFixedGuard('127.0.0.1')
    const source = await openRepository(`${prefix}checked.invalid:${getPort(mailServer)}/x.git`, outbound)
    connections.length = 0
    await expect(source.fetchRevision()).rejects.toThrow('git cannot list the branches and tags')
    expect(connections).toEqual(['mail'])
    await source.close()
  },
)

test.skipIf(!hasGit)('git follows no redirect of the repository of a RealmSource', async () => {
  const redirecting = createPlainServer((_request, response) =>
    response.writeHead(302, { location: `http://localhost:${port}/x.git/info/refs?service=git-upload-pack` }).end(),
  ).listen(0)
  await once(redirecting, 'listening')
  const source = await openRepository(
    `http://localhost:${getPort(redirecting)}/x.git`,
    createOutbound({ development: true }),
  )
  requests.length = 0
  await expect(source.fetchRevision()).rejects.toThrow('git cannot list the branches and tags')
  expect(requests).toEqual([])
  await source.close()
  redirecting.close()
})

test.skipIf(!hasGit).each(['ssh://git@$(id)/x.git', 'ssh://git@a;b/x.git', 'ssh://git@a%20-v/x.git'])(
  'a host of a repository that contains shell characters or options is refused: %s',
  async (url) => {
    const source = await openRepository(url, createOutbound({ development: true }))
    await expect(source.fetchRevision()).rejects.toThrow('is not a valid host name')
    await source.close()
  },
)

/** Opens the source of a RealmSource as the operator of a production server does. */
function openRealmSource(spec: object, defaults: Partial<GitSourceDefaults> = {}, artifactUrl = '') {
  const metadata = { name: 'realms', namespace: 'acme', uid: 'u', generation: 1 }
  const resource = { apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata, spec } as unknown as Resource
  const artifact = { url: artifactUrl, revision: 'main@sha1:1', digest: `sha256:${'0'.repeat(64)}` }
  const [source] = parseGitSources([resource], new Map() as unknown as FindSecretText, () => ({
    ...{ artifact, repository: 'https://git.example.com/x.git' },
  }))
  const followed = {
    fingerprint: '',
    source: source!,
    abortController: new AbortController(),
    realms: [],
    lastRequest: undefined,
  }
  return openFollowedRepository(production.service, followed, {
    defaults: { interval: 60, signersFile: undefined, readsAuthors: false, artifactHosts: [], ...defaults },
    findLatest: () => source,
    getPermissionInputs: () => {
      throw new Error('nothing was read')
    },
  })
}

test.skipIf(!hasGit)('the operator does not connect to a private address for a RealmSource', async () => {
  const repository = await openRealmSource({ url: `https://localhost:${getPort(mailServer)}/x.git` })
  connections.length = 0
  await expect(repository.read()).rejects.toThrow('is in a private network')
  expect(connections).toEqual([])
  await repository.close()
})

test('the operator downloads artifacts from private addresses only of hosts in --flux-artifact-hosts', async () => {
  const spec = { sourceRef: { kind: 'GitRepository', name: 'realms' } }
  const toUrl = (host: string) => `http://${host}:${getPort(mailServer)}/gitrepository/acme/realms/x.tar.gz`
  const read = async (url: string, artifactHosts: readonly string[]) => {
    const source = await openRealmSource(spec, { artifactHosts }, url)
    connections.length = 0
    const error = await source.read().catch((reason: Error) => reason)
    await source.close()
    return { message: String(error), connections: [...connections] }
  }
  for (const hosts of [[], ['other.example.com']])
    expect(await read(toUrl('localhost'), hosts)).toEqual({
      message: expect.stringContaining('is in a private network'),
      connections: [],
    })
  for (const host of ['localhost', '127.0.0.1']) expect((await read(toUrl(host), [host])).connections).toEqual(['mail'])
  // Flux writes host names with a dot at their end.
  expect((await read(toUrl('localhost.'), ['localhost'])).message).not.toContain('is in a private network')
})

test('a server that requires signatures of commits refuses artifacts', async () => {
  const spec = { sourceRef: { kind: 'OCIRepository', name: 'realms' } }
  await expect(openRealmSource(spec, { signersFile: 'signers' })).rejects.toThrow('(--source-signers)')
})

test
  .skipIf(!hasGit)
  .each(['https://127.0.0.1', 'https://localhost', 'https://0x7f000001', 'ssh://git@[::1]', 'git@localhost:x'])(
  'the repository of a RealmSource at %s gets no connection',
  async (address) => {
    const url = address.includes('//') ? `${address}:${getPort(mailServer)}/x.git` : address
    const source = await openRepository(url, createOutbound({}))
    connections.length = 0
    await expect(source.fetchRevision()).rejects.toThrow('is in a private network')
    expect(connections).toEqual([])
    await source.close()
  },
)
