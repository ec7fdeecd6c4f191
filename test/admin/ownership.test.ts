// What sources state is theirs as far as they say so: writes by REST to it are done, told, or refused.
import { expect, test } from 'vitest'
import { rollback } from '../../src/reconcile/history/history.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import type { Caller } from '../../src/service/context/service.ts'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import { createAdminToken } from '../support/administrators.ts'
import { updateObject } from '../support/changes.ts'
import { getLive, realm, useNewRealmPerTest, service } from '../support/documents.ts'
import { ANN, applySource, createSource } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

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
  name: Stated
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
const stated = (ownership: SourceSettings['ownership'], more: SourceSettings = {}, text = DOCUMENT) => ({
  ...createSource([`realm: ${realm}${text}`], owner()),
  settings: { ownership, ...more },
})
const owns = (...settings: Parameters<typeof stated>) => applySource(service, stated(...settings))
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

test('a source that refuses keeps what it states: 409 with the place, and nothing is written', async () => {
  await owns('refuse')
  const path = await shop()
  const { status, body } = await write('PUT', path, { clientId: 'shop', name: 'Theirs', description: 'new' })
  expect([status, body.errorMessage]).toEqual([409, expect.stringContaining(refusal())])
  expect((await getLive('client', 'shop')).representation).toMatchObject({ name: 'Stated' })
  expect((await getLive('client', 'shop')).representation.description).toBeUndefined()
})

test('what a source does not state is free, and a whole representation with what it states too', async () => {
  await owns('refuse')
  const path = await shop()
  const whole = (await write('GET', path)).body
  const free = await write('PUT', path, { ...whole, description: 'theirs' })
  expect([free.status, free.headers['regent-owned-by']]).toEqual([204, undefined])
  expect((await write('POST', '/roles', { name: 'other' })).status).toBe(201)
  expect((await write('DELETE', '/roles/other')).status).toBe(204)
})

test('elements of relations may come, and those that are stated may not go', async () => {
  await owns('refuse')
  const roles = async (...names: string[]) =>
    Promise.all(names.map(async (name) => (await write('GET', `/roles/${name}`)).body))
  expect((await write('POST', '/roles/staff/composites', await roles('uma_authorization'))).status).toBe(204)
  expect((await write('DELETE', '/roles/staff/composites', await roles('uma_authorization'))).status).toBe(204)
  const { status, body } = await write('DELETE', '/roles/staff/composites', await roles('offline_access'))
  expect([status, body.errorMessage]).toEqual([409, expect.stringContaining('role staff: composites is stated')])
  // Nor by the end of what they name.
  expect((await write('DELETE', '/roles/offline_access')).status).toBe(409)
})

test('objects that a source states stay, and so does the realm; flows step by step too', async () => {
  await owns('refuse')
  const { body } = await write('DELETE', await shop())
  expect(body.errorMessage).toContain(`client shop is managed by the source ${owner()} (${owner()}-1.yaml:7)`)
  expect((await write('DELETE', '')).body.errorMessage).toContain(`realm ${realm}`)
  const executions = (await write('GET', '/authentication/flows/ours/executions')).body
  const step = { ...executions[0], requirement: 'ALTERNATIVE' }
  expect((await write('PUT', '/authentication/flows/ours/executions', step)).status).toBe(409)
  expect((await write('GET', '')).status).toBe(200)
})

test('whoever administers the realm may in an emergency, with a header, and is told; others may not', async () => {
  await owns('refuse')
  const meant = { 'Regent-Allow-Drift': 'true' }
  const other = await createAdminToken(realm, { clientRoles: { 'realm-management': ['manage-clients'] } })
  expect((await write('PUT', await shop(), { name: 'Theirs' }, meant, other)).status).toBe(409)
  const { status, headers } = await write('PUT', await shop(), { name: 'Theirs' }, meant)
  expect([status, headers['regent-owned-by']]).toEqual([
    204,
    `"${owner()}";object="client shop";field="name";at="${owner()}-1.yaml:8"`,
  ])
  // It is drift; to put back what is stated needs no header.
  expect((await write('PUT', await shop(), { name: 'Stated' })).status).toBe(204)
})

test('a source that warns has it told in a header, and it is drift', async () => {
  await applySource(service, { ...createSource([`realm: ${realm}${DOCUMENT}`], `ö"${realm}`), settings: { ownership: 'warn' } })
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
  expect(await nameOf()).toBe('Stated')
  expect((await write('PUT', await shop(), { name: 'Theirs' })).headers['regent-owned-by']).toBeUndefined()
})

test('what a source lets drift it does not claim: who may log in, and what its rules report or adopt', async () => {
  await owns('refuse', { drift: [{ kind: 'client', path: 'name', policy: 'accept' }] })
  expect((await write('PUT', await shop(), { name: 'Theirs' })).status).toBe(204)
  expect((await write('PUT', await shop(), { redirectUris: ['https://other.example/*'] })).status).toBe(409)
  const ann = `/users/${(await getLive('user', 'ann')).id}`
  expect((await write('PUT', ann, { enabled: false })).status).toBe(204)
  expect((await write('PUT', ann, { email: 'other@example.org' })).status).toBe(409)
  expect((await write('PUT', `${ann}/reset-password`, { type: 'password', value: 'new' })).status).toBe(204)
})

test('people themselves, the source and a rollback are not refused', async () => {
  await owns('refuse')
  const { revision } = await service.read(ANN, realm, async (context) => context.realm)
  const ben: Caller = { actor: { kind: 'user', realm, userId: 'ann', user: 'ann', client: 'account' } }
  await updateObject(service, ben, realm, 'user', ['ann'], { email: 'own@example.org' })
  await applySources(service, ANN, [stated('refuse', {}, DOCUMENT.replace('Stated', 'New'))])
  expect(await nameOf()).toBe('New')
  await rollback(service, ANN, { realm, revision })
  expect(await nameOf()).toBe('Stated')
})

test('it costs no statement', async () => {
  await write('PUT', await shopOf('allow'), { description: 'once' })
  const counts: number[] = []
  for (const ownership of ['allow', 'warn', 'refuse'] as const) {
    const path = await shopOf(ownership)
    counts.push((await statements(() => write('PUT', path, { name: 'Stated', description: ownership }))).length)
  }
  expect(new Set(counts).size).toBe(1)
})

test('a source that refuses may end the realm itself, also by the hand of an administrator', async () => {
  await owns('refuse')
  const elsewhere = createSource([{ realm: `${realm}-other` }], owner())
  expect((await planSources(service, ANN, [elsewhere])).realms.map(({ plan }) => plan.actions.length)).toContain(1)
})
