// Client scopes over REST.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listLatestEntries } from '../../src/service/journal/journal.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()

test('a client scope is created, read, updated and deleted', async () => {
  const scope = await create(`${await createRealm()}/client-scopes`, { name: 'orders', protocol: 'openid-connect' })
  expect((await call('GET', scope)).body).toEqual({
    id: scope.split('/').at(-1),
    name: 'orders',
    protocol: 'openid-connect',
    attributes: {},
  })
  expect((await call('PUT', scope, { body: { name: 'orders', description: 'Orders' } })).status).toBe(204)
  expect((await call('GET', scope)).body).toMatchObject({ description: 'Orders', protocol: 'openid-connect' })
  expect((await call('DELETE', scope)).status).toBe(204)
  expect(await call('GET', scope)).toMatchObject({ status: 404, body: { error: 'Could not find client scope' } })
})

test('null in a body is the same as an absent field', async () => {
  const body = { name: 'orders', protocol: 'openid-connect', description: null, attributes: { a: null, b: '1' } }
  const scope = await create(`${await createRealm()}/client-scopes`, body)
  expect((await call('GET', scope)).body).toMatchObject({ attributes: { b: '1' } })
  await call('PUT', scope, { body: { name: null, description: 'Orders', attributes: { b: null, c: '2' } } })
  expect((await call('GET', scope)).body).toMatchObject({
    name: 'orders',
    description: 'Orders',
    attributes: { c: '2' },
  })
})

test('a new client scope is created with its protocol mappers', async () => {
  const mapper = { name: 'aud', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config: { a: 'b' } }
  const body = { name: 'orders', protocol: 'openid-connect', protocolMappers: [mapper] }
  const scope = await create(`${await createRealm()}/client-scopes`, body)
  expect((await call('GET', scope)).body.protocolMappers).toMatchObject([mapper])
})

test('a client scope is also available below client-templates', async () => {
  const path = await createRealm()
  const scope = await create(`${path}/client-templates`, { name: 'orders', protocol: 'saml' })
  expect(scope).toContain('/client-templates/')
  expect((await call('GET', scope.replace('client-templates', 'client-scopes'))).status).toBe(200)
})

test('a list takes the same number of statements for any number of client scopes', async () => {
  const path = `${await createRealm()}/client-scopes`
  const { statements } = await testService()
  // The first call after the creation of a realm re-reads the keys of master.
  await call('GET', path)
  const before = await statements(() => call('GET', path))
  for (const name of ['one', 'two', 'three']) await create(path, { name, protocol: 'openid-connect' })
  const after = await statements(() => call('GET', path))
  expect(after.length).toBe(before.length)
})

test('the creation of a client scope is in the journal, with the administrator as actor', async () => {
  const { service } = await testService()
  const path = await createRealm()
  const scope = await create(`${path}/client-scopes`, { name: 'orders', protocol: 'openid-connect' })
  const object = scope.split('/').at(-1)!
  const entries = await service.read(SYSTEM, path.split('/').at(-1)!, (context) =>
    listLatestEntries(context, [{ kind: 'clientScope', object }]),
  )
  expect(entries).toMatchObject([
    { operation: 'create', key: ['orders'], actor: { kind: 'administrator', user: 'admin', client: 'admin-cli' } },
  ])
})
