// Where the server connects to for realms and callers, in production: to no private address, and never to one of metadata.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createPlainServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { createOutboundGuard } from '../../src/cli/commands/serve.ts'
import { readSettings } from '../../src/config.ts'
import { createServer } from '../../src/http/server.ts'
import { createOutbound, type Outbound } from '../../src/lib/http/outbound.ts'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import type { Secrets } from '../../src/operator/documents.ts'
import { openEntry } from '../../src/operator/git/entry.ts'
import { gitSources } from '../../src/operator/git/stated.ts'
import type { Resource } from '../../src/operator/resource.ts'
import { parseGitAddress } from '../../src/reconcile/read/git-address.ts'
import { openGitSource } from '../../src/reconcile/read/git-source.ts'
import type { Service } from '../../src/service/context/service.ts'
import { sendOverSmtp } from '../../src/service/messages/smtp.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { hasGit } from '../support/git.ts'
import { openNewService } from '../support/service.ts'

const asked: string[] = []
const keys = '{"keys":[],"issuer":"internal","token_endpoint":"http://x/internal"}'
const inside = createPlainServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  response.end(keys)
}).listen(0)
const connections: string[] = []
const mailServer = createTcpServer((socket) => {
  connections.push('mail')
  socket.destroy()
}).listen(0)
await Promise.all([once(inside, 'listening'), once(mailServer, 'listening')])
const portOf = (server: typeof mailServer) => (server.address() as AddressInfo).port
const port = portOf(inside)

const METADATA = ['169.254.169.254', '[::ffff:169.254.169.254]', '0xa9fea9fe', '[fd00:ec2::254]']
const PRIVATE = ['127.0.0.1', 'localhost', '0x7f000001', '[::1]', '[::ffff:7f00:1]']

const opened: { service: Service; close(): Promise<unknown> }[] = []
afterAll(async () => {
  for (const { service, close } of opened) {
    await close()
    await service.close()
  }
  inside.close()
  mailServer.close()
})

async function serverWith(outbound: Outbound) {
  const service = await openNewService({ outbound })
  await bootstrap(service, { user: 'admin', password: 'admin' })
  const app = await createServer(service)
  opened.push({ service, close: () => app.close() })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const token = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: form,
    payload: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
  })
  const headers = { authorization: `Bearer ${token.json().access_token}` }
  const call = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) => {
    const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: answer.statusCode, text: answer.body, location: String(answer.headers.location) }
  }
  const realm = `r-${randomUUID().slice(0, 8)}`
  expect((await call('POST', '/admin/realms', { realm, enabled: true, sslRequired: 'none' })).status).toBe(201)
  const admin = await call('GET', '/admin/realms/master/users?username=admin')
  await call('PUT', `/admin/realms/master/users/${JSON.parse(admin.text)[0].id}`, { email: 'a@b.example' })
  return { service, app, call, realm, path: `/admin/realms/${realm}`, form }
}

const production = await serverWith(createOutbound({}))
const development = await serverWith(createOutbound({ development: true }))
const allowing = await serverWith(createOutbound({ allow: ['127.0.0.0/8'] }))

const importFrom = ({ call, path }: typeof production, host: string, providerId = 'oidc') =>
  call('POST', `${path}/identity-provider/import-config`, { providerId, fromUrl: `http://${host}:${port}/meta` })

/** A guard that has found and checked this address, for names that nobody else can resolve. */
const resolvesTo = (address: string): Outbound => ({ ...createOutbound({}), resolve: async () => address })

describe('the description of an identity provider', () => {
  test.each([...PRIVATE, ...METADATA])('is not read from %s in production', async (host) => {
    asked.length = 0
    for (const provider of ['oidc', 'saml', 'keycloak-oidc']) {
      const answer = await importFrom(production, host, provider)
      expect(answer.status).toBe(400)
      expect(answer.text).not.toContain('internal"')
    }
    expect(asked).toEqual([])
  })

  test.each(METADATA)('is not read from %s in development', async (host) => {
    const answer = await importFrom(development, host)
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('metadata address') })
  })

  test('is read from private addresses in development, and where they are allowed', async () => {
    for (const server of [development, allowing])
      expect(await importFrom(server, '127.0.0.1')).toMatchObject({ status: 200 })
    expect((await importFrom(allowing, '[::1]')).status).toBe(400)
  })
})

test('the keys of an identity provider are not looked for at a private address', async () => {
  const { call, path } = production
  const config = { clientId: 'x', clientSecret: 'y', useJwksUrl: 'true', jwksUrl: `http://127.0.0.1:${port}/keys` }
  const urls = { authorizationUrl: 'https://x.example/a', tokenUrl: 'https://x.example/t' }
  const provider = { alias: 'idp', providerId: 'oidc', config: { ...config, ...urls } }
  expect((await call('POST', `${path}/identity-provider/instances`, provider)).status).toBe(201)
  asked.length = 0
  const answer = await call('GET', `${path}/identity-provider/instances/idp/reload-keys`)
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('is in a private network') })
  expect(asked).toEqual([])
})

describe('a client with a key set and an administration address', () => {
  const makeClient = async ({ call, path }: typeof production, clientId: string) => {
    const at = `http://127.0.0.1:${port}`
    const attributes = { 'use.jwks.url': 'true', 'jwks.url': `${at}/jwks/${clientId}` }
    const client = { clientId, clientAuthenticatorType: 'client-jwt', adminUrl: `${at}/admin`, attributes }
    return (await call('POST', `${path}/clients`, client)).location
  }
  const assert = async ({ app, realm, form }: typeof production, clientId: string, kid: string) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const now = Math.floor(Date.now() / 1000)
    const aud = `http://localhost:80/realms/${realm}`
    const claims = { iss: clientId, sub: clientId, aud, jti: randomUUID(), exp: now + 30, iat: now }
    const assertion = `${part({ alg: 'RS256', kid })}.${part(claims)}.AAAA`
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    const answer = await app.inject({
      method: 'POST',
      url: `/realms/${realm}/protocol/openid-connect/token`,
      headers: form,
      payload: `grant_type=client_credentials&client_assertion_type=${encodeURIComponent(type)}&client_assertion=${assertion}`,
    })
    return answer.json()
  }

  test('in production nobody has the server ask a private address', async () => {
    const location = await makeClient(production, 'c1')
    asked.length = 0
    expect(await assert(production, 'c1', 'x')).toMatchObject({ error: expect.stringContaining('client') })
    const pushed = await production.call('POST', `${new URL(location).pathname}/push-revocation`)
    expect(JSON.parse(pushed.text)).toEqual({ failedRequests: [`http://127.0.0.1:${port}/admin`] })
    const logout = await production.call('POST', `${production.path}/logout-all`)
    expect(logout.text).not.toContain('successRequests')
    expect(asked).toEqual([])
  })

  test('assertions of nobody ask for the keys once in a while, whether they are there or not', async () => {
    await makeClient(development, 'c2')
    asked.length = 0
    for (const kid of ['a', 'b', 'c', 'd']) await assert(development, 'c2', kid)
    expect(asked.filter((one) => one.includes('/jwks/c2'))).toHaveLength(1)
    const { call, path } = development
    const attributes = { 'use.jwks.url': 'true', 'jwks.url': `http://127.0.0.1:${portOf(mailServer)}/jwks` }
    await call('POST', `${path}/clients`, { clientId: 'c3', clientAuthenticatorType: 'client-jwt', attributes })
    connections.length = 0
    for (const kid of ['a', 'b', 'c', 'd']) await assert(development, 'c3', kid)
    expect(connections).toHaveLength(1)
  })
})

describe('a mail server', () => {
  const testMail = ({ call, path }: typeof production, host: string, more: object = {}) =>
    call('POST', `${path}/testSMTPConnection`, { host, port: portOf(mailServer), from: 'a@b.example', ...more })

  test.each(['127.0.0.1', 'localhost', '0x7f000001', '::1', '169.254.169.254', '2852039166'])(
    'at %s is not connected to in production, whether something listens there or not',
    async (host) => {
      connections.length = 0
      const answers = await Promise.all([testMail(production, host), testMail(production, host, { port: 1 })])
      expect(answers[0]!.status).toBe(400)
      expect(answers[1]!.text).toBe(answers[0]!.text)
      expect(connections).toEqual([])
    },
  )

  test('is connected to at the address that was checked, whatever its name means by then', async () => {
    const letter = { to: 'a@b.example', id: 'x', subject: 'x', text: 'x', html: 'x' }
    const mailbox = { host: 'checked.invalid', port: String(portOf(mailServer)), from: 'a@b.example' }
    connections.length = 0
    await expect(sendOverSmtp(resolvesTo('127.0.0.1'), mailbox, letter)).rejects.toThrow(
      'the mail server does not respond',
    )
    expect(connections).toEqual(['mail'])
  })

  test('in development is connected to, and its server of access tokens is guarded too', async () => {
    connections.length = 0
    expect((await testMail(development, '127.0.0.1')).status).toBe(400)
    expect(connections).toEqual(['mail'])
    const token = { auth: 'true', authType: 'token', user: 'x', authTokenClientId: 'x', authTokenClientSecret: 'y' }
    const authTokenUrl = 'http://169.254.169.254/token'
    const answer = await testMail(development, '127.0.0.1', { ...token, authTokenUrl })
    expect(answer.text).toContain('169.254.169.254')
  })
})

test('a notice to an application at a private address is dropped', async () => {
  const message = { kind: 'notice', url: `http://127.0.0.1:${port}/logout`, form: {} } as const
  asked.length = 0
  const { service, realm } = production
  await expect(deliverers.notice({ service, realm, message, id: 'x' })).rejects.toThrow('is in a private network')
  expect(asked).toEqual([])
  const webhook = { kind: 'webhook', url: `http://127.0.0.1:${port}/drift`, event: 'drift', body: '{}' } as const
  await deliverers.webhook({ service, realm, message: webhook, id: 'x' })
  expect(asked).toEqual(['POST /drift'])
})

test('the server connects to private addresses in development, in production where --outbound-allow names them', () => {
  const needed = { database: 'postgres://x', hostname: 'https://id.example', keyFile: '/key' }
  const isAllowed = (address: string, flags: Record<string, unknown>) => {
    try {
      createOutboundGuard(readSettings(flags, {})).check(address)
      return true
    } catch {
      return false
    }
  }
  const production = { ...needed, production: true }
  const allowing = { ...production, outboundAllow: '10.1.0.0/16,fd12::/16' }
  for (const address of ['10.1.2.3', 'fd12::1'])
    expect([{}, production, allowing].map((flags) => isAllowed(address, flags))).toEqual([true, false, true])
  expect([{}, production, allowing].map((flags) => isAllowed('169.254.169.254', flags))).toEqual([false, false, false])
})

/** Opens a repository as that of a resource is. */
const repositoryAt = (url: string, outbound: Outbound) =>
  openGitSource(parseGitAddress(url)!, { env: {}, isAllowed: () => false, outbound, keys: {} })

test.skipIf(!hasGit).each(['https://', 'ssh://git@'])(
  'git connects to the address that was checked, whatever the name means by then: %s',
  async (start) => {
    const outbound = resolvesTo('127.0.0.1')
    const source = await repositoryAt(`${start}checked.invalid:${portOf(mailServer)}/x.git`, outbound)
    connections.length = 0
    await expect(source.fetchCommit()).rejects.toThrow('git cannot list the branches and tags')
    expect(connections).toEqual(['mail'])
    await source.close()
  },
)

test.skipIf(!hasGit)('git follows no redirect of a repository that a resource names', async () => {
  const redirecting = createPlainServer((_request, response) =>
    response.writeHead(302, { location: `http://localhost:${port}/x.git/info/refs?service=git-upload-pack` }).end(),
  ).listen(0)
  await once(redirecting, 'listening')
  const source = await repositoryAt(
    `http://localhost:${portOf(redirecting)}/x.git`,
    createOutbound({ development: true }),
  )
  asked.length = 0
  await expect(source.fetchCommit()).rejects.toThrow('git cannot list the branches and tags')
  expect(asked).toEqual([])
  await source.close()
  redirecting.close()
})

test.skipIf(!hasGit).each(['ssh://git@$(id)/x.git', 'ssh://git@a;b/x.git', 'ssh://git@a%20-v/x.git'])(
  'the host of a repository must be a name, not part of a command: %s',
  async (url) => {
    const source = await repositoryAt(url, createOutbound({ development: true }))
    await expect(source.fetchCommit()).rejects.toThrow('is not a valid host name')
    await source.close()
  },
)

test.skipIf(!hasGit)('the repository of a RealmSource of Kubernetes is guarded', async () => {
  const { service } = production
  const metadata = { name: 'realms', namespace: 'acme', uid: 'u', generation: 1 }
  const spec = { url: `https://localhost:${portOf(mailServer)}/x.git` }
  const resource = { apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata, spec } as unknown as Resource
  const [source] = gitSources([resource], new Map() as unknown as Secrets)
  const entry = { print: '', source: source!, ending: new AbortController(), realms: [], requested: undefined }
  const repository = await openEntry(service, entry, {
    usual: { interval: 60, signers: undefined },
    latest: () => source,
    grounds: () => {
      throw new Error('nothing was read')
    },
  })
  connections.length = 0
  await expect(repository.read()).rejects.toThrow('is in a private network')
  expect(connections).toEqual([])
  await repository.close()
})

test
  .skipIf(!hasGit)
  .each(['https://127.0.0.1', 'https://localhost', 'https://0x7f000001', 'ssh://git@[::1]', 'git@localhost:x'])(
  'a repository at %s is not asked where a resource names it',
  async (address) => {
    const url = address.includes('//') ? `${address}:${portOf(mailServer)}/x.git` : address
    const source = await repositoryAt(url, createOutbound({}))
    connections.length = 0
    await expect(source.fetchCommit()).rejects.toThrow('is in a private network')
    expect(connections).toEqual([])
    await source.close()
  },
)
