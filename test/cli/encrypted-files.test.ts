// Files that SOPS has encrypted, in commands and in followed sources. No output and no row shows their values.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder, type RunningServer } from '../support/cli.ts'
import { createRepository, hasGit } from '../support/git.ts'
import { hasSops, sops, withSops } from '../support/sops.ts'

const recorded = join(import.meta.dirname, '..', 'realm-file', 'encrypted')

let cli: CommandFolder
let server: RunningServer
beforeAll(async () => {
  cli = await createCommandFolder()
  await cp(recorded, cli.folder, { recursive: true })
  server = await cli.serve('--source', '')
})
afterAll(() => cli.remove())

/** Runs a command at the server. */
const run = (...args: string[]) => cli.run(...args, ...adminFlags(server.url))

const KEY = ['--age-key-file', 'key-1.txt'] as const

test.each(['plan', 'lint', 'validate', 'explain'])(
  '%s reads an encrypted file with the key of an option',
  async (name) => {
    const { code, out, err } =
      name === 'lint' ? await cli.run(name, 'regex.yaml', ...KEY) : await run(name, 'regex.yaml', ...KEY)
    expect(code, err).toBe(0)
    expect(out + err).not.toMatch(/s3cret|plain-secret/)
  },
)

test('the variables of SOPS and of Regent name the key, and without one the error names the recipients', async () => {
  const text = await readFile(join(cli.folder, 'key-1.txt'), 'utf8')
  const variables = { SOPS_AGE_KEY: text, SOPS_AGE_KEY_FILE: 'key-1.txt', REGENT_AGE_KEY_FILE: 'key-1.txt' }
  for (const [name, value] of Object.entries(variables)) {
    const { code, out } = await cli.shell('regent lint regex.yaml --output json', { [name]: value })
    expect({ name, code, out }).toEqual({ name, code: 0, out: expect.not.stringContaining('plain-secret') })
  }
  const { code, err } = await cli.run('lint', 'regex.yaml')
  const message = /^regex.yaml:22:1: the file is encrypted for age1\w+, age1\w+, and no key is set/
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(message) })
  const missing = await cli.run('lint', 'regex.yaml', '--age-key-file', 'missing.txt')
  expect(missing.err).toContain('the key file missing.txt cannot be read (ENOENT): check --age-key-file')
}, 60_000)

test('plans, applies and the history mask encrypted values, also of fields that are no secrets, and the store holds no secret', async () => {
  const text = await run('plan', 'complete.yaml', ...KEY, '--full', '--verbose')
  expect(text.out).toMatch(/displayName: +\(encrypted\)/)
  expect(text.out.match(/administrators of the realm see the value/g)).toHaveLength(3)
  const saved = await run('plan', 'complete.yaml', ...KEY, '--output', 'json', '--save')
  const outputs = [
    text,
    saved,
    await run('plans'),
    await run('apply', '--plan', JSON.parse(saved.out).saved.id, '--output', 'markdown'),
    await callAsAdmin(server.url, { path: '/../../regent/v1/history/shop' }),
    await callAsAdmin(server.url, { path: '/../../regent/v1/plans' }),
    server.output(),
  ].map((output) => JSON.stringify(output))
  for (const output of outputs) expect(output).not.toMatch(/s3cret|shop@example|mail\.example/)
  expect((await run('plan', 'complete.yaml', ...KEY)).out).toContain('Nothing to do.')
  const exported = await run('export', 'shop')
  expect(exported.out).toContain('clientId: web')
  expect(exported.out).not.toMatch(/s3cret|displayName|mail\.example/)
  for (const file of cli.database
    ? []
    : await readdir(join(cli.folder, 'data'), { recursive: true, withFileTypes: true }))
    if (file.isFile()) expect(await readFile(join(file.parentPath, file.name), 'latin1')).not.toContain('s3cret')
}, 60_000)

test('drift, why, diff, accept and export do not show encrypted values', async () => {
  expect((await run('apply', 'complete.yaml', ...KEY)).code).toBe(0)
  const [revision] = (await run('history', 'shop')).out.match(/\br\d+/) ?? []
  await callAsAdmin(server.url, { method: 'PUT', path: '/shop', body: { displayName: 'Shop at another place' } })
  const outputs = {
    drift: await run('drift', 'shop'),
    driftJson: await run('drift', 'shop', '--output', 'json'),
    explanation: await run('why', 'shop', 'displayName'),
    diff: await run('diff', 'shop', revision!),
    rollback: await run('rollback', 'shop', revision!, '--dry-run'),
    accept: await run('accept', 'shop'),
    write: await run('accept', 'shop', '--write', 'complete.yaml', ...KEY),
    export: await run('export', 'shop', '--full'),
  }
  for (const [name, { out, err }] of Object.entries(outputs))
    expect({ name, text: out + err }).toEqual({ name, text: expect.not.stringMatching(/Shop|mail\.example/) })
  expect(outputs.drift.out).toContain('(encrypted value changed)')
  expect(outputs.explanation.out).toContain('displayName: (encrypted)')
  expect(outputs.diff.out).toContain('(encrypted value changes)')
  expect(outputs.accept.out).toMatch(/displayName was changed, by admin .*: set the live value with "sops edit"/)
  expect(outputs.write.out).toContain('displayName is encrypted: set the live value with "sops edit"')
  await run('apply', 'complete.yaml', ...KEY)
  expect((await run('drift', 'shop')).out).not.toContain('displayName')
}, 60_000)

/** Creates a folder for a server of its own, with the recorded files. */
async function createFollower(): Promise<CommandFolder> {
  const follower = await createCommandFolder()
  onTestFinished(() => follower.remove())
  await cp(recorded, follower.folder, { recursive: true })
  return follower
}

test.runIf(hasSops)(
  `a followed source applies what sops has edited ${withSops}`,
  async () => {
    const { folder, serve } = await createFollower()
    const recipient = /age1\w+/.exec(await readFile(join(folder, 'key-1.txt'), 'utf8'))![0]
    const encrypt = async (secret: string) => {
      await writeFile(join(folder, 'plain.yaml'), `realm: edited\nclients: [{ clientId: web, secret: ${secret} }]\n`)
      const text = sops(folder, 'encrypt', '--age', recipient, '--encrypted-regex', '^secret$', 'plain.yaml')
      await mkdir(join(folder, 'realms'), { recursive: true })
      await writeFile(join(folder, 'realms', 'edited.yaml'), text)
    }
    await encrypt('first-s3cret')
    const following = await serve('--source', 'realms', ...KEY)
    const getSecret = async () => {
      const [client] = (await callAsAdmin<{ id: string }[]>(following.url, { path: '/edited/clients?clientId=web' }))
        .body
      const path = `/edited/clients/${client!.id}/client-secret`
      return (await callAsAdmin<{ value: string }>(following.url, { path })).body.value
    }
    expect(await getSecret()).toBe('first-s3cret')
    const written = following.until('1 updated')
    await encrypt('next-s3cret')
    await written
    expect(await getSecret()).toBe('next-s3cret')
    expect(following.output()).not.toContain('s3cret')
  },
  60_000,
)

test.runIf(hasGit)(
  'a git source decrypts with its own key, and not with that of the server',
  async () => {
    const { folder, serve } = await createFollower()
    const { url, push } = await createRepository(folder)
    await push({ 'regex.yaml': await readFile(join(recorded, 'regex.yaml'), 'utf8') })
    const define = (name: string, keyFile: string) => ({
      ...{ apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata: { name } },
      spec: { url, decryption: { provider: 'sops', keyFile } },
    })
    await writeFile(join(folder, 'empty.txt'), '# no key\n')
    const sources = [define('team', 'key-2.txt'), define('without-key', 'empty.txt')]
    await writeFile(join(folder, 'sources.yaml'), sources.map((source) => JSON.stringify(source)).join('\n---\n'))
    const following = await serve('--sources', 'sources.yaml', ...KEY)
    expect(following.output()).toContain('+ realm shop')
    expect(following.output()).toContain('empty.txt has no key: write a line with AGE-SECRET-KEY-…')
  },
  60_000,
)
