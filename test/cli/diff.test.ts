// `regent diff` between files, environments and live realms. It writes nothing.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

const PROJECT = `name: shop
environments:
  staging: { variables: { SHOP_URL: https://staging.example.com } }
  production: { variables: { SHOP_URL: https://shop.example.com }, overlays: [production.yaml] }
`
const REALM = `realm: shop
displayName: Shop
clients:
  - { clientId: web, rootUrl: $(env:SHOP_URL), secret: s3cret, redirectUris: [/a, /b] }
  - { clientId: probe }
users:
  - { username: ann }
`
const OVERLAY = `realm: shop
clients:
  - { clientId: web, redirectUris: [/b, /c], secret: t0psecret }
  - { clientId: probe, $patch: delete }
`

let cli: CommandFolder
beforeAll(async () => {
  cli = await createCommandFolder()
  await mkdir(join(cli.folder, 'realms'))
  for (const [file, text] of Object.entries({
    'regent.yaml': PROJECT,
    'realm.yaml': REALM,
    'production.yaml': OVERLAY,
  }))
    await writeFile(join(cli.folder, 'realms', file), text)
})
afterAll(() => cli.remove())

const diff = async (...args: string[]) => {
  const { code, out, err } = await cli.run('diff', ...args)
  expect(code, err).toBe(0)
  expect(out).not.toMatch(/s3cret|t0psecret/)
  return out
}

test('two environments of a folder differ by what the overlay and the variables declare, without a store', async () => {
  expect(await diff('realms@staging', 'realms@production')).toBe(`realm shop: realms@staging → realms@production

  ~ client web  realm.yaml:4:5
      redirectUris: +/c -/a
      secret:       (secret changes)
      rootUrl:      https://staging.example.com → https://shop.example.com
  - client probe  realm.yaml:5:5
`)
  expect(await diff('realms@staging', 'realms@staging')).toBe('No difference.\n')
})

test('a live realm has no difference to the files that were applied, and one to every change of it', async () => {
  await cli.run('apply', 'realms', '--environment', 'staging')
  expect(await diff('shop', 'realms@staging')).toBe('No difference.\n')
  expect(await diff('realms@staging', 'shop')).toBe('No difference.\n')
  const created = JSON.parse(await diff('realms@production', 'shop', '--output', 'json'))
  expect(
    created.realms[0].actions.map((action: { operation: string; key: string[] }) => [action.operation, action.key]),
  ).toEqual([
    ['update', ['web']],
    ['create', ['probe']],
  ])
  const history = await cli.run('history', 'shop', '--output', 'json')
  expect(JSON.parse(history.out).revisions).toHaveLength(1)
}, 60_000)

test('the realms of two servers are compared by their contexts', async () => {
  const other = await createCommandFolder()
  try {
    const servers = [await cli.serve('--source', ''), await other.serve('--source', '')]
    const [first, second] = servers.map(({ url }) => ({ server: url, realm: 'master', user: 'admin' }))
    await mkdir(join(cli.folder, 'config'))
    await writeFile(join(cli.folder, 'config', 'contexts.json'), JSON.stringify({ contexts: { first, second } }), {
      mode: 0o600,
    })
    const login = ['--user', 'admin', '--password', 'admin']
    await cli.run('apply', 'realms', '--environment', 'staging', '--context', 'first', ...login)
    await cli.run('apply', 'realms', '--environment', 'production', '--context', 'second', ...login)
    expect(await diff('first:shop', 'second:shop', ...login)).toContain(
      'rootUrl:      https://staging.example.com → https://shop.example.com',
    )
    expect(await diff('first:shop', 'first:shop', ...login)).toBe('No difference.\n')
    for (const server of servers) await server.stop()
  } finally {
    await other.remove()
  }
}, 60_000)

test.each([
  [['realms@nowhere', 'realms@staging'], 'No regent.yaml has the environment nowhere. It has staging, production.'],
  [
    ['realms', 'realms@staging'],
    'regent.yaml has the environments staging, production. Choose one with --environment.',
  ],
  [['realms@staging', 'missing.yaml'], 'missing.yaml: no such file or folder'],
  [['nowhere:shop', 'realms@staging'], 'There is no context nowhere'],
  [['realms@staging', 'realms@production', 'r3'], 'r3 is one argument too many'],
])('%j is refused', async (sides, message) => {
  const { code, err } = await cli.run('diff', ...sides)
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(message) })
})
