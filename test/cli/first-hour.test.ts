// First steps of a new user, with a running server and without.
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminFlags, type CommandFolder, callAsAdmin, createCommandFolder } from '../support/cli.ts'
import { committer, createRepository } from '../support/git.ts'
import { readSteps } from '../support/pages.ts'
import { isFullRun } from '../support/property-options.ts'

const root = join(import.meta.dirname, '..', '..')
const examples = join(root, 'examples')
let at: CommandFolder

beforeEach(async () => {
  at = await createCommandFolder()
})
afterEach(() => at.remove())

const file = (name: string) => join(at.folder, name)
const edit = async (name: string, from: string, to: string) =>
  writeFile(file(name), (await readFile(file(name), 'utf8')).replace(from, to))

test('the pages lead from git init to a realm that follows pushes, and to a reviewed plan', async () => {
  const repository = await createRepository(at.folder)
  const SOURCE = /^file:\/\/(.*)\.git$/.exec(repository.url)![1]!
  const shell = (line: string) => at.shell(line, { ...committer, REPOSITORY: repository.url, SOURCE })
  const commandsOf = (page: string) =>
    readSteps(page)
      .map(({ commands }) => commands)
      .filter(({ length }) => length > 0)
  const [create, follow] = commandsOf('docs/gitops.md')

  await all(shell, create!)
  expect(await shell(create![1]!)).toMatchObject({ code: 1, err: expect.stringContaining('exists already') })
  const checked = await all(shell, ['regent validate realms', 'regent lint realms'])
  expect(checked).toContain('realm my-realm: 2 objects, valid')
  expect(checked).toContain('No findings.')
  const first = await all(shell, ['regent plan realms', 'regent apply realms'])
  expect(first).toContain('+ client my-app')
  expect(first).toContain('Applied: 2 created')

  await all(shell, follow!.slice(0, -1))
  const serve = follow!.at(-1)!.replaceAll('"', '').replace('$REPOSITORY', repository.url).split(' ')
  expect(serve.splice(0, 2)).toEqual(['regent', 'serve'])
  const server = await at.serve(...serve, '--source-interval', '1')
  expect(server.output()).toContain('Nothing to do.')

  await edit('realms/my-realm.yaml', 'name: My app', 'name: My shop')
  const [plan, applied] = commandsOf('docs/pull-requests.md').flat()
  expect(await shell(plan!)).toMatchObject({ code: 2, err: '' })
  expect(await readFile(file('comment.md'), 'utf8')).toContain('- name: My app\n+ name: My shop\n')
  expect(await shell(applied!)).toMatchObject({ code: 0, out: expect.stringContaining('~ client my-app') })
  expect(await shell(applied!)).toMatchObject({ code: 1, err: expect.stringContaining('was applied already') })
  const pushed = server.until('My shop → My store')
  await edit('realms/my-realm.yaml', 'name: My shop', 'name: My store')
  await all(shell, [
    'git -C realms commit --quiet --all --message Rename',
    `git -C realms push --quiet "$REPOSITORY" main`,
  ])
  await pushed

  // Each command finds the server by its folder.
  expect(await at.run('plan', 'realms', '--detailed-exitcode')).toMatchObject({ code: 0 })
  expect(await at.run('drift')).toMatchObject({ code: 0, out: expect.stringContaining('No drift') })
  await writeFile(file('out.yaml'), (await at.run('export', 'my-realm')).out)
  expect(await at.run('plan', 'out.yaml', '--name', SOURCE, '--output', 'json')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"actions": \[\]/),
  })
  const token = (await at.run('token', ...(at.database ? ['--server', server.url] : []))).out.trim()
  const response = await fetch(`${server.url}/admin/realms/my-realm/clients?clientId=my-app`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await response.json()).toMatchObject([{ clientId: 'my-app', name: 'My store' }])
})

test('lint reports weak settings, and fails only with --strict', async () => {
  await writeFile(file('weak.yaml'), 'realm: weak # regent-lint: allow weak-passwords\nsslRequired: none\n')
  expect(await at.run('lint', 'weak.yaml')).toMatchObject({ code: 0, out: expect.stringContaining('2 findings.') })
  expect(await at.run('lint', 'weak.yaml', '--strict')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^weak.yaml:2:1: realm weak: .* \(no-tls\)$/m),
  })
})

async function all(
  shell: (line: string) => ReturnType<CommandFolder['run']>,
  lines: readonly string[],
): Promise<string> {
  let output = ''
  for (const line of lines) {
    const { code, out, err } = await shell(line)
    expect({ line, code, err: code ? err : '' }).toEqual({ line, code: 0, err: '' })
    output += out
  }
  return output
}

test.runIf(isFullRun)('export --dir writes a file for each object, and the plan of the folder is empty', async () => {
  await at.run('init', 'my-realm.yaml')
  await at.run('apply', 'my-realm.yaml')
  expect(await at.run('export', 'my-realm', '--dir', 'out')).toMatchObject({ code: 0, out: 'Wrote 2 files to out.\n' })
  expect(await readFile(file('out/clients/my-app.yaml'), 'utf8')).toMatch(
    /^# yaml-language-server: \$schema=..\/.realm.schema.json\nrealm: my-realm\nclients:\n {2}- clientId: my-app\n/,
  )
  expect(await at.run('plan', 'out')).toMatchObject({ code: 0, out: expect.stringContaining('Nothing to do.') })
  // With secrets, the files are readable by their owner only.
  await at.run('export', 'my-realm', '--dir', 'out', '--secrets')
  expect((await stat(file('out/clients/my-app.yaml'))).mode & 0o777).toBe(0o600)
})

test('a server applies its folder and follows edits, and commands in the folder call it', async () => {
  // The top of a repository, as in a clone.
  await mkdir(file('.git'))
  await cp(examples, file('examples'), { recursive: true })
  const server = await at.serve()
  expect(server.output()).toMatch(/Log in: {2}admin \/ admin/)
  expect(server.output()).toContain('+ client shop')
  const login = { grant_type: 'password', client_id: 'acme-cli', username: 'ann', password: 'acme-example-1' }
  const tokens = await fetch(`${server.url}/realms/acme/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(login),
  })
  expect(tokens.status).toBe(200)

  let output = server.until('Applied: 0 created, 1 updated')
  await edit('examples/acme.yaml', 'displayName: ACME', 'displayName: ACME Incorporated')
  expect(await output).toMatch(/~ realm acme {2}examples\/acme.yaml:4:1\n +displayName: ACME → ACME Incorporated\n/)

  output = server.until('did you mean')
  await edit('examples/acme.yaml', 'displayName:', 'displyName:')
  expect(await output).toMatch(/examples\/acme.yaml:6:1: .*displyName.*did you mean displayName\?/)
  output = server.until('acme')
  await edit('examples/acme.yaml', 'displyName:', 'displayName:')
  await output

  const { body: clients } = await callAsAdmin<{ id: string }[]>(server.url, { path: '/acme/clients?clientId=shop' })
  const { status } = await callAsAdmin(server.url, {
    method: 'PUT',
    path: `/acme/clients/${clients[0]!.id}`,
    body: { name: 'Changed' },
  })
  expect(status).toBe(204)

  // With PGlite the folder is in use: the command calls the server that its lock names.
  const drift = await at.run('drift')
  expect(drift.out.replace(/\s+/g, ' ')).toMatch(/client shop name Web shop → Changed admin via admin-cli/)
  expect((await at.run('plan', 'examples')).out).toMatch(
    /name: Changed → Web shop {2}corrects a change by admin via admin-cli/,
  )
  expect(await at.run('apply', 'examples')).toMatchObject({ code: 0, out: expect.stringContaining('~ client shop') })
  expect((await at.run('drift', ...adminFlags(server.url))).out).toContain('No drift')
  expect(await server.stop()).toBe(0)
  expect(await at.run('drift')).toMatchObject({ code: 0, out: expect.stringContaining('No drift') })
})

test.runIf(isFullRun)('admin-password sets a lost password of the administrator in the store', async () => {
  const flags = (password: string) => ['--user', 'admin', '--password', password]
  let server = await at.serve('--source', '')
  await server.stop()
  await writeFile(file('password'), 'another password\n')
  expect(await at.run('admin-password', '--new-password-file', 'password')).toMatchObject({
    code: 0,
    out: 'The user admin of the master realm has a new password and the role admin.\n',
  })
  const missing =
    'There is no user rescue in the master realm. To create it as an administrator of all realms, pass --create.\n'
  expect(await at.run('admin-password', 'rescue', '--new-password-file', 'password')).toMatchObject({
    code: 1,
    err: missing,
  })
  expect(await at.run('admin-password', 'rescue', '--create', '--new-password-file', 'password')).toMatchObject({
    code: 0,
    out: 'Created rescue in the master realm, as an administrator of all realms.\n',
  })
  server = await at.serve('--source', '')
  expect(await at.run('token', '--server', server.url, ...flags('admin'))).toMatchObject({
    code: 1,
    err: `admin cannot log in at ${server.url}, realm master: Invalid user credentials. Check user, password and --login-realm.\n`,
  })
  expect(await at.run('token', '--server', server.url, ...flags('another password'))).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ey/),
  })
  expect(await server.stop()).toBe(0)
})

test.runIf(isFullRun)('admin-password changes the password of the administrator on a running server', async () => {
  const server = await at.serve('--source', '')
  const flags = (password: string) => ['--server', server.url, '--user', 'admin', '--password', password]
  const change = (user: string, ...more: string[]) => at.run('admin-password', user, ...flags('admin'), ...more)
  expect(await change('nobody', '--new-password', 'x')).toMatchObject({
    code: 1,
    err: 'There is no user nobody in the master realm. To create it as an administrator of all realms, pass --create.\n',
  })
  expect(await change('deputy', '--create', '--new-password', 'x')).toMatchObject({ code: 0 })
  const asDeputy = ['--server', server.url, '--user', 'deputy', '--password', 'x']
  expect(await at.run('get', 'master/clients', ...asDeputy)).toMatchObject({ code: 0 })
  expect(await change('admin', '--new-password', '')).toMatchObject({
    code: 1,
    err: 'The password must not be empty.\n',
  })
  expect(await change('admin', '--new-password', 'another')).toMatchObject({
    code: 0,
    out: 'The user admin of the master realm has a new password.\n',
  })
  expect(await at.run('token', ...flags('admin'))).toMatchObject({
    code: 1,
    err: `admin cannot log in at ${server.url}, realm master: Invalid user credentials. Check user, password and --login-realm.\n`,
  })
  expect(await at.run('token', ...flags('another'))).toMatchObject({ code: 0 })
  expect(await server.stop()).toBe(0)
})

test.runIf(isFullRun)('an object that moves from one source of a realm to another keeps its id', async () => {
  const client = (name: string) => `realm: shared\nclients:\n  - clientId: ${name}\n`
  await writeFile(file('one.yaml'), `${client('moving')}  - clientId: staying\n`)
  await writeFile(file('two.yaml'), client('other'))
  const resource = (name: string) =>
    `---\napiVersion: regent.dev/v1alpha1\nkind: RealmSource\nmetadata: { name: ${name} }\nspec: { path: ${name}.yaml }\n`
  await writeFile(file('sources.yaml'), resource('one') + resource('two'))
  const server = await at.serve('--sources', 'sources.yaml')
  const idOf = async (name: string) =>
    (JSON.parse((await at.run('get', `shared/clients?clientId=${name}`)).out) as { id: string }[])[0]?.id
  const before = await idOf('moving')
  expect(await idOf('other')).toBeDefined()
  await server.stop()
  await writeFile(file('one.yaml'), client('staying'))
  await writeFile(file('two.yaml'), `${client('other')}  - clientId: moving\n`)
  await at.serve('--sources', 'sources.yaml')
  expect(await idOf('moving')).toBe(before)
})

test('get prints workflows as JSON, with a running server and without', async () => {
  const workflows = '[{ name: w, steps: [{ uses: disable-user, after: 30d }] }]'
  await writeFile(file('realm.yaml'), `realm: shop\nworkflows: ${workflows}\n`)
  expect(await at.run('apply', 'realm.yaml', '--name', 'shop')).toMatchObject({ code: 0 })
  const get = async (...flags: string[]) => JSON.parse((await at.run('get', 'shop/workflows', ...flags)).out)
  const printed = await get()
  expect(printed).toMatchObject([{ name: 'w', steps: [{ uses: 'disable-user', after: '30d' }] }])
  await at.run('admin-password', '--create', '--new-password', 'admin')
  const server = await at.serve('--source', '')
  expect(await get(...adminFlags(server.url))).toEqual(printed)
  expect(await server.stop()).toBe(0)
})
