// Environments: variables and overlays of regent.yaml change what the files of a source declare, in one environment only.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { readSource, type SourceFlags, serializeSource } from '../../src/cli/commands/source.ts'
import { isRelationChange } from '../../src/reconcile/model/action.ts'
import { deserializeSource } from '../../src/reconcile/read/source-text.ts'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { adminFlags, createCommandFolder } from '../support/cli.ts'
import { committer } from '../support/git.ts'
import { newName, testService } from '../support/service.ts'

const { service } = await testService()
let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'regent-environments-')))
  for (const [file, text] of Object.entries(BASE)) await write(file, text)
})
afterEach(() => rm(folder, { recursive: true }))

const OVERLAY = 'overlays/production/realm.yaml'

const BASE = {
  'regent.yaml': `
name: shop
environments:
  development: {}
  staging: { variables: { SHOP_URL: https://staging.example.com } }
  production:
    variables: { SHOP_URL: https://shop.example.com }
    overlays: [overlays/production]
`,
  'realm.yaml': `
realm: env-shop
displayName: Shop
passwordPolicy: length(8)
attributes: { color: blue, size: large }
groups:
  - name: staff
    attributes: { floor: ['1'] }
    subGroups: [{ name: night }]
`,
  'clients.yaml': `
realm: env-shop
clients:
  - clientId: web
    rootUrl: $(env:SHOP_URL:-http://localhost)
    redirectUris: [/a, /b]
    secret: base-secret
    protocolMappers:
      - { name: floor, protocol: openid-connect, protocolMapper: oidc-hardcoded-claim-mapper }
  - clientId: probe
`,
  [OVERLAY]: `
realm: env-shop
passwordPolicy: length(16)
`,
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true })
  await writeFile(join(folder, file), text)
}

/** Reads the source in an environment as a command does, and returns it as a server receives it. */
const read = async (environment: string, flags: SourceFlags = {}) =>
  deserializeSource(JSON.parse(JSON.stringify(serializeSource(await readSource([folder], { environment, ...flags })))))

const plan = async (environment: string, flags?: SourceFlags) =>
  planSources(service, SYSTEM, [await read(environment, flags)])

const renderPlan = async (environment: string) =>
  renderOutcome(await plan(environment), 'planned', { detail: 'full', isVerbose: true })

/** Returns the values that the plan of production declares, as `kind name path` with the value and its position. */
async function planProduction(): Promise<Record<string, unknown>> {
  const { realms } = await plan('production')
  const entries = realms.flatMap((realm) =>
    realm.plan.actions.flatMap(({ kind, key, changes }) => [
      [`${kind} ${key.at(-1)}`, ''],
      ...changes.map((change) => [
        `${kind} ${key.at(-1)} ${change.path}`,
        `${JSON.stringify(isRelationChange(change) ? change.add : change.to)} ${change.position?.file}:${change.position?.line}`,
      ]),
    ]),
  )
  return Object.fromEntries(entries)
}

describe('an overlay of production', () => {
  test('leaves the plans of the other environments byte-identical, when a value in it changes', async () => {
    const otherEnvironments = ['development', 'staging']
    const before = [await renderPlan('production'), ...(await Promise.all(otherEnvironments.map(renderPlan)))]
    await write(OVERLAY, BASE[OVERLAY].replace('16', '17'))
    const after = [await renderPlan('production'), ...(await Promise.all(otherEnvironments.map(renderPlan)))]
    expect(after.slice(1)).toEqual(before.slice(1))
    const withoutRevision = (text: string) => text.replace(/sha256:\w+/, '')
    expect(withoutRevision(after[0]!)).toBe(withoutRevision(before[0]!).replace('length(16)', 'length(17)'))
  })

  test('replaces fields, and each value has the position of the file that declares it', async () => {
    await write(
      OVERLAY,
      'realm: env-shop\npasswordPolicy: length(16)\nattributes: { color: red }\nclients:\n  - clientId: web\n    redirectUris: [/c]\n',
    )
    expect(await planProduction()).toMatchObject({
      'realm env-shop displayName': '"Shop" realm.yaml:3',
      'realm env-shop passwordPolicy': `"length(16)" ${OVERLAY}:2`,
      'realm env-shop attributes.color': `"red" ${OVERLAY}:3`,
      'realm env-shop attributes.size': '"large" realm.yaml:5',
      'client web redirectUris': `["/c"] ${OVERLAY}:6`,
      'client web rootUrl': '"https://shop.example.com" clients.yaml:5',
    })
  })

  test('adds objects, and removes objects with their children, fields, and keys of maps', async () => {
    await write(
      OVERLAY,
      `
realm: env-shop
displayName: { $patch: delete }
attributes: { color: { $patch: delete } }
clients:
  - clientId: web
    $patch: delete
  - clientId: pay
groups:
  - name: staff
    subGroups: [{ name: night, $patch: delete }, { name: day }]
`,
    )
    const planned = Object.keys(await planProduction()).filter((name) => !/service-account|default-roles/.test(name))
    expect(planned).toEqual(expect.arrayContaining(['client pay', 'client probe', 'group /staff/day']))
    for (const removed of [
      'client web',
      'protocolMapper floor',
      'group /staff/night',
      'realm env-shop displayName',
      'realm env-shop attributes.color',
    ])
      expect(planned).not.toContain(removed)
  })

  test('removes what was applied, when it marks it', async () => {
    const [realm, source] = [newName(), newName()]
    for (const [file, text] of Object.entries(BASE))
      await write(file, text.replaceAll('env-shop', realm).replace('name: shop', `name: ${source}`))
    await applySources(service, SYSTEM, [await read('production')])
    await write(OVERLAY, `realm: ${realm}\nclients:\n  - clientId: probe\n    $patch: delete\n`)
    const { realms } = await plan('production')
    expect(realms[0]!.plan.actions.map(({ operation, key }) => `${operation} ${key.at(-1)}`)).toEqual([
      `update ${realm}`,
      'delete probe',
    ])
  })

  test('replaces a secret by a mask, so that neither plan nor note has the secret of the base', async () => {
    await write(OVERLAY, "realm: env-shop\nclients:\n  - clientId: web\n    secret: '**********'\n")
    const literalSecret = /is in plain text/
    expect(await renderPlan('production')).not.toMatch(literalSecret)
    expect(await renderPlan('staging')).toMatch(literalSecret)
  })

  test('applies after the overlays before it in the list', async () => {
    await write('more.yaml', 'realm: env-shop\npasswordPolicy: length(20)\ndisplayName: More\n')
    await write('regent.yaml', BASE['regent.yaml'].replace('[overlays/production]', '[more.yaml, overlays/production]'))
    expect(await planProduction()).toMatchObject({
      'realm env-shop passwordPolicy': `"length(16)" ${OVERLAY}:3`,
      'realm env-shop displayName': '"More" more.yaml:3',
    })
  })

  test('may consist of resources', async () => {
    await write(
      OVERLAY,
      'apiVersion: regent.dev/v1alpha1\nkind: RealmClient\nmetadata: { name: web }\nspec: { realm: env-shop, rootUrl: https://other.example.com }\n',
    )
    expect(await planProduction()).toMatchObject({
      'client web rootUrl': `"https://other.example.com" ${OVERLAY}:4`,
      'client web redirectUris': '["/a","/b"] clients.yaml:6',
    })
  })
})

describe('a mistake in an overlay', () => {
  test.each([
    ['a realm that the base lacks', 'realm: env-shep\n', `${OVERLAY}:1:1: the base declares no realm env-shep`],
    [
      'a removed object that the base lacks',
      'realm: env-shop\nclients:\n  - { clientId: wob, $patch: delete }\n',
      `${OVERLAY}:3:5: client wob is not declared by the base, so that it cannot be removed`,
    ],
    [
      'a removed field that the base lacks',
      'realm: env-shop\nloginTheme: { $patch: delete }\n',
      `${OVERLAY}:2:1: realm env-shop: the base does not declare loginTheme`,
    ],
    [
      'another marker',
      'realm: env-shop\npasswordPolicy: { $patch: replace }\n',
      `${OVERLAY}:2:19: realm env-shop: $patch must be delete`,
    ],
    [
      'a removed object with fields',
      'realm: env-shop\nclients:\n  - { clientId: web, name: Web, $patch: delete }\n',
      `${OVERLAY}:3:33: client web: $patch removes the object with all of its fields: remove name here`,
    ],
    [
      'a removed realm',
      'realm: env-shop\n$patch: delete\n',
      `${OVERLAY}:2:1: realm env-shop: an overlay cannot remove a realm`,
    ],
    ['a removed natural key', 'realm: env-shop\nclients:\n  - { clientId: { $patch: delete } }\n', `${OVERLAY}:3:`],
    [
      'an unknown field',
      'realm: env-shop\ndisplayNam: x\n',
      `${OVERLAY}:2:1: realm env-shop: unknown field displayNam`,
    ],
  ])('is refused with its line: %s', async (_, text, message) => {
    await write(OVERLAY, text)
    await expect(plan('production')).rejects.toThrow(message)
  })

  test.each([
    ['displayName: A', 'displayName: B', 'displayName is declared differently'],
    ['displayName: A', 'displayName: { $patch: delete }', 'the same overlay declares displayName and removes it'],
    ['displayName: { $patch: delete }', 'displayName: A', 'the same overlay declares displayName and removes it'],
    [
      'clients: [{ clientId: web, $patch: delete }]',
      'clients: [{ clientId: web, name: Web }]',
      'client web is declared in the same overlay',
    ],
    [
      'clients: [{ clientId: web, name: Web }]',
      'clients: [{ clientId: web, $patch: delete }]',
      'client web is declared in the same overlay',
    ],
  ])('is refused if two of its files contradict each other: %s, %s', async (first, second, message) => {
    await write('overlays/production/a.yaml', `realm: env-shop\n${first}\n`)
    await write('overlays/production/b.yaml', `realm: env-shop\n${second}\n`)
    await expect(plan('production')).rejects.toThrow(message)
  })

  test('is a marker in a file of the base', async () => {
    await write('a.yaml', 'realm: env-shop\nclients: [{ clientId: web, $patch: delete }]\n')
    await expect(plan('staging')).rejects.toThrow('a.yaml:2:28: client web: $patch is valid in overlays only')
  })
})

describe('regent.yaml', () => {
  test.each([
    ['overlays: [../outside]', ':4:16: environments.production.overlays.0: must be the path of a file or folder below'],
    ['overlays: [/etc]', ':4:16: environments.production.overlays.0: must be the path'],
    ['overlays: [missing]', ':4:16: missing: no such file or folder'],
    ['overlays: [overlays, overlays/production]', ':4:26: overlays/production is inside the overlay overlays'],
    ['overlays: [overlays, overlays]', ':4:26: overlays is listed twice'],
    ['overlays: [empty]', 'The overlay empty contains no document'],
    ['overlay: [overlays]', ':4:5: unknown field overlay. Did you mean overlays?'],
    ['variables: { A: 1 }', ':4:18: environments.production.variables.A: must be a text: put it in quotes'],
  ])('with %s is refused', async (line, message) => {
    await mkdir(join(folder, 'empty'))
    await write('regent.yaml', `name: shop\nenvironments:\n  production:\n    ${line}\n`)
    await expect(plan('production')).rejects.toThrow(message)
  })

  test('makes a run over a part of the files an error, if the environment has overlays', async () => {
    const readFile = (file: string, environment: string) => readSource([join(folder, file)], { environment })
    await expect(readFile('realm.yaml', 'production')).rejects.toThrow('Pass its folder instead of realm.yaml')
    await expect(readFile(OVERLAY, 'staging')).rejects.toThrow('is an overlay of the environment production')
    expect((await readFile('realm.yaml', 'staging')).documents).toHaveLength(1)
  })

  test('gives variables without permission, and a permitted variable of the process takes precedence', async () => {
    const rootUrlOf = async (variables: readonly string[]) => {
      const { realms } = await plan('staging', { variables })
      const client = realms[0]!.plan.actions.find(({ key }) => key.at(-1) === 'web')!
      return client.changes.find(({ path }) => path === 'rootUrl')
    }
    process.env.SHOP_URL = 'https://process.example.com'
    onTestFinished(() => {
      delete process.env.SHOP_URL
    })
    expect(await rootUrlOf([])).toMatchObject({ to: 'https://staging.example.com' })
    expect(await rootUrlOf(['env:SHOP_*'])).toMatchObject({ to: 'https://process.example.com' })
  })
})

describe('a server', () => {
  test('follows a folder in an environment, a repository by the file of --sources, and applies saved plans', async () => {
    const cli = await createCommandFolder()
    onTestFinished(() => cli.remove())
    const shell = async (line: string) => {
      const { code, out, err } = await cli.shell(line, {})
      expect(code, err).toBe(0)
      return out
    }
    await shell(`rm regent.yaml && cp -r ${folder} shop && cp -r ${folder} other`)
    await shell(
      "sed -i 's/env-shop/env-other/' other/*.yaml other/overlays/*/*.yaml && sed -i 's/name: shop/name: other/' other/regent.yaml",
    )
    for (const args of [
      ['init', '--quiet'],
      ['add', '.'],
      ['commit', '--quiet', '--message', 'x'],
    ])
      execFileSync('git', ['-C', join(cli.folder, 'other'), ...args], { env: { ...process.env, ...committer } })
    const source = { url: `file://${join(cli.folder, 'other')}`, environment: 'production' }
    const resource = {
      apiVersion: 'regent.dev/v1alpha1',
      kind: 'RealmSource',
      metadata: { name: 'other' },
      spec: source,
    }
    await writeFile(join(cli.folder, 'sources.json'), JSON.stringify(resource))
    const server = await cli.serve('--source', 'shop', '--environment', 'production', '--sources', 'sources.json')
    const flags = adminFlags(server.url).join(' ')
    await expect
      .poll(() => cli.shell(`regent export env-other ${flags}`, {}), { timeout: 20_000 })
      .toMatchObject({ code: 0 })
    for (const realm of ['env-shop', 'env-other'])
      expect(await shell(`regent export ${realm} ${flags}`)).toContain('passwordPolicy: length(16)')
    await shell("sed -i 's/length(16)/length(18)/' shop/overlays/production/realm.yaml")
    const applied = server.until('1 updated')
    await applied
    await shell(`regent source suspend shop@production ${flags}`)
    await shell("sed -i 's/length(18)/length(20)/' shop/overlays/production/realm.yaml")
    const saved = await shell(`regent plan shop --environment production --save plan.json ${flags}`)
    expect(saved).toContain('"length(18)" → "length(20)"')
    await server.stop()
  })
})
