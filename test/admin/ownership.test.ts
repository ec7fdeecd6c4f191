// Writes over REST to managed fields are allowed, warned about or refused, as the ownership setting of the source declares.
import { expect, test } from 'vitest'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import { rollback } from '../../src/reconcile/history/history.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import type { Caller } from '../../src/service/context/service.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { updateObject } from '../support/live-objects.ts'
import { getLive, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

useNewRealmPerTest()

const { call } = await testServer()
const { statements } = await testService()

const DOCUMENT = `
roles:
  realm:
  - name: staff
    composites: { realm: [offline_access] }
clients:
- clientId: shop
  name: Declared
  redirectUris: [https://shop.example/*]
users:
- username: ann
  enabled: true
  email: ann@example.org
authenticationFlows:
- alias: ours
  topLevel: true
  authenticationExecutions: [{ authenticator: auth-cookie, requirement: REQUIRED }]
`

const owner = () => `owner-${realm}`
const createOwner = (ownership: SourceSettings['ownership'], more: SourceSettings = {}, text = DOCUMENT) => ({
  ...createSource([`realm: ${realm}${text}`], owner()),
  settings: { ownership, ...more },
})
const owns = (...settings: Parameters<typeof createOwner>) => applySource(service, createOwner(...settings))
const write = (method: string, path: string, body?: unknown, headers = {}, token?: string) =>
  call(method, `/admin/realms/${realm}${path}`, {
    headers,
    ...(body !== undefined && { body }),
    ...(token !== undefined && { token }),
  })
const shop = async () => `/clients/${(await getLive('client', 'shop')).id}`
const nameOf = async () => (await getLive('client', 'shop')).representation.name
const shopOf = async (ownership: SourceSettings['ownership']) => {
  await owns(ownership)
  return shop()
}
const refusal = () =>
  `client shop: name is managed by the source ${owner()} (${owner()}-1.yaml:8), which refuses other changes. Change it`

test('a write to a managed field of a refusing source returns 409 with the source position, and nothing is written', async () => {
  await owns('refuse')
  const path = await shop()
  const { status, body } = await write('PUT', path, { clientId: 'shop', name: 'Theirs', description: 'new' })
  expect([status, body.errorMessage]).toEqual([409, expect.stringContaining(refusal())])
  expect((await getLive('client', 'shop')).representation).toMatchObject({ name: 'Declared' })
  expect((await getLive('client', 'shop')).representation.description).toBeUndefined()
})

test('a write to an unmanaged field is allowed, also as a representation with unchanged managed fields', async () => {
  await owns('refuse')
  const path = await shop()
  const representation = (await write('GET', path)).body
  const free = await write('PUT', path, { ...representation, description: 'theirs' })
  expect([free.status, free.headers['regent-owned-by']]).toEqual([204, undefined])
  expect((await write('POST', '/roles', { name: 'other' })).status).toBe(201)
  expect((await write('DELETE', '/roles/other')).status).toBe(204)
})

test('elements can be added to a managed relation, but declared ones cannot be removed', async () => {
  await owns('refuse')
  const roles = async (...names: string[]) =>
    Promise.all(names.map(async (name) => (await write('GET', `/roles/${name}`)).body))
  expect((await write('POST', '/roles/staff/composites', await roles('uma_authorization'))).status).toBe(204)
  expect((await write('DELETE', '/roles/staff/composites', await roles('uma_authorization'))).status).toBe(204)
  const { status, body } = await write('DELETE', '/roles/staff/composites', await roles('offline_access'))
  expect([status, body.errorMessage]).toEqual([
    409,
    expect.stringContaining('role staff: composites is managed by the source'),
  ])
  // Nor by the end of what they name.
  expect((await write('DELETE', '/roles/offline_access')).status).toBe(409)
})

test('managed objects, the realm, and executions of managed flows cannot be deleted', async () => {
  await owns('refuse')
  const { body } = await write('DELETE', await shop())
  expect(body.errorMessage).toContain(`client shop is managed by the source ${owner()} (${owner()}-1.yaml:7)`)
  expect((await write('DELETE', '')).body.errorMessage).toContain(`realm ${realm}`)
  const executions = (await write('GET', '/authentication/flows/ours/executions')).body
  const step = { ...executions[0], requirement: 'ALTERNATIVE' }
  expect((await write('PUT', '/authentication/flows/ours/executions', step)).status).toBe(409)
  expect((await write('GET', '')).status).toBe(200)
})

test('an administrator of the realm may write with a header, and gets a warning; other administrators may not', async () => {
  await owns('refuse')
  const confirmation = { 'Regent-Allow-Drift': 'true' }
  const other = await createAdminToken(realm, { clientRoles: { 'realm-management': ['manage-clients'] } })
  expect((await write('PUT', await shop(), { name: 'Theirs' }, confirmation, other)).status).toBe(409)
  const { status, headers } = await write('PUT', await shop(), { name: 'Theirs' }, confirmation)
  expect([status, headers['regent-owned-by']]).toEqual([
    204,
    `"${owner()}";object="client shop";field="name";at="${owner()}-1.yaml:8"`,
  ])
  // It is drift; correcting it needs no header.
  expect((await write('PUT', await shop(), { name: 'Declared' })).status).toBe(204)
})

test('a write to a field of a warning source returns a warning header, and is drift', async () => {
  await applySource(service, {
    ...createSource([`realm: ${realm}${DOCUMENT}`], `ö"${realm}`),
    settings: { ownership: 'warn' },
  })
  const { status, headers } = await write('PUT', await shop(), { name: 'Theirs', redirectUris: [] })
  expect([status, headers['regent-owned-by']]).toEqual([
    204,
    ['name', 'redirectUris']
      .map(
        (path, at) =>
          `%"%c3%b6%22${realm}";object="client shop";field="${path}";at=%"%c3%b6%22${realm}-1.yaml:${8 + at}"`,
      )
      .join(', '),
  ])
  await applySource(service, createSource([`realm: ${realm}${DOCUMENT}`], `ö"${realm}`))
  expect(await nameOf()).toBe('Declared')
  expect((await write('PUT', await shop(), { name: 'Theirs' })).headers['regent-owned-by']).toBeUndefined()
})

test('a refusing source does not block writes to fields whose drift it reports or accepts', async () => {
  await owns('refuse', { drift: [{ kind: 'client', path: 'name', policy: 'accept' }] })
  expect((await write('PUT', await shop(), { name: 'Theirs' })).status).toBe(204)
  expect((await write('PUT', await shop(), { redirectUris: ['https://other.example/*'] })).status).toBe(409)
  const ann = `/users/${(await getLive('user', 'ann')).id}`
  expect((await write('PUT', ann, { enabled: false })).status).toBe(204)
  expect((await write('PUT', ann, { email: 'other@example.org' })).status).toBe(409)
  expect((await write('PUT', `${ann}/reset-password`, { type: 'password', value: 'new' })).status).toBe(204)
})

test('users themselves, the source and a rollback are not refused', async () => {
  await owns('refuse')
  const { revision } = await service.read(ANN, realm, async (context) => context.realm)
  const ben: Caller = { actor: { kind: 'user', realm, userId: 'ann', user: 'ann', client: 'account' } }
  await updateObject(service, ben, realm, 'user', ['ann'], { email: 'own@example.org' })
  await applySources(service, ANN, [createOwner('refuse', {}, DOCUMENT.replace('Declared', 'New'))])
  expect(await nameOf()).toBe('New')
  await rollback(service, ANN, { realm, revision })
  expect(await nameOf()).toBe('Declared')
})

test('the ownership check takes no statement', async () => {
  await write('PUT', await shopOf('allow'), { description: 'once' })
  const counts: number[] = []
  for (const ownership of ['allow', 'warn', 'refuse'] as const) {
    const path = await shopOf(ownership)
    counts.push((await statements(() => write('PUT', path, { name: 'Declared', description: ownership }))).length)
  }
  expect(new Set(counts).size).toBe(1)
})

test('a refusing source may delete the realm itself, also when an administrator applies it', async () => {
  await owns('refuse')
  const otherRealm = createSource([{ realm: `${realm}-other` }], owner())
  expect((await planSources(service, ANN, [otherRealm])).realms.map(({ plan }) => plan.actions.length)).toContain(1)
})
