// An empty secret is the same as none: it is never stored or compared.
import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { call, create, createRealm: newRealm } = await testServer()
const { service } = await testService()

const ask = (realm: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
  })

/** Returns the statuses for an empty secret in the form, an empty secret in the header, and no secret. */
async function statuses(realm: string, clientId: string) {
  const basic = { authorization: `Basic ${Buffer.from(`${clientId}:`).toString('base64')}` }
  const answers = [
    ask(realm, { client_id: clientId, client_secret: '' }),
    ask(realm, {}, basic),
    ask(realm, { client_id: clientId }),
  ]
  return (await Promise.all(answers)).map(({ status }) => status)
}

const REFUSED = [401, 401, 401]
const CLIENT = { clientId: 'robot', secret: '', serviceAccountsEnabled: true }

const secretOf = async (path: string) => {
  const [{ id }] = (await call('GET', `${path}/clients?clientId=robot`)).body
  return { id, ...(await call('GET', `${path}/clients/${id}/client-secret`)).body }
}

test('a client that is created with an empty secret gets a generated one', async () => {
  const path = await newRealm()
  const name = path.split('/').at(-1)!
  await create(`${path}/clients`, CLIENT)
  expect((await secretOf(path)).value).toMatch(/^\w{32}$/)
  expect(await statuses(name, 'robot')).toEqual(REFUSED)
})

test('PUT with an empty secret retains the existing one', async () => {
  const path = await newRealm()
  await create(`${path}/clients`, { ...CLIENT, secret: 'kept' })
  const { id } = await secretOf(path)
  const attributes = { 'client.secret.rotated': '' }
  expect((await call('PUT', `${path}/clients/${id}`, { body: { secret: '', attributes } })).status).toBe(204)
  expect((await secretOf(path)).value).toBe('kept')
  expect(await statuses(path.split('/').at(-1)!, 'robot')).toEqual(REFUSED)
})

test('an empty secret in a document, a new realm or a partial import is replaced by a generated one', async () => {
  const [declared, created] = [newName(), newName()]
  const document = createSource([{ realm: declared, enabled: true, clients: [CLIENT] }], `source-of-${declared}`)
  await applySource(service, document)
  const first = await secretOf(`/admin/realms/${declared}`)
  await applySource(service, document)
  expect(await secretOf(`/admin/realms/${declared}`)).toEqual(first)
  await create('/admin/realms', { realm: created, enabled: true, clients: [CLIENT] })
  const imported = await newRealm()
  const partial = { ifResourceExists: 'FAIL', clients: [CLIENT] }
  expect((await call('POST', `${imported}/partialImport`, { body: partial })).status).toBe(200)
  for (const realm of [declared, created, imported.split('/').at(-1)!]) {
    expect((await secretOf(`/admin/realms/${realm}`)).value, realm).toMatch(/^\w{32}$/)
    expect(await statuses(realm, 'robot'), realm).toEqual(REFUSED)
  }
})

test('empty secrets of identity providers and SMTP servers are not stored', async () => {
  const path = await newRealm()
  const config = {
    clientId: 'x',
    clientSecret: '',
    authorizationUrl: 'https://a.example/a',
    tokenUrl: 'https://a.example/t',
  }
  await create(`${path}/identity-provider/instances`, { alias: 'other', providerId: 'oidc', config })
  const storedConfig = (await call('GET', `${path}/identity-provider/instances/other`)).body.config
  expect(storedConfig).not.toHaveProperty('clientSecret')
  const smtpServer = { host: 'mail.example', from: 'a@b.example', auth: 'true', user: 'u', password: '' }
  expect((await call('PUT', path, { body: { smtpServer } })).status).toBe(204)
  expect((await call('GET', path)).body.smtpServer).not.toHaveProperty('password')
})

test('a client with a stored empty secret cannot authenticate by any method', async () => {
  const path = await newRealm()
  const name = path.split('/').at(-1)!
  await create(`${path}/clients`, { ...CLIENT, secret: 'first' })
  const { id } = await secretOf(path)
  await service.write(SYSTEM, name, async ({ tx, realm, vault }) => {
    const secret = JSON.stringify(vault.seal(''))
    await sql`update client set body = jsonb_set(body, '{secret}', ${secret}::jsonb)
      where realm = ${realm.number} and id = ${id}`.execute(tx)
  })
  expect(await statuses(name, 'robot')).toEqual(REFUSED)
  await call('PUT', `${path}/clients/${id}`, { body: { clientAuthenticatorType: 'client-secret-jwt' } })
  const issuer = (await call('GET', `/realms/${name}/.well-known/openid-configuration`, { token: null })).body.issuer
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: 'robot', sub: 'robot', aud: issuer, jti: newName(), iat: now, exp: now + 30 }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'HS256' })}.${part(claims)}`
  const assertion = `${text}.${createHmac('sha256', '').update(text).digest('base64url')}`
  const response = await ask(name, {
    client_id: 'robot',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  })
  expect(response).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } })
})
