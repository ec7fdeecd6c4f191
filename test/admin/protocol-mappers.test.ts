import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

const mapper = (name: string, config: Record<string, string> = {}) => ({
  name,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config,
})

const newClient = async () => make(`${await realm()}/clients`, { clientId: 'app' })

test('an update replaces the settings and keeps the name', async () => {
  const client = await newClient()
  const path = await make(`${client}/protocol-mappers/models`, mapper('aud', { a: '1', b: '2' }))
  expect((await call('PUT', path, { body: mapper('other', { b: '3' }) })).status).toBe(204)
  expect((await call('GET', path)).body).toMatchObject({ name: 'aud', config: { b: '3' } })
})

test('several mappers are created together or not at all', async () => {
  const client = await newClient()
  const path = `${client}/protocol-mappers`
  expect((await call('POST', `${path}/add-models`, { body: [mapper('one'), mapper('two')] })).status).toBe(204)
  const conflict = await call('POST', `${path}/add-models`, { body: [mapper('three'), mapper('two')] })
  expect(conflict).toMatchObject({
    status: 409,
    body: { error_description: 'Protocol mapper name must be unique per protocol' },
  })
  const names = (await call('GET', `${path}/models`)).body.map(({ name }: { name: string }) => name)
  expect(names).toEqual(['one', 'two'])
})

test('a mapper of another client returns 404', async () => {
  const path = await realm()
  const [owner, two] = [
    await make(`${path}/clients`, { clientId: '1' }),
    await make(`${path}/clients`, { clientId: '2' }),
  ]
  const id = (await make(`${owner}/protocol-mappers/models`, mapper('aud'))).split('/').at(-1)
  expect(await call('DELETE', `${two}/protocol-mappers/models/${id}`)).toMatchObject({
    status: 404,
    body: { error: 'Model not found' },
  })
  expect((await call('GET', `${owner}/protocol-mappers/models/${id}`)).status).toBe(200)
})

test('an unknown type returns 404', async () => {
  const body = { ...mapper('odd'), protocolMapper: 'constructor' }
  expect(await call('POST', `${await newClient()}/protocol-mappers/models`, { body })).toMatchObject({
    status: 404,
    body: { error: 'ProtocolMapper provider not found' },
  })
})

test('an update of a client replaces its mappers if it declares them', async () => {
  const client = await newClient()
  const retained = await make(`${client}/protocol-mappers/models`, mapper('kept', { a: '1' }))
  await make(`${client}/protocol-mappers/models`, mapper('removed'))
  await call('PUT', client, { body: { protocolMappers: [mapper('kept', { a: '2' }), mapper('new')] } })
  const mappers = (await call('GET', client)).body.protocolMappers
  expect(mappers).toMatchObject([{ name: 'kept', config: { a: '2' } }, { name: 'new' }])
  expect(mappers[0].id).toBe(retained.split('/').at(-1))
  const claims = { 'id.token.claim': 'true', 'userinfo.token.claim': 'false' }
  await call('PUT', client, { body: { protocolMappers: [mapper('kept', claims), mapper('new')] } })
  const { 'userinfo.token.claim': _, ...config } = claims
  await call('PUT', client, { body: { protocolMappers: [mapper('kept', config), mapper('new')] } })
  expect((await call('GET', client)).body.protocolMappers[0].config).toEqual(config)
  await call('PUT', client, { body: { description: 'says nothing of mappers' } })
  expect((await call('GET', client)).body.protocolMappers).toHaveLength(2)
})

test('a pairwise subject mapper gets a generated salt unless it declares one', async () => {
  const client = await newClient()
  const salted = async (name: string, config: object) => {
    const pairwise = { name, protocol: 'openid-connect', protocolMapper: 'oidc-sha256-pairwise-sub-mapper', config }
    const address = await make(`${client}/protocol-mappers/models`, pairwise)
    return (await call('GET', address)).body.config.pairwiseSubAlgorithmSalt
  }
  const [first, other] = [await salted('one', {}), await salted('other', {})]
  expect(first).toMatch(/^[\da-f-]{36}$/)
  expect(other).not.toBe(first)
  expect(await salted('declared', { pairwiseSubAlgorithmSalt: 'salt' })).toBe('salt')
})
