// The cut-over of an application from one server to Regent, and back. The first server is a Keycloak server in REGENT_REFERENCE, or Regent itself.
import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { writeKeyStore } from '../../src/lib/key-stores/run.ts'
import { createSelfSignedCertificate } from '../../src/lib/self-signed-certificate.ts'
import { adminFlags, callAsAdmin, createCommandFolder } from '../support/cli.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const reference = process.env.REGENT_REFERENCE
const oldServer = reference ?? (await (await testServer()).listen())
const first = reference === undefined ? 'another Regent' : 'Keycloak'
const credentials = ['--from-user', 'admin', '--from-password', 'admin']
const realm = newName()
/** The host name of the realm, which moves from the first server to the second one. */
const frontendUrl = 'https://sso.example.org'
const issuer = `${frontendUrl}/realms/${realm}`
const password = 'store-password'

const cli = await createCommandFolder({ REGENT_KEYS_PASSWORD: password })
afterAll(async () => {
  await callAsAdmin(oldServer, { method: 'DELETE', path: `/${realm}` })
  await cli.remove()
})

/** Sends a request of the application to an endpoint of a server. */
async function send(server: string, endpoint: string, form: Record<string, string>, token?: string) {
  const response = await fetch(`${server}/realms/${realm}/protocol/openid-connect/${endpoint}`, {
    ...(token === undefined
      ? { method: 'POST', body: new URLSearchParams({ client_id: 'web', client_secret: 'web-secret', ...form }) }
      : { headers: { authorization: `Bearer ${token}` } }),
  })
  const text = await response.text()
  return {
    status: response.status,
    body: (text.startsWith('{') ? JSON.parse(text) : { text }) as Record<string, string>,
  }
}

const logIn = (server: string, username: string, word: string, scope = 'openid') =>
  send(server, 'token', { grant_type: 'password', username, password: word, scope })

/** Verifies a token as the application does, with the keys that a server publishes. */
const verify = (server: string, token: string) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${server}/realms/${realm}/protocol/openid-connect/certs`)), { issuer })

/** Writes the signing key of the realm to a key store, and creates the realm on the first server. */
async function createOldRealm(): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const until = new Date(Date.now() + 86_400_000)
  const certificate = createSelfSignedCertificate({ name: realm, privateKey, publicKey, from: new Date(), until })
  const key = { alias: 'signing', privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }), certificate }
  const passwords = { storePassword: password, keyPassword: password }
  const store = await writeKeyStore({ format: 'PKCS12', content: { key, trusted: [] }, passwords })
  await writeFile(join(cli.folder, 'keys.p12'), store)
  const config = {
    priority: ['200'],
    privateKey: [privateKey.export({ type: 'pkcs8', format: 'pem' })],
    certificate: [certificate.toString('base64')],
  }
  const body = {
    realm,
    enabled: true,
    attributes: { frontendUrl },
    clients: [{ clientId: 'web', secret: 'web-secret', directAccessGrantsEnabled: true, redirectUris: ['/*'] }],
    users: ['ann', 'bob'].map((username) => ({
      ...{ username, enabled: true, email: `${username}@example.org`, firstName: username, lastName: 'Example' },
      realmRoles: [`default-roles-${realm}`],
      credentials: [{ type: 'password', value: `${username}-password` }],
    })),
  }
  expect(await callAsAdmin(oldServer, { method: 'POST', path: '', body })).toMatchObject({ status: 201 })
  const provider = { name: 'own', providerId: 'rsa', providerType: 'org.keycloak.keys.KeyProvider', config }
  const created = await callAsAdmin(oldServer, { method: 'POST', path: `/${realm}/components`, body: provider })
  expect(created).toMatchObject({ status: 201 })
}

test(`an application moves from ${first} to Regent and back: signed tokens stay valid, and sessions end`, async () => {
  await createOldRealm()
  const { body: before } = await logIn(oldServer, 'ann', 'ann-password')
  const { body: offline } = await logIn(oldServer, 'ann', 'ann-password', 'openid offline_access')
  await verify(oldServer, before.access_token!)
  expect((await send(oldServer, 'userinfo', {}, before.access_token)).status).toBe(200)

  const source = [
    oldServer,
    '--realm',
    realm,
    ...credentials,
    '--keys',
    'keys.p12',
    '--key-alias',
    'signing',
    '--secrets',
  ]
  const check = await cli.run('import', ...source, '--check')
  expect(check.code, check.err).toBe(0)
  expect(check.out).toContain('passwords and other credentials of 2 users')
  expect(check.out).toMatch(/1 offline session of the client web/)
  expect(check.out).not.toContain('key of own')

  const regent = await cli.serve('--source', '')
  const imported = await cli.run('import', ...source)
  expect(imported.code, imported.err).toBe(0)
  expect(imported.out).toContain('The files contain the keys of own')
  const { payload } = await verify(regent.url, before.access_token!)
  expect(payload.preferred_username).toBe('ann')
  // What has a session on the first server ends, with the errors by which applications send users to the login.
  expect((await send(regent.url, 'userinfo', {}, before.access_token)).status).toBe(401)
  for (const token of [before.refresh_token!, offline.refresh_token!])
    expect(await send(regent.url, 'token', { grant_type: 'refresh_token', refresh_token: token })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
  expect(await logIn(regent.url, 'ann', 'ann-password')).toMatchObject({ body: { error: 'invalid_grant' } })
  const users = (await callAsAdmin<Representation[]>(regent.url, { path: `/${realm}/users` })).body
  for (const { id, username } of users) {
    const body = { type: 'password', value: `new-${username}`, temporary: false }
    await callAsAdmin(regent.url, { method: 'PUT', path: `/${realm}/users/${id}/reset-password`, body })
  }
  const { body: after } = await logIn(regent.url, 'ann', 'new-ann')
  expect((await verify(oldServer, after.access_token!)).payload.sub).toBe(payload.sub)

  await callAsAdmin(regent.url, { method: 'POST', path: `/${realm}/clients`, body: { clientId: 'added' } })
  const exported = await cli.run(
    'export',
    realm,
    '--full',
    '--secrets',
    '--ids',
    '--output',
    'json',
    ...adminFlags(regent.url),
  )
  expect(exported.code, exported.err).toBe(0)
  await writeFile(join(cli.folder, 'back.json'), exported.out)
  await callAsAdmin(oldServer, { method: 'DELETE', path: `/${realm}` })
  const body = JSON.parse(await readFile(join(cli.folder, 'back.json'), 'utf8'))
  expect(await callAsAdmin(oldServer, { method: 'POST', path: '', body })).toMatchObject({ status: 201 })
  await verify(oldServer, after.access_token!)
  await verify(oldServer, before.access_token!)
  expect(
    (await send(oldServer, 'token', { grant_type: 'refresh_token', refresh_token: after.refresh_token! })).status,
  ).toBe(400)
  const { body: back } = await logIn(oldServer, 'ann', 'new-ann')
  expect((await verify(regent.url, back.access_token!)).payload.sub).toBe(payload.sub)
  const plan = await cli.run('plan', 'back.json', '--against', oldServer, ...credentials)
  expect(plan.code, plan.err).toBe(0)
  expect(plan.out).toContain('Nothing to do.')
  if (reference !== undefined) console.log(check.out)
}, 120_000)
