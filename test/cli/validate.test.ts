// `regent validate`: without a store, and against the realms of a server.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder } from '../support/cli.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(() => cli.remove())

const writeRealm = (text: string) => writeFile(join(cli.folder, 'realm.yaml'), text)

test('validate reports what a plan refuses, and creates no store', async () => {
  await writeRealm('realm: shop\npasswordPolicy: lenght(8)\n')
  expect(await cli.run('validate', 'realm.yaml')).toEqual({
    code: 1,
    out: '',
    err: 'realm.yaml:2:1: create realm shop: There is no password policy "lenght". Did you mean length? Nothing was changed.\n',
  })
  await writeRealm('realm: shop\nclients: [{ clientId: web }]\n')
  expect(await cli.run('validate', 'realm.yaml')).toEqual({ code: 0, out: 'realm shop: 2 objects, valid\n', err: '' })
  expect(existsSync(join(cli.folder, 'data'))).toBe(false)
}, 60_000)

test('validate with --server uses the realms of the server, and changes nothing', async () => {
  await writeRealm(`apiVersion: regent.dev/v1alpha1
kind: RealmClient
metadata: { name: web }
spec: { realmRef: { name: shop }, defaultClientScopes: [orders] }
`)
  const alone = await cli.run('validate', 'realm.yaml')
  expect(alone.out).toContain(
    'client web: defaultClientScopes refers to client scope orders, which is not declared here.',
  )
  const server = await cli.serve('--source', '')
  const flags = adminFlags(server.url)
  expect(await cli.run('validate', 'realm.yaml', ...flags)).toMatchObject({
    code: 1,
    err: expect.stringContaining('realm shop does not exist'),
  })
  await callAsAdmin(server.url, { method: 'POST', path: '', body: { realm: 'shop', enabled: true } })
  const scopes = { method: 'POST', path: '/shop/client-scopes', body: { name: 'orders', protocol: 'openid-connect' } }
  expect((await cli.run('validate', 'realm.yaml', ...flags)).err).toContain('client scope orders, which does not exist')
  await callAsAdmin(server.url, scopes)
  expect(await cli.run('validate', 'realm.yaml', ...flags)).toEqual({
    code: 0,
    out: 'realm shop: 1 object, valid\n',
    err: '',
  })
  expect((await callAsAdmin<object[]>(server.url, { path: '/shop/clients?clientId=web' })).body).toEqual([])
}, 60_000)
