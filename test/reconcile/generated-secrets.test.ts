// `$(generated:NAME)`: a secret that Regent makes for a source.
import { beforeEach, expect, test } from 'vitest'
import { substituteVariables } from '../../src/realm-file/substitute-variables.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const { call, realm: testRealm } = await testServer()

const client = (clientId: string, secret: string) => ({ clientId, secret })
const generated = (name: string) => `$(generated:${name})`

let realm: string
let team: string
beforeEach(() => {
  realm = newName()
  team = newName('team')
})

interface Asked {
  readonly method?: string
  readonly what?: string
  readonly token?: string
  readonly of?: string
}
const secrets = (name = '', { method = 'GET', what = '', token, of = realm }: Asked = {}) =>
  call(method, `/regent/v1/secrets/${of}${name && `/${name}${what}?source=${team}`}`, token ? { token } : {})
const live = async (clientId: string, of = realm) =>
  (await call('GET', `/admin/realms/${of}/clients?clientId=${clientId}`)).body[0].secret

test('a secret that documents name is made once, the same wherever its source names it, and kept', async () => {
  const other = newName()
  const stated = createSource(
    [
      { realm, clients: [client('shop', generated('shop')), client('till', generated('shop'))] },
      {
        realm: other,
        clients: [client('shop', generated('shop'))],
      },
    ],
    team,
  )
  await applySource(service, stated)
  const secret = await live('shop')
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(await live('till')).toBe(secret)
  expect(await planText(service, stated)).toMatch(/nothing to do/i)
  expect((await secrets()).body).toMatchObject([{ source: team, name: 'shop' }])
  expect((await secrets('shop')).body).toEqual({ value: secret })
  expect((await secrets('other')).status).toBe(404)
  expect(JSON.stringify((await call('GET', `/regent/v1/why/${realm}?path=clients/shop`)).body)).not.toContain(secret)

  // Who has one realm learns nothing of what the source of that name says elsewhere, nor does another source there.
  expect(await live('shop', other)).not.toBe(secret)
  await applySource(service, createSource([{ realm, clients: [client('desk', generated('shop'))] }], newName('team')))
  expect(await live('desk')).not.toBe(secret)
})

test('a secret that is rotated is a change at the next run, and only then', async () => {
  const stated = createSource(
    [{ realm, clients: [client('shop', generated('shop')), client('till', generated('till'))] }],
    team,
  )
  await applySource(service, stated)
  const [shop, till] = [await live('shop'), await live('till')]
  expect((await secrets('shop', { method: 'POST', what: '/rotate' })).status).toBe(204)
  expect(await live('shop')).toBe(shop)
  const { realms } = await applySource(service, stated)
  expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', key: ['shop'], changes: [{ path: 'secret' }] }])
  expect(await live('shop')).toBe((await secrets('shop')).body.value)
  expect(await live('shop')).not.toBe(shop)
  expect(await live('till')).toBe(till)
})

test('only who administers the realm sees its secrets', async () => {
  const mine = (await testRealm()).split('/').at(-1)!
  const token = await createAdminToken(mine, { clientRoles: { 'realm-management': ['realm-admin'] } })
  const stated = (of: string) => ({ realm: of, clients: [client('shop', generated('shop'))] })
  await applySource(service, createSource([stated(mine), stated(realm)], team))
  expect((await secrets('shop', { token, of: mine })).status).toBe(200)
  expect((await secrets('', { token })).status).toBe(403)
  expect((await secrets('shop', { token })).status).toBe(403)
  expect((await secrets('shop', { token, method: 'POST', what: '/rotate' })).status).toBe(403)
})

test('a generated secret has no place but where secrets have theirs', async () => {
  const stated = createSource([{ realm, clients: [{ clientId: 'shop', description: generated('shop') }] }], team)
  await expect(applySource(service, stated)).rejects.toMatchObject({
    problems: [{ message: expect.stringMatching(/client shop: description is no secret, so that /) }],
  })
})

test('where documents are read, the name stays as it is written', () => {
  const read = (text: string) =>
    substituteVariables(parseDocuments('a.yaml', text)[0]!, { env: {}, readFile: undefined, isAllowed: () => false })
      .value
  expect(read("secret: '$(generated:shop)'")).toEqual({ secret: '$(generated:shop)' })
  expect(() => read("secret: '$(generated:a b)'")).toThrow(/write a name of letters, digits/)
  expect(() => read("secret: '$(generatd:a)'")).toThrow(/did you mean \$\(generated:…\)/)
})
