// Pipelines log in by OpenID Connect tokens of their platform, or by a key, and store no secret of the server.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { federatedClient, openAssertionIssuer } from '../support/assertion-issuer.ts'
import { adminFlags, type CommandFolder, createCommandFolder, type RunningServer } from '../support/cli.ts'

const issuer = await openAssertionIssuer()

let host: CommandFolder
let server: RunningServer
let at: CommandFolder
let audience: string

const SUBJECT = 'repo:acme/realms:pull_request'
const ACCOUNT = 'system:serviceaccount:ci:regent'
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const now = () => Math.floor(Date.now() / 1000)
const write = (name: string, text: string) => writeFile(join(at.folder, name), text)

/** A realm file that declares everything that a pipeline needs to plan the realm. */
const declared = (displayName: string) => ({
  realm: 'shop',
  enabled: true,
  displayName,
  identityProviders: [
    issuer.provider,
    { alias: 'cluster', providerId: 'kubernetes', enabled: true, config: { issuer: `${issuer.url}/cluster` } },
  ],
  clients: [
    { clientId: 'regent-permissions' },
    federatedClient('pipeline', SUBJECT),
    federatedClient('job', ACCOUNT, 'cluster'),
    {
      ...{ clientId: 'robot', serviceAccountsEnabled: true, clientAuthenticatorType: 'client-jwt' },
      attributes: { 'jwt.credential.public.key': String(key.publicKey.export({ type: 'spki', format: 'pem' })) },
    },
    { clientId: 'script', serviceAccountsEnabled: true, secret: 'script-secret' },
  ],
  roles: { client: { 'regent-permissions': [{ name: 'plan-changes' }] } },
  users: ['pipeline', 'job', 'robot', 'script'].map((client) => ({
    username: `service-account-${client}`,
    enabled: true,
    serviceAccountClientId: client,
    clientRoles: { 'regent-permissions': ['plan-changes'] },
  })),
})

beforeAll(async () => {
  host = await createCommandFolder()
  server = await host.serve('--source', '', '--data', 'store')
  audience = `${server.url}/realms/shop`
  at = await createCommandFolder({
    REGENT_DATABASE: '',
    REGENT_KEY_FILE: '',
    REGENT_SERVER: server.url,
    REGENT_LOGIN_REALM: 'shop',
  })
  await write('shop.yaml', JSON.stringify(declared('Shop')))
  expect(
    await at.run('apply', 'shop.yaml', '--strict', ...adminFlags(server.url), '--login-realm', 'master'),
  ).toMatchObject({
    code: 0,
    err: '',
  })
  await write('shop.yaml', JSON.stringify(declared('Changed')))
})
afterAll(async () => {
  await at.remove()
  await host.remove()
})

/** Starts the service from which a job at GitHub requests its tokens. Returns the variables of the job, and the number of requests. */
async function openTokenService() {
  let requests = 0
  const service = createServer(async (request, response) => {
    requests += 1
    const { searchParams } = new URL(request.url!, 'http://service')
    const isAuthorized = request.headers.authorization === 'Bearer job-token' && searchParams.get('api-version') === '2'
    const value = await issuer.sign({ sub: SUBJECT, aud: searchParams.get('audience') })
    response.writeHead(isAuthorized ? 200 : 401).end(JSON.stringify(isAuthorized ? { value } : {}))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  return {
    variables: {
      REGENT_CLIENT_ID: 'pipeline',
      REGENT_OIDC_TOKEN: 'github',
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'job-token',
    },
    countRequests: () => requests,
    close: () => service.close(),
  }
}

test("the token of a job at GitHub permits its client's roles: it plans, and applies nothing", async () => {
  const { variables, countRequests, close } = await openTokenService()
  const plan = await at.shell('regent plan shop.yaml --detailed-exitcode', variables)
  expect(plan).toMatchObject({ code: 2, out: expect.stringContaining('displayName: Shop → Changed') })
  const refusal =
    'HTTP 403 Forbidden: this requires the role realm-admin of the realm, or the role admin of the master realm.\n'
  for (const command of ['regent apply shop.yaml', 'regent plan shop.yaml --save', 'regent export shop'])
    expect([command, await at.shell(command, variables)]).toEqual([command, { code: 1, out: '', err: refusal }])
  // Each command requests a token for itself.
  expect(countRequests()).toBe(4)
  expect(await at.shell('regent get shop', variables)).toMatchObject({ code: 1 })
  const withoutPermission = { ...variables, ACTIONS_ID_TOKEN_REQUEST_URL: '' }
  expect(await at.shell('regent plan shop.yaml', withoutPermission)).toMatchObject({
    code: 1,
    err: 'GitHub provides no token to this job. Give the job "permissions: id-token: write".\n',
  })
  const withWrongToken = { ...variables, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'other' }
  expect((await at.shell('regent plan shop.yaml', withWrongToken)).err).toContain(
    'GitHub returns no token (status 401)',
  )
  close()
})

test('a token in a file is refused if it has expired, is for another audience or subject, or was used before', async () => {
  const plan = () => at.run('plan', 'shop.yaml', '--client-id', 'pipeline', '--oidc-token', 'token')
  const refused: [claims: object, reason: string][] = [
    [{ exp: now() - 10 }, 'Token is not active'],
    [{ aud: 'https://other.example.org' }, 'Invalid token audience'],
    [{ sub: 'repo:acme/other:pull_request' }, 'Invalid client or Invalid client credentials'],
    [{ iss: 'https://other.example.org' }, 'Invalid client or Invalid client credentials'],
  ]
  for (const [claims, reason] of refused) {
    await write('token', await issuer.sign({ sub: SUBJECT, aud: audience, ...claims }))
    expect(await plan()).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `The client pipeline cannot log in at ${server.url}, realm shop: ${reason}. The token is from`,
      ),
    })
  }
  await write('token', await issuer.sign({ sub: SUBJECT, aud: audience }))
  expect((await plan()).code).toBe(0)
  expect(await plan()).toMatchObject({
    code: 1,
    err: `The client pipeline cannot log in at ${server.url}, realm shop: Token reuse detected. The token is from the issuer ${issuer.url}, for the audience ${audience}, about the subject ${SUBJECT}. Check that the client names its identity provider and this subject.\n`,
  })
  expect(await at.run('plan', 'shop.yaml', '--client-id', 'pipeline', '--oidc-token', 'none')).toMatchObject({
    code: 1,
    err: 'none cannot be read (ENOENT). Check --oidc-token.\n',
  })
  expect(await at.run('plan', 'shop.yaml', '--oidc-token', 'token')).toMatchObject({
    code: 1,
    err: 'An assertion needs its client. Pass --client-id (REGENT_CLIENT_ID).\n',
  })
})

test('a job at GitLab has its token in a variable', async () => {
  const sign = () => issuer.sign({ sub: SUBJECT, aud: audience })
  const client = { REGENT_CLIENT_ID: 'pipeline', REGENT_OIDC_TOKEN: 'gitlab' }
  expect((await at.shell('regent plan shop.yaml', { ...client, REGENT_ID_TOKEN: await sign() })).code).toBe(0)
  // A command with several requests uses its token once.
  expect((await at.shell('regent source list', { ...client, REGENT_ID_TOKEN: await sign() })).code).toBe(0)
  const withName = { ...client, REGENT_OIDC_TOKEN: 'gitlab:SHOP_TOKEN', SHOP_TOKEN: await sign() }
  expect((await at.shell('regent plan shop.yaml', withName)).code).toBe(0)
  expect((await at.shell('regent plan shop.yaml', client)).err).toBe(
    'The variable REGENT_ID_TOKEN has no token. In .gitlab-ci.yml, declare it in id_tokens of the job.\n',
  )
})

test('a job in Kubernetes uses the token of its service account several times', async () => {
  const claims = { iss: `${issuer.url}/cluster`, sub: ACCOUNT, aud: [audience], exp: now() + 3600 }
  await write('service-account', await issuer.sign(claims))
  for (const _use of [1, 2])
    expect(
      (await at.run('plan', 'shop.yaml', '--client-id', 'job', '--oidc-token', 'kubernetes:service-account')).code,
    ).toBe(0)
})

test('a client logs in by a private key or a secret, and its context stores neither', async () => {
  await write('key.pem', String(key.privateKey.export({ type: 'pkcs8', format: 'pem' })))
  await write('key.json', JSON.stringify(key.privateKey.export({ format: 'jwk' })))
  await write('secret', 'script-secret\n')
  const logins = [
    ['robot', '--private-key-file', 'key.pem'],
    ['robot', '--private-key-file', 'key.json'],
    ['script', '--client-secret-file', 'secret'],
  ]
  for (const [client = '', ...flags] of logins) {
    expect((await at.run('plan', 'shop.yaml', '--client-id', client, ...flags)).code).toBe(0)
    expect(await at.run('login', '--client-id', client, '--context', client, ...flags)).toMatchObject({
      code: 0,
      err: '',
    })
    expect((await at.run('plan', 'shop.yaml', '--context', client)).code).toBe(0)
  }
  const stored = await readFile(join(at.folder, 'config', 'contexts.json'), 'utf8')
  expect(JSON.parse(stored).contexts.script).toEqual({
    ...{ server: server.url, realm: 'shop', client: 'script' },
    clientSecretFile: join(at.folder, 'secret'),
  })
  expect(stored).not.toMatch(/script-secret|PRIVATE/)
  expect(
    (await at.shell('regent plan shop.yaml', { REGENT_CLIENT_ID: 'script', REGENT_CLIENT_SECRET: 'script-secret' }))
      .code,
  ).toBe(0)
  expect(
    (await at.shell('regent plan shop.yaml', { REGENT_CLIENT_ID: 'script', REGENT_CLIENT_SECRET: 'other' })).err,
  ).toContain('Check the client id, the secret and the realm.')
  expect((await at.run('login', '--client-id', 'script')).err).toContain('A context stores no secret.')
  expect((await at.run('plan', 'shop.yaml', '--client-id', 'script')).err).toContain(
    'The client script has no credentials.',
  )
})
