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

test('an update replaces the settings and leaves the name', async () => {
  const client = await newClient()
  const path = await make(`${client}/protocol-mappers/models`, mapper('aud', { a: '1', b: '2' }))
  expect((await call('PUT', path, { body: mapper('other', { b: '3' }) })).status).toBe(204)
  expect((await call('GET', path)).body).toMatchObject({ name: 'aud', config: { b: '3' } })
})

test('several mappers are made at once or not at all', async () => {
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

test('a mapper of another client is not found', async () => {
  const path = await realm()
  const [one, two] = [
    await make(`${path}/clients`, { clientId: '1' }),
    await make(`${path}/clients`, { clientId: '2' }),
  ]
  const id = (await make(`${one}/protocol-mappers/models`, mapper('aud'))).split('/').at(-1)
  expect(await call('DELETE', `${two}/protocol-mappers/models/${id}`)).toMatchObject({
    status: 404,
    body: { error: 'Model not found' },
  })
  expect((await call('GET', `${one}/protocol-mappers/models/${id}`)).status).toBe(200)
})

test('a type that does not exist is refused', async () => {
  const body = { ...mapper('odd'), protocolMapper: 'constructor' }
  expect(await call('POST', `${await newClient()}/protocol-mappers/models`, { body })).toMatchObject({
    status: 404,
    body: { error: 'ProtocolMapper provider not found' },
  })
})

test('an update of a client that states its mappers makes them so', async () => {
  const client = await newClient()
  const kept = await make(`${client}/protocol-mappers/models`, mapper('kept', { a: '1' }))
  await make(`${client}/protocol-mappers/models`, mapper('gone'))
  await call('PUT', client, { body: { protocolMappers: [mapper('kept', { a: '2' }), mapper('new')] } })
  const mappers = (await call('GET', client)).body.protocolMappers
  expect(mappers).toMatchObject([{ name: 'kept', config: { a: '2' } }, { name: 'new' }])
  expect(mappers[0].id).toBe(kept.split('/').at(-1))
  const claims = { 'id.token.claim': 'true', 'userinfo.token.claim': 'false' }
  await call('PUT', client, { body: { protocolMappers: [mapper('kept', claims), mapper('new')] } })
  const { 'userinfo.token.claim': _, ...stated } = claims
  await call('PUT', client, { body: { protocolMappers: [mapper('kept', stated), mapper('new')] } })
  expect((await call('GET', client)).body.protocolMappers[0].config).toEqual(stated)
  await call('PUT', client, { body: { description: 'says nothing of mappers' } })
  expect((await call('GET', client)).body.protocolMappers).toHaveLength(2)
})

test('a mapper of pairwise subjects gets a salt of its own, unless it states one', async () => {
  const client = await newClient()
  const salted = async (name: string, config: object) => {
    const pairwise = { name, protocol: 'openid-connect', protocolMapper: 'oidc-sha256-pairwise-sub-mapper', config }
    const made = await make(`${client}/protocol-mappers/models`, pairwise)
    return (await call('GET', made)).body.config.pairwiseSubAlgorithmSalt
  }
  const [one, other] = [await salted('one', {}), await salted('other', {})]
  expect(one).toMatch(/^[\da-f-]{36}$/)
  expect(other).not.toBe(one)
  expect(await salted('stated', { pairwiseSubAlgorithmSalt: 'salt' })).toBe('salt')
})
