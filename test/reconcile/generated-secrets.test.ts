// `$(generated:NAME)`: a secret that Regent generates for a source.
import { beforeEach, expect, test } from 'vitest'
import { substituteVariables } from '../../src/realm-file/substitute-variables.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const { call, createRealm: testRealm } = await testServer()

const client = (clientId: string, secret: string) => ({ clientId, secret })
const generated = (name: string) => `$(generated:${name})`

let realm: string
let team: string
beforeEach(() => {
  realm = newName()
  team = newName('team')
})

interface SecretRequest {
  readonly method?: string
  readonly action?: string
  readonly token?: string
  /** The realm of the request, if it is not the realm of the test. */
  readonly of?: string
}
/** Requests the list of generated secrets, or the one with the name. */
const requestSecrets = (name = '', { method = 'GET', action = '', token, of = realm }: SecretRequest = {}) =>
  call(method, `/regent/v1/secrets/${of}${name && `/${name}${action}?source=${team}`}`, token ? { token } : {})
const getLiveSecret = async (clientId: string, of = realm) =>
  (await call('GET', `/admin/realms/${of}/clients?clientId=${clientId}`)).body[0].secret

test('a generated secret is created once for each realm and source, and its name always gives the same value', async () => {
  const other = newName()
  const declared = createSource(
    [
      { realm, clients: [client('shop', generated('shop')), client('till', generated('shop'))] },
      {
        realm: other,
        clients: [client('shop', generated('shop'))],
      },
    ],
    team,
  )
  await applySource(service, declared)
  const secret = await getLiveSecret('shop')
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(await getLiveSecret('till')).toBe(secret)
  expect(await planText(service, declared)).toMatch(/nothing to do/i)
  expect((await requestSecrets()).body).toMatchObject([{ source: team, name: 'shop' }])
  expect((await requestSecrets('shop')).body).toEqual({ value: secret })
  expect((await requestSecrets('other')).status).toBe(404)
  expect(JSON.stringify((await call('GET', `/regent/v1/why/${realm}?path=clients/shop`)).body)).not.toContain(secret)

  // The same name gives another secret in another realm, and to another source.
  expect(await getLiveSecret('shop', other)).not.toBe(secret)
  await applySource(service, createSource([{ realm, clients: [client('desk', generated('shop'))] }], newName('team')))
  expect(await getLiveSecret('desk')).not.toBe(secret)
})

test('a generated secret in a field that is no secret is refused each time the same documents are applied', async () => {
  const declared = createSource([{ realm, displayName: generated('name'), clients: [{ clientId: 'shop' }] }], team)
  for (let run = 0; run < 2; run++)
    await expect(applySource(service, declared)).rejects.toThrow('displayName is no secret')
})

test('a rotated secret changes the client in the next run, not before', async () => {
  const declared = createSource(
    [{ realm, clients: [client('shop', generated('shop')), client('till', generated('till'))] }],
    team,
  )
  await applySource(service, declared)
  const [shop, till] = [await getLiveSecret('shop'), await getLiveSecret('till')]
  expect((await requestSecrets('shop', { method: 'POST', action: '/rotate' })).status).toBe(204)
  expect(await getLiveSecret('shop')).toBe(shop)
  const { realms } = await applySource(service, declared)
  expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', key: ['shop'], changes: [{ path: 'secret' }] }])
  expect(await getLiveSecret('shop')).toBe((await requestSecrets('shop')).body.value)
  expect(await getLiveSecret('shop')).not.toBe(shop)
  expect(await getLiveSecret('till')).toBe(till)
})

test('only administrators of a realm can list, read and rotate its generated secrets', async () => {
  const administered = (await testRealm()).split('/').at(-1)!
  const token = await createAdminToken(administered, { clientRoles: { 'realm-management': ['realm-admin'] } })
  const toRealm = (of: string) => ({ realm: of, clients: [client('shop', generated('shop'))] })
  await applySource(service, createSource([toRealm(administered), toRealm(realm)], team))
  expect((await requestSecrets('shop', { token, of: administered })).status).toBe(200)
  expect((await requestSecrets('', { token })).status).toBe(403)
  expect((await requestSecrets('shop', { token })).status).toBe(403)
  expect((await requestSecrets('shop', { token, method: 'POST', action: '/rotate' })).status).toBe(403)
})

test('a generated secret in a field that is not a secret is refused', async () => {
  const declared = createSource([{ realm, clients: [{ clientId: 'shop', description: generated('shop') }] }], team)
  await expect(applySource(service, declared)).rejects.toMatchObject({
    problems: [{ message: expect.stringMatching(/client shop: description is no secret, so that /) }],
  })
})

test('reading a document does not substitute generated secrets, and refuses invalid ones', () => {
  const read = (text: string) =>
    substituteVariables(parseDocuments('a.yaml', text)[0]!, { env: {}, readFile: undefined, isAllowed: () => false })
      .value
  expect(read("secret: '$(generated:shop)'")).toEqual({ secret: '$(generated:shop)' })
  expect(() => read("secret: '$(generated:a b)'")).toThrow(/write a name of letters, digits/)
  expect(() => read("secret: '$(generatd:a)'")).toThrow(/did you mean \$\(generated:…\)/)
})
