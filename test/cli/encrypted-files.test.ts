// Files that SOPS has encrypted, in commands and in followed sources. No output and no row shows their values.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder } from '../support/cli.ts'
import { pushFiles } from '../support/git.ts'
import { hasSops, sops, withSops } from '../support/sops.ts'

const recorded = join(import.meta.dirname, '..', 'realm-file', 'encrypted')

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
  await cp(recorded, join(cli.folder, 'files'), { recursive: true })
  for (const name of ['regex.yaml', 'complete.yaml']) await cp(join(recorded, name), join(cli.folder, name))
})
afterEach(() => cli.remove())

const KEY = 'files/key-1.txt'

test.each(['plan', 'validate', 'lint', 'apply'])('%s reads an encrypted file with the key of an option', async (name) => {
  const { code, out, err } = await cli.run(name, 'regex.yaml', '--age-key-file', KEY)
  expect(code, err).toBe(0)
  expect(out + err).not.toContain('s3cret')
  expect(out).not.toContain('plain-secret')
})

test('the variables of SOPS and of Regent name the key, and without one the error names the recipients', async () => {
  const text = await readFile(join(cli.folder, KEY), 'utf8')
  const variables = { SOPS_AGE_KEY: text, SOPS_AGE_KEY_FILE: KEY, REGENT_AGE_KEY_FILE: KEY }
  for (const [name, value] of Object.entries(variables)) {
    const { code, out } = await cli.shell('regent plan regex.yaml', { [name]: value })
    expect({ name, code, out }).toEqual({ name, code: 0, out: expect.stringContaining('secret:   (secret)') })
  }
  const { code, err } = await cli.run('plan', 'regex.yaml')
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^regex.yaml:22:1: the file is encrypted for age1\w+, age1\w+, and no key is set/) })
  const missing = await cli.run('plan', 'regex.yaml', '--age-key-file', 'missing.txt')
  expect(missing.err).toContain('the key file missing.txt cannot be read (ENOENT): check --age-key-file')
}, 60_000)

test('a plan masks encrypted values of fields that are no secrets, and notes them once for each object', async () => {
  const key = ['--age-key-file', KEY] as const
  const texts = [
    await cli.run('plan', 'complete.yaml', ...key, '--full', '--verbose'),
    await cli.run('plan', 'complete.yaml', ...key, '--output', 'json', '--save'),
    await cli.run('plan', 'complete.yaml', ...key, '--output', 'markdown'),
    await cli.run('apply', 'complete.yaml', ...key, '--output', 'json'),
    await cli.run('history', 'shop'),
  ].map(({ out, err }) => out + err)
  for (const text of texts) expect(text).not.toMatch(/s3cret|shop@example|mail\.example/)
  expect(texts[0]).toMatch(/displayName: +\(encrypted\)/)
  expect(texts[0]!.match(/administrators of the realm see the value/g)).toHaveLength(3)
  await cli.run('import', 'nothing')
  const exported = await cli.run('export', 'shop')
  expect(exported.out).toContain('displayName: Shop')
  expect(exported.out).not.toContain('s3cret')
  expect((await cli.run('plan', 'complete.yaml', ...key)).out).toContain('Nothing to do.')
}, 120_000)

test('a saved plan of encrypted files is applied by its id, and is stale after a change of an encrypted value', async () => {
  const key = ['--age-key-file', KEY] as const
  await cli.run('plan', 'complete.yaml', ...key, '--save', 'first.json')
  const applied = await cli.run('apply', '--plan', 'first.json')
  expect({ code: applied.code, err: applied.err }).toMatchObject({ code: 0 })
  const secret = await cli.run('get', 'shop/clients?clientId=web')
  expect(secret.out).toContain('web')
}, 60_000)

test.runIf(hasSops)(`a followed source applies what sops has edited ${withSops}`, async () => {
  const recipient = /age1\w+/.exec(await readFile(join(cli.folder, KEY), 'utf8'))![0]
  const encrypt = async (secret: string) => {
    await writeFile(join(cli.folder, 'plain.yaml'), `realm: edited\nclients: [{ clientId: web, secret: ${secret} }]\n`)
    return sops(cli.folder, 'encrypt', '--age', recipient, '--encrypted-regex', '^secret$', 'plain.yaml')
  }
  await mkdir(join(cli.folder, 'realms'))
  await writeFile(join(cli.folder, 'realms', 'edited.yaml'), await encrypt('first-s3cret'))
  const server = await cli.serve('--source', 'realms', '--age-key-file', KEY)
  const getSecret = async () => {
    const [client] = (await callAsAdmin<{ id: string }[]>(server.url, { path: '/edited/clients?clientId=web' })).body
    const path = `/edited/clients/${client!.id}/client-secret`
    return (await callAsAdmin<{ value: string }>(server.url, { path })).body.value
  }
  expect(await getSecret()).toBe('first-s3cret')
  const written = server.until('1 updated')
  await writeFile(join(cli.folder, 'realms', 'edited.yaml'), await encrypt('next-s3cret'))
  await written
  expect(await getSecret()).toBe('next-s3cret')
  const plan = await cli.run('plan', 'realms', '--name', 'realms', '--age-key-file', KEY, ...adminFlags(server.url))
  expect(plan.out).toContain('Nothing to do.')
  expect(server.output()).not.toContain('s3cret')
}, 60_000)

test('a git source decrypts with its own key, and not with that of the server', async () => {
  const url = await pushFiles(join(cli.folder, 'repository'), {
    'regex.yaml': await readFile(join(recorded, 'regex.yaml'), 'utf8'),
  })
  const define = (keyFile: string) =>
    JSON.stringify({
      apiVersion: 'regent.dev/v1alpha1',
      kind: 'RealmSource',
      metadata: { name: 'team' },
      spec: { url, decryption: { provider: 'sops', keyFile } },
    })
  await writeFile(join(cli.folder, 'sources.yaml'), define(KEY))
  const server = await cli.serve('--sources', 'sources.yaml')
  expect(server.output()).toContain('+ realm shop')
  await server.stop()
  await writeFile(join(cli.folder, 'empty.txt'), '# no key\n')
  await writeFile(join(cli.folder, 'sources.yaml'), define('empty.txt'))
  const refused = await cli.serve('--sources', 'sources.yaml', '--age-key-file', KEY)
  expect(refused.output()).toContain('has no key: write a line with AGE-SECRET-KEY-…')
}, 60_000)
