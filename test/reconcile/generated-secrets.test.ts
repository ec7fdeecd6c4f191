// `$(generated:NAME)`: a secret that Regent makes for a source.
import { beforeEach, expect, test } from 'vitest'
import { parseDocuments } from '../../src/realm-file/document.ts'
import { substitute } from '../../src/realm-file/substitute.ts'
import { tokenWith } from '../support/administrators.ts'
import { applyAs, planText, source } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

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

const secrets = (path: string, method = 'GET', token?: string) =>
  call(method, `/regent/v1/secrets/${path}`, token === undefined ? {} : { token })
const live = async (clientId: string, of = realm) =>
  (await call('GET', `/admin/realms/${of}/clients?clientId=${clientId}`)).body[0].secret

test('a secret that documents name is made once, the same wherever its source names it, and kept', async () => {
  const other = newName()
  const stated = source(
    [
      { realm, clients: [client('shop', generated('shop')), client('till', generated('shop'))] },
      {
        realm: other,
        identityProviders: [
          { alias: 'up', providerId: 'oidc', config: { clientId: 'shop', clientSecret: generated('shop') } },
        ],
      },
    ],
    team,
  )
  await applyAs(service, stated)
  const secret = await live('shop')
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(await live('till')).toBe(secret)
  expect(await planText(service, stated)).toMatch(/nothing to do/i)
  expect((await secrets(team)).body).toMatchObject([{ source: team, name: 'shop' }])
  expect((await secrets(`${team}/shop`)).body).toEqual({ value: secret })
  expect((await secrets(`${team}/other`)).status).toBe(404)
  expect(JSON.stringify((await call('GET', `/regent/v1/why/${realm}?path=clients/shop`)).body)).not.toContain(secret)

  const elsewhere = newName()
  await applyAs(service, source([{ realm: elsewhere, clients: [client('shop', generated('shop'))] }], newName('team')))
  expect(await live('shop', elsewhere)).not.toBe(secret)
})

test('a secret that is rotated is a change at the next run, and only then', async () => {
  const stated = source(
    [{ realm, clients: [client('shop', generated('shop')), client('till', generated('till'))] }],
    team,
  )
  await applyAs(service, stated)
  const [shop, till] = [await live('shop'), await live('till')]
  expect((await secrets(`${team}/shop/rotate`, 'POST')).status).toBe(204)
  expect(await live('shop')).toBe(shop)
  const { realms } = await applyAs(service, stated)
  expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', key: ['shop'], changes: [{ path: 'secret' }] }])
  expect(await live('shop')).toBe((await secrets(`${team}/shop`)).body.value)
  expect(await live('shop')).not.toBe(shop)
  expect(await live('till')).toBe(till)
})

test('only who administers every realm of a source sees its secrets', async () => {
  const mine = (await testRealm()).split('/').at(-1)!
  const token = await tokenWith(mine, { clientRoles: { 'realm-management': ['realm-admin'] } })
  const name = newName('team')
  await applyAs(service, source([{ realm: mine, clients: [client('shop', generated('shop'))] }], name))
  expect((await secrets(`${name}/shop`, 'GET', token)).status).toBe(200)
  await applyAs(
    service,
    source(
      [
        { realm: mine, clients: [client('shop', generated('shop'))] },
        { realm, enabled: true },
      ],
      name,
    ),
  )
  expect((await secrets(`${name}/shop`, 'GET', token)).status).toBe(403)
  expect((await secrets(`${name}/shop/rotate`, 'POST', token)).status).toBe(403)
  await applyAs(service, source([{ realm: newName(), clients: [client('shop', generated('shop'))] }], team))
  expect((await secrets(team, 'GET', token)).status).toBe(404)
})

test('a generated secret has no place but where secrets have theirs', async () => {
  const stated = source([{ realm, clients: [{ clientId: 'shop', description: generated('shop') }] }], team)
  await expect(applyAs(service, stated)).rejects.toMatchObject({
    problems: [
      { message: expect.stringMatching(/client shop: description is no secret, and everybody could read there/) },
    ],
  })
})

test('where documents are read, the name stays as it is written', () => {
  const read = (text: string) =>
    substitute(parseDocuments('a.yaml', text)[0]!, { env: {}, readFile: undefined, allowed: () => false }).value
  expect(read("secret: '$(generated:shop)'")).toEqual({ secret: '$(generated:shop)' })
  expect(() => read("secret: '$(generated:a b)'")).toThrow(/a name has letters, digits/)
  expect(() => read("secret: '$(generatd:a)'")).toThrow(/did you mean \$\(generated:…\)/)
})
