// Unmanaged objects, and accepting them and drift.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { expect, test } from 'vitest'
import type { UnmanagedObjects } from '../../src/reconcile/accept/unmanaged.ts'
import { createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const server = await testServer()

const toDocument = (realm: string, shop = {}) => ({
  realm,
  displayName: 'Shop',
  enabled: true,
  clients: [{ clientId: 'shop', name: 'Web shop', redirectUris: ['https://shop.example.org/*'], ...shop }],
})

/** Creates a realm that a source declares, and changes it by REST. */
async function createChangedRealm() {
  const realm = newName()
  await applySource(service, createSource([toDocument(realm)], realm))
  const at = `/admin/realms/${realm}`
  const [shop] = (await server.call('GET', `${at}/clients?clientId=shop`)).body
  const api = await server.create(`${at}/clients`, { clientId: 'api', secret: 'confidential', bearerOnly: true })
  await server.create(`${api}/protocol-mappers/models`, {
    name: 'floor',
    protocol: 'openid-connect',
    protocolMapper: 'oidc-hardcoded-claim-mapper',
    config: { 'claim.name': 'floor', 'claim.value': '1' },
  })
  await server.call('POST', `${api}/roles`, { body: { name: 'reader' } })
  await server.call('POST', `${at}/clients/${shop.id}/roles`, { body: { name: 'buyer', description: 'Buys' } })
  await server.call('POST', `${at}/groups`, { body: { name: 'staff' } })
  await server.call('POST', `${at}/users`, { body: { username: 'ann', enabled: true } })
  await server.call('PUT', `${at}/clients/${shop.id}`, { body: { name: 'Theirs', description: 'New' } })
  const get = async (path: string) => (await server.call('GET', `/regent/v1/${path}`)).body
  return { realm, shop, get }
}

const nothing = expect.stringContaining('Nothing to do.')

test('unmanaged objects are listed with their creators and without their children; unmanaged users are counted', async () => {
  const { realm, get } = await createChangedRealm()
  const [unmanaged] = await get(`unmanaged?realm=${realm}`)
  expect(unmanaged).toMatchObject({ realm, users: 1 })
  expect((unmanaged as UnmanagedObjects).objects.map(({ kind, key, by }) => [kind, ...key, by?.name])).toEqual([
    ['client', 'api', 'admin'],
    ['role', 'client', 'shop', 'buyer', 'admin'],
    ['group', '/staff', 'admin'],
  ])
  const [withUsers] = await get(`unmanaged?realm=${realm}&users=true`)
  expect(withUsers.objects).toContainEqual(expect.objectContaining({ kind: 'user', key: ['ann'] }))
})

test.runIf(isFullRun)('without a realm, the unmanaged objects of all realms are listed', async () => {
  const { realm, get } = await createChangedRealm()
  const [unmanaged] = await get(`unmanaged?realm=${realm}`)
  expect(await get('unmanaged')).toContainEqual(unmanaged)
})

test('after the accepted document and edits are committed, the plan is empty', async () => {
  const { realm, get } = await createChangedRealm()
  const { document, edits } = await get(`accept/${realm}?users=true`)
  expect(edits).toEqual([
    expect.objectContaining({ kind: 'client', key: ['shop'], path: 'name', declared: 'Web shop', live: 'Theirs' }),
  ])
  const { file, line } = edits[0]
  const text = dump(toDocument(realm), { noRefs: true }).split('\n')
  expect([file, text[line - 1]!.trim()]).toEqual([`${realm}-1.yaml`, 'name: Web shop'])
  expect(JSON.stringify(document)).not.toContain('confidential')
  expect(document).toMatchObject({
    realm,
    clients: [{ clientId: 'api', protocolMappers: [{ config: { 'claim.value': '1' } }] }],
    roles: { client: { api: [{ name: 'reader' }], shop: [{ name: 'buyer', description: 'Buys' }] } },
    groups: [{ name: 'staff' }],
    users: [{ username: 'ann', enabled: true }],
  })
  const adopted = createSource([toDocument(realm, { name: 'Theirs' }), document], realm)
  expect(await planText(service, adopted)).toEqual(nothing)
  await applySource(service, adopted)
  expect(await get(`unmanaged?realm=${realm}`)).toEqual([])
  expect(await get(`accept/${realm}?users=true`)).toEqual({ edits: [] })
})

test('for the path of an object, its unmanaged fields are accepted too; for the path of a field, only the field', async () => {
  const { realm, get } = await createChangedRealm()
  const { document } = await get(`accept/${realm}?path=clients/shop`)
  expect(document).toEqual({
    realm,
    clients: [expect.objectContaining({ clientId: 'shop', description: 'New' })],
    roles: { client: { shop: [{ name: 'buyer', description: 'Buys' }] } },
  })
  expect(document.clients[0]).not.toHaveProperty('name')
  expect(await planText(service, createSource([toDocument(realm, { name: 'Theirs' }), document], realm))).toEqual(
    nothing,
  )
  expect(await get(`accept/${realm}?path=clients/shop/description`)).toEqual({
    document: { realm, clients: [{ clientId: 'shop', description: 'New' }] },
    edits: [],
  })
  expect(await get(`accept/${realm}?path=clients/nobody`)).toEqual({
    error: `The realm ${realm} has no client nobody. Check the path.`,
  })
  expect(await get(`accept/${realm}?path=clint/shop`)).toEqual({
    errorMessage: `The realm ${realm} has no field clint. Did you mean clients?`,
  })
  expect((await get(`accept/${realm}?path=groups&path=users`)).document).toEqual({
    realm,
    groups: [{ name: 'staff' }],
    users: [{ username: 'ann', enabled: true }],
  })
})

test('the commands print a table, and the document with the edits as comments', async () => {
  const { realm } = await createChangedRealm()
  const at = await createCommandFolder()
  const flags = ['--server', await server.listen(), '--token', await server.adminToken()]
  const table = await at.run('drift', realm, '--unmanaged', ...flags)
  expect(table.out).toMatch(/role buyer of client shop\s+admin via admin-cli/)
  expect(table.out).toContain('1 user')
  const { out } = await at.run('accept', realm, ...flags)
  const [position, state, ...document] = out.split('\n')
  expect(position).toMatch(
    new RegExp(`^# ${realm}-1.yaml:\\d+: client shop was changed, by admin via admin-cli .*: declare$`),
  )
  expect(state).toBe('#   name: Theirs')
  await writeFile(join(at.folder, 'new.yaml'), document.join('\n'))
  expect(await at.run('plan', 'new.yaml', ...flags)).toMatchObject({ code: 0, out: nothing })
  await at.remove()
})

test('an object that was deleted by REST gives an edit that removes its declaration', async () => {
  const { realm, shop, get } = await createChangedRealm()
  await server.call('DELETE', `/admin/realms/${realm}/clients/${shop.id}`)
  expect((await get(`accept/${realm}?path=clients`)).edits).toEqual([
    expect.objectContaining({ kind: 'client', key: ['shop'], file: `${realm}-1.yaml` }),
  ])
})
