// Depending on the ownership setting of a source, writes over REST to its managed fields are allowed, return a warning, or are refused.
import { expect, test } from 'vitest'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import { rollback } from '../../src/reconcile/history/history.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { approveSavedPlan } from '../../src/reconcile/run/saved-plans.ts'
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
- alias: custom
  topLevel: true
  authenticationExecutions: [{ authenticator: auth-cookie, requirement: REQUIRED }]
`

const getSourceName = () => `owner-${realm}`
const createOwnerSource = (ownership: SourceSettings['ownership'], settings: SourceSettings = {}, text = DOCUMENT) => ({
  ...createSource([`realm: ${realm}${text}`], getSourceName()),
  settings: { ownership, ...settings },
})
const applyOwner = (...settings: Parameters<typeof createOwnerSource>) =>
  applySource(service, createOwnerSource(...settings))
const write = (method: string, path: string, body?: unknown, headers = {}, token?: string) =>
  call(method, `/admin/realms/${realm}${path}`, {
    headers,
    ...(body !== undefined && { body }),
    ...(token !== undefined && { token }),
  })
const findShopPath = async () => `/clients/${(await getLive('client', 'shop')).id}`
const readShopName = async () => (await getLive('client', 'shop')).representation.name
const applyOwnerAndFindShop = async (ownership: SourceSettings['ownership']) => {
  await applyOwner(ownership)
  return findShopPath()
}
const getRefusal = () =>
  `client shop: name is managed by the source ${getSourceName()} (${getSourceName()}-1.yaml:8), which refuses other changes. Change it`

test('a write to a managed field of a refusing source returns 409 with the source position, and nothing is written', async () => {
  await applyOwner('refuse')
  const path = await findShopPath()
  const { status, body } = await write('PUT', path, { clientId: 'shop', name: 'Changed', description: 'new' })
  expect([status, body.errorMessage]).toEqual([409, expect.stringContaining(getRefusal())])
  expect((await getLive('client', 'shop')).representation).toMatchObject({ name: 'Declared' })
  expect((await getLive('client', 'shop')).representation.description).toBeUndefined()
})

test('a write to an unmanaged field is allowed, even if the body has unchanged managed fields', async () => {
  await applyOwner('refuse')
  const path = await findShopPath()
  const representation = (await write('GET', path)).body
  const response = await write('PUT', path, { ...representation, description: 'Changed' })
  expect([response.status, response.headers['regent-owned-by']]).toEqual([204, undefined])
  expect((await write('POST', '/roles', { name: 'other' })).status).toBe(201)
  expect((await write('DELETE', '/roles/other')).status).toBe(204)
})

test('elements can be added to a managed relation, but declared ones cannot be removed', async () => {
  await applyOwner('refuse')
  const getRoles = async (...names: string[]) =>
    Promise.all(names.map(async (name) => (await write('GET', `/roles/${name}`)).body))
  expect((await write('POST', '/roles/staff/composites', await getRoles('uma_authorization'))).status).toBe(204)
  expect((await write('DELETE', '/roles/staff/composites', await getRoles('uma_authorization'))).status).toBe(204)
  const { status, body } = await write('DELETE', '/roles/staff/composites', await getRoles('offline_access'))
  expect([status, body.errorMessage]).toEqual([
    409,
    expect.stringContaining('role staff: composites is managed by the source'),
  ])
  // Deleting the role would remove it from the composite role.
  expect((await write('DELETE', '/roles/offline_access')).status).toBe(409)
})

test('managed objects, the realm, and executions of managed flows cannot be deleted', async () => {
  await applyOwner('refuse')
  const { body } = await write('DELETE', await findShopPath())
  expect(body.errorMessage).toContain(
    `client shop is managed by the source ${getSourceName()} (${getSourceName()}-1.yaml:7)`,
  )
  expect((await write('DELETE', '')).body.errorMessage).toContain(`realm ${realm}`)
  const executions = (await write('GET', '/authentication/flows/custom/executions')).body
  const step = { ...executions[0], requirement: 'ALTERNATIVE' }
  expect((await write('PUT', '/authentication/flows/custom/executions', step)).status).toBe(409)
  expect((await write('GET', '')).status).toBe(200)
})

test('a write with Regent-Allow-Drift returns a warning for a caller with all permissions of the realm, and 409 for others', async () => {
  await applyOwner('refuse')
  const ALLOW_DRIFT = { 'Regent-Allow-Drift': 'true' }
  const managerToken = await createAdminToken(realm, { clientRoles: { 'realm-management': ['manage-clients'] } })
  expect((await write('PUT', await findShopPath(), { name: 'Changed' }, ALLOW_DRIFT, managerToken)).status).toBe(409)
  const { status, headers } = await write('PUT', await findShopPath(), { name: 'Changed' }, ALLOW_DRIFT)
  expect([status, headers['regent-owned-by']]).toEqual([
    204,
    `"${getSourceName()}";object="client shop";field="name";at="${getSourceName()}-1.yaml:8"`,
  ])
  // A write that corrects drift needs no header.
  expect((await write('PUT', await findShopPath(), { name: 'Declared' })).status).toBe(204)
})

test('a write to a field of a warning source returns a warning header, and the next apply corrects the field', async () => {
  await applySource(service, {
    ...createSource([`realm: ${realm}${DOCUMENT}`], `ö"${realm}`),
    settings: { ownership: 'warn' },
  })
  const { status, headers } = await write('PUT', await findShopPath(), { name: 'Changed', redirectUris: [] })
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
  expect(await readShopName()).toBe('Declared')
  expect((await write('PUT', await findShopPath(), { name: 'Changed' })).headers['regent-owned-by']).toBeUndefined()
})

test('a refusing source does not block writes to fields whose drift it reports or accepts', async () => {
  await applyOwner('refuse', { drift: [{ kind: 'client', path: 'name', policy: 'accept' }] })
  expect((await write('PUT', await findShopPath(), { name: 'Changed' })).status).toBe(204)
  expect((await write('PUT', await findShopPath(), { redirectUris: ['https://other.example/*'] })).status).toBe(409)
  const ann = `/users/${(await getLive('user', 'ann')).id}`
  expect((await write('PUT', ann, { enabled: false })).status).toBe(204)
  expect((await write('PUT', ann, { email: 'other@example.org' })).status).toBe(409)
  expect((await write('PUT', `${ann}/reset-password`, { type: 'password', value: 'new' })).status).toBe(204)
})

test('a refusing source does not block users who change their account, its own applies, or a rollback', async () => {
  await applyOwner('refuse')
  const { revision } = await service.read(ANN, realm, async (context) => context.realm)
  const account: Caller = { actor: { kind: 'user', realm, userId: 'ann', user: 'ann', client: 'account' } }
  await updateObject(service, account, realm, 'user', ['ann'], { email: 'new@example.org' })
  await applySources(service, ANN, [createOwnerSource('refuse', {}, DOCUMENT.replace('Declared', 'New'))])
  expect(await readShopName()).toBe('New')
  await rollback(service, ANN, { realm, revision })
  expect(await readShopName()).toBe('Declared')
})

test('a write takes the same number of statements for each ownership setting', async () => {
  await write('PUT', await applyOwnerAndFindShop('allow'), { description: 'once' })
  const counts: number[] = []
  for (const ownership of ['allow', 'warn', 'refuse'] as const) {
    const path = await applyOwnerAndFindShop(ownership)
    counts.push((await statements(() => write('PUT', path, { name: 'Declared', description: ownership }))).length)
  }
  expect(new Set(counts).size).toBe(1)
})

test('the apply of a refusing source can delete its realm', async () => {
  await applyOwner('refuse')
  const { settings } = createOwnerSource('refuse')
  const otherRealm = { ...createSource([{ realm: `${realm}-other` }], getSourceName()), settings }
  const { realms } = await applySources(service, ANN, [otherRealm])
  expect(await service.findRealms([realm])).toHaveLength(1)
  const pending = realms.find(({ pendingApproval }) => pendingApproval)
  await approveSavedPlan(service, ANN, { id: pending!.pendingApproval!.plan })
  expect(await service.findRealms([realm])).toHaveLength(0)
})
