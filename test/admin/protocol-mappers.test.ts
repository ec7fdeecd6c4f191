// Protocol mappers of clients over REST.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const toMapper = (name: string, config: Record<string, string> = {}) => ({
  name,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config,
})

const createClient = async () => create(`${await createRealm()}/clients`, { clientId: 'app' })

test('PUT replaces the settings of a mapper, and does not change its name', async () => {
  const client = await createClient()
  const path = await create(`${client}/protocol-mappers/models`, toMapper('aud', { a: '1', b: '2' }))
  expect((await call('PUT', path, { body: toMapper('other', { b: '3' }) })).status).toBe(204)
  expect((await call('GET', path)).body).toMatchObject({ name: 'aud', config: { b: '3' } })
})

test('add-models creates all mappers, or none if a name exists', async () => {
  const client = await createClient()
  const path = `${client}/protocol-mappers`
  expect((await call('POST', `${path}/add-models`, { body: [toMapper('first'), toMapper('second')] })).status).toBe(204)
  const conflict = await call('POST', `${path}/add-models`, { body: [toMapper('third'), toMapper('second')] })
  expect(conflict).toMatchObject({
    status: 409,
    body: { error_description: 'Protocol mapper name must be unique per protocol' },
  })
  const names = (await call('GET', `${path}/models`)).body.map(({ name }: { name: string }) => name)
  expect(names).toEqual(['first', 'second'])
})

test('DELETE of a mapper below another client returns 404, and does not delete it', async () => {
  const path = await createRealm()
  const [client, otherClient] = [
    await create(`${path}/clients`, { clientId: '1' }),
    await create(`${path}/clients`, { clientId: '2' }),
  ]
  const id = (await create(`${client}/protocol-mappers/models`, toMapper('aud'))).split('/').at(-1)
  expect(await call('DELETE', `${otherClient}/protocol-mappers/models/${id}`)).toMatchObject({
    status: 404,
    body: { error: 'Model not found' },
  })
  expect((await call('GET', `${client}/protocol-mappers/models/${id}`)).status).toBe(200)
})

test('POST of a mapper with an unknown type returns 404', async () => {
  const body = { ...toMapper('unknown'), protocolMapper: 'constructor' }
  expect(await call('POST', `${await createClient()}/protocol-mappers/models`, { body })).toMatchObject({
    status: 404,
    body: { error: 'ProtocolMapper provider not found' },
  })
})

test('PUT of a client replaces its mappers if the body has them, and mappers of the same name have the same id', async () => {
  const client = await createClient()
  const mapperPath = await create(`${client}/protocol-mappers/models`, toMapper('existing', { a: '1' }))
  await create(`${client}/protocol-mappers/models`, toMapper('removed'))
  await call('PUT', client, { body: { protocolMappers: [toMapper('existing', { a: '2' }), toMapper('new')] } })
  const mappers = (await call('GET', client)).body.protocolMappers
  expect(mappers).toMatchObject([{ name: 'existing', config: { a: '2' } }, { name: 'new' }])
  expect(mappers[0].id).toBe(mapperPath.split('/').at(-1))
  const claims = { 'id.token.claim': 'true', 'userinfo.token.claim': 'false' }
  await call('PUT', client, { body: { protocolMappers: [toMapper('existing', claims), toMapper('new')] } })
  const { 'userinfo.token.claim': _, ...config } = claims
  await call('PUT', client, { body: { protocolMappers: [toMapper('existing', config), toMapper('new')] } })
  expect((await call('GET', client)).body.protocolMappers[0].config).toEqual(config)
  await call('PUT', client, { body: { description: 'Without mappers' } })
  expect((await call('GET', client)).body.protocolMappers).toHaveLength(2)
})

test('a new pairwise subject mapper without a salt gets a generated one', async () => {
  const client = await createClient()
  const createSalt = async (name: string, config: object) => {
    const pairwise = { name, protocol: 'openid-connect', protocolMapper: 'oidc-sha256-pairwise-sub-mapper', config }
    const address = await create(`${client}/protocol-mappers/models`, pairwise)
    return (await call('GET', address)).body.config.pairwiseSubAlgorithmSalt
  }
  const [first, second] = [await createSalt('first', {}), await createSalt('second', {})]
  expect(first).toMatch(/^[\da-f-]{36}$/)
  expect(second).not.toBe(first)
  expect(await createSalt('declared', { pairwiseSubAlgorithmSalt: 'salt' })).toBe('salt')
})

test('mappers of unknown types are not listed, and remain in the client', async () => {
  const mapper = { name: 'custom', protocol: 'openid-connect', protocolMapper: 'custom-mapper', config: {} }
  const standard = { ...mapper, name: 'standard', protocolMapper: 'oidc-hardcoded-claim-mapper' }
  const path = await createRealm({ clients: [{ clientId: 'app', protocolMappers: [mapper, standard] }] })
  const [{ id }] = (await call('GET', `${path}/clients?clientId=app`)).body
  const list = async (address: string) =>
    (await call('GET', `${path}/clients/${id}/${address}`)).body.map(({ name }: { name: string }) => name)
  expect(await list('protocol-mappers/models')).toEqual(['standard'])
  expect(await list('protocol-mappers/protocol/openid-connect')).toEqual(['standard'])
  expect((await call('GET', `${path}/clients/${id}`)).body.protocolMappers).toMatchObject([mapper, standard])
})
