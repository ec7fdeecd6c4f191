// `regent accept --write`: edits files in a folder, lists what it leaves, and exits with 2 where something is left.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder, type RunningServer } from '../support/cli.ts'

let cli: CommandFolder
let server: RunningServer
beforeAll(async () => {
  cli = await createCommandFolder({ SHOP_NAME: 'Shop' })
  await mkdir(join(cli.folder, 'realms', 'clients'), { recursive: true })
  server = await cli.serve('--source', '')
})
afterAll(() => cli.remove())

/** Runs a command at the server, with the variables of documents. */
const run = (...args: string[]) => cli.run(...args, '--variables', 'env:SHOP_*', ...adminFlags(server.url))

const inRealms = (name: string) => join(cli.folder, 'realms', name)

async function setClient(clientId: string, body: object): Promise<void> {
  const [client] = (await callAsAdmin<{ id: string }[]>(server.url, { path: `/shop/clients?clientId=${clientId}` }))
    .body
  await callAsAdmin(server.url, { method: 'PUT', path: `/shop/clients/${client!.id}`, body })
}

const REALM = 'realm: shop # the shop\ndisplayName: "Shop"\ndisplayNameHtml: $(env:SHOP_NAME)\n'
const CLIENTS =
  'realm: shop\r\nclients:\r\n  # shown first\r\n  - clientId: web\r\n    name: Web\r\n    secret: $(env:SHOP_NAME)\r\n'

test('files of a folder are edited, and variables and secrets are left to do', async () => {
  await writeFile(inRealms('realm.yaml'), REALM)
  await writeFile(inRealms('clients/web.yaml'), CLIENTS)
  expect((await run('apply', 'realms')).code).toBe(0)
  const body = { displayName: 'Costs $(env:HOME)', displayNameHtml: 'Other' }
  await callAsAdmin(server.url, { method: 'PUT', path: '/shop', body })
  await setClient('web', { name: 'Web shop', secret: 'other-secret' })
  await callAsAdmin(server.url, { method: 'POST', path: '/shop/clients', body: { clientId: 'api', bearerOnly: true } })

  const { code, out, err } = await run('accept', 'shop', '--write', 'realms')
  expect({ code, err }).toEqual({ code: 2, err: '' })
  expect(out.split('\n').sort()).toEqual(
    [
      '',
      'edited realms/realm.yaml',
      'edited realms/clients/web.yaml',
      '3 edits in 2 files, 2 left to do.',
      'realms/realm.yaml:3:1: realm shop: displayNameHtml cannot be edited here, since it has a variable: edit it by hand',
      'realms/clients/web.yaml:6:5: client web: secret is a secret: declare the new one, or a variable',
    ].sort(),
  )
  expect(await readFile(inRealms('realm.yaml'), 'utf8')).toBe(REALM.replace('"Shop"', () => '"Costs $$(env:HOME)"'))
  const added = '  - clientId: api\r\n    bearerOnly: true\r\n'
  expect(await readFile(inRealms('clients/web.yaml'), 'utf8')).toBe(
    CLIENTS.replace('name: Web', 'name: Web shop') + added,
  )
  const plan = await run('plan', 'realms')
  expect(plan.out).toContain('displayNameHtml: Other → Shop')
  expect(plan.out).toContain('0 to create, 1 to update, 0 to delete')
}, 60_000)

test('paths restrict the edits, and a second run has nothing to accept', async () => {
  await run('apply', 'realms')
  await setClient('web', { name: 'Third', description: 'New' })
  const accept = () =>
    run('accept', 'shop', 'clients/web/name', '--write', 'realms/clients/web.yaml', '--output', 'json')
  const first = await accept()
  expect(JSON.parse(first.out)).toEqual({ files: ['realms/clients/web.yaml'], edits: 1, remaining: [] })
  expect(await readFile(inRealms('clients/web.yaml'), 'utf8')).toContain('    name: Third\r\n')
  expect(JSON.parse((await accept()).out)).toEqual({ files: [], edits: 0, remaining: [] })
  expect((await run('accept', 'shop', 'clients/web/name', '--write', 'realms')).out).toBe('Nothing to accept.\n')
}, 60_000)

test('files of an environment are read with its variables, and are not edited if it has overlays', async () => {
  const folder = join(cli.folder, 'environments')
  const base = 'realm: envs\ndisplayName: $(env:ENVS_NAME)\ndisplayNameHtml: Base\nclients:\n  - clientId: api\n'
  const overlay = 'realm: envs\ndisplayNameHtml: Production\nclients:\n  - clientId: api\n    $patch: delete\n'
  const project =
    'name: envs\nenvironments:\n  staging: { variables: { ENVS_NAME: Staging } }\n' +
    '  production: { variables: { ENVS_NAME: Production }, overlays: [production.yaml] }\n'
  await mkdir(folder)
  await writeFile(join(folder, 'regent.yaml'), project)
  await writeFile(join(folder, 'realm.yaml'), base)
  await writeFile(join(folder, 'production.yaml'), overlay)
  const change = () =>
    callAsAdmin(server.url, { method: 'PUT', path: '/envs', body: { displayName: 'Live', displayNameHtml: 'Live' } })
  const accept = (environment: string) => run('accept', 'envs', '--write', 'environments', '--environment', environment)

  expect((await run('apply', 'environments', '--environment', 'production')).code).toBe(0)
  await change()
  const { code, out, err } = await accept('production')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toContain(
    '--write does not edit files of an environment with overlays, such as production.yaml: a change of the base would be in all environments. Nothing was edited.',
  )
  expect(await readFile(join(folder, 'realm.yaml'), 'utf8')).toBe(base)
  expect(await readFile(join(folder, 'production.yaml'), 'utf8')).toBe(overlay)

  await callAsAdmin(server.url, { method: 'DELETE', path: '/envs' })
  expect((await run('apply', 'environments', '--environment', 'staging')).code).toBe(0)
  await change()
  const edited = await accept('staging')
  expect(edited.err).toBe('')
  expect(edited.out).toContain('displayName cannot be edited here, since it has a variable: edit it by hand')
  expect(await readFile(join(folder, 'realm.yaml'), 'utf8')).toBe(base.replace('Html: Base', 'Html: Live'))
}, 60_000)
