// What a new user does, with the server running and without it.
import { cp, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { committer, createRepository } from '../support/git.ts'
import { isFullRun } from '../support/property-options.ts'

const root = join(import.meta.dirname, '..', '..')
const examples = join(root, 'examples')
const readme = join(root, 'README.md')
let at: CommandFolder

beforeEach(async () => {
  at = await createCommandFolder()
})
afterEach(() => at.remove())

const file = (name: string) => join(at.folder, name)
const edit = async (name: string, from: string, to: string) =>
  writeFile(file(name), (await readFile(file(name), 'utf8')).replace(from, to))

test('the README leads from git init to a realm that follows pushes, with its own commands', async () => {
  const repository = await createRepository(at.folder)
  const shell = (line: string) => at.shell(line, { ...committer, REPOSITORY: repository.url })
  const blocks = [...(await readFile(readme, 'utf8')).matchAll(/^```sh\n(.*?)^```/gms)].map(([, text]) => text!.trim())
  const [begin, apply, follow, review] = blocks.map((text) => text.split('\n'))

  const started = await all(shell, begin!)
  expect(started).toContain('realm my-realm: 2 objects, valid')
  expect(started).toContain('No findings.')
  expect(await shell(begin![1]!)).toMatchObject({ code: 1, err: expect.stringContaining('exists already') })
  const first = await all(shell, apply!)
  expect(first).toContain('+ client my-app')
  expect(first).toContain('Applied: 2 created')

  const serve = follow!.pop()!.replaceAll('"', '').replace('$REPOSITORY', repository.url).split(' ')
  expect(serve.splice(0, 2)).toEqual(['regent', 'serve'])
  await all(shell, follow!)
  const server = await at.serve(...serve, '--source-interval', '1')
  expect(server.output()).toContain('Nothing to do.')

  await edit('realms/my-realm.yaml', 'name: My app', 'name: My shop')
  const [plan, applied] = review!
  expect(await shell(plan!)).toMatchObject({ code: 2, err: '' })
  expect(await readFile(file('comment.md'), 'utf8')).toContain(
    '| `name` | `My app → My shop` | `realms/my-realm.yaml:11:5` |',
  )
  expect(await shell(applied!)).toMatchObject({ code: 0, out: expect.stringContaining('name: My app → My shop') })
  expect(await shell(applied!)).toMatchObject({ code: 1, err: expect.stringContaining('was applied already') })
  const pushed = server.until('My shop → My store')
  await edit('realms/my-realm.yaml', 'name: My shop', 'name: My store')
  await all(shell, [
    'git -C realms commit --quiet --all --message Rename',
    `git -C realms push --quiet "$REPOSITORY" main`,
  ])
  await pushed

  // Each command finds the server by its folder.
  expect(await at.run('plan', 'realms', '--name', repository.url, '--detailed-exitcode')).toMatchObject({ code: 0 })
  expect(await at.run('drift')).toMatchObject({ code: 0, out: expect.stringContaining('No drift') })
  await writeFile(file('out.yaml'), (await at.run('export', 'my-realm')).out)
  expect(await at.run('plan', 'out.yaml', '--output', 'json')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"actions": \[\]/),
  })
  const token = (await at.run('token', ...(at.database ? ['--server', server.url] : []))).out.trim()
  const answer = await fetch(`${server.url}/admin/realms/my-realm/clients?clientId=my-app`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await answer.json()).toMatchObject([{ clientId: 'my-app', name: 'My store' }])
})

test('lint tells what is advised against, and fails only where that is demanded', async () => {
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
  let said = ''
  for (const line of lines) {
    const { code, out, err } = await shell(line)
    expect({ line, code, err: code ? err : '' }).toEqual({ line, code: 0, err: '' })
    said += out
  }
  return said
}

test.runIf(isFullRun)('an export into a folder has a file for each object, and plans to nothing', async () => {
  await at.run('init', 'my-realm.yaml')
  await at.run('apply', 'my-realm.yaml')
  expect(await at.run('export', 'my-realm', '--dir', 'out')).toMatchObject({ code: 0, out: 'Wrote 2 files to out.\n' })
  expect(await readFile(file('out/clients/my-app.yaml'), 'utf8')).toMatch(
    /^# yaml-language-server: \$schema=..\/.realm.schema.json\nrealm: my-realm\nclients:\n {2}- clientId: my-app\n/,
  )
  expect(await at.run('plan', 'out')).toMatchObject({ code: 0, out: expect.stringContaining('Nothing to do.') })
  // With secrets the same files are for their owner only.
  await at.run('export', 'my-realm', '--dir', 'out', '--secrets')
  expect((await stat(file('out/clients/my-app.yaml'))).mode & 0o777).toBe(0o600)
})

test('with the server: it applies its folder, follows edits, and commands find it by themselves', async () => {
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

  let next = server.until('Applied: 0 created, 1 updated')
  await edit('examples/acme.yaml', 'displayName: ACME', 'displayName: ACME Incorporated')
  expect(await next).toMatch(/displayName: ACME → ACME Incorporated {2}examples\/acme.yaml:6:1/)

  next = server.until('did you mean')
  await edit('examples/acme.yaml', 'displayName:', 'displyName:')
  expect(await next).toMatch(/examples\/acme.yaml:6:1: .*displyName.*did you mean displayName\?/)
  next = server.until('acme')
  await edit('examples/acme.yaml', 'displyName:', 'displayName:')
  await next

  const flags = ['--server', server.url, '--user', 'admin', '--password', 'admin']
  const token = (await at.run('token', ...flags)).out.trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const clients = `${server.url}/admin/realms/acme/clients`
  const [shop] = (await (await fetch(`${clients}?clientId=shop`, { headers })).json()) as { id: string }[]
  const answer = await fetch(`${clients}/${shop!.id}`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ name: 'Theirs' }),
  })
  expect(answer.status).toBe(204)

  // On PGlite the folder is in use: the command finds the server that its lock names.
  const drift = await at.run('drift')
  expect(drift.out.replace(/\s+/g, ' ')).toMatch(/client shop │ name │ Web shop → Theirs │ admin by admin-cli/)
  expect(await at.run('apply', 'examples')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/name: Theirs → Web shop {2}corrects a change by admin by admin-cli/),
  })
  expect((await at.run('drift', ...flags)).out).toContain('No drift')
  expect(await server.stop()).toBe(0)
  expect(await at.run('drift')).toMatchObject({ code: 0, out: expect.stringContaining('No drift') })
})

test.runIf(isFullRun)('a lost password of the administrator is set anew on the store', async () => {
  const flags = (password: string) => ['--user', 'admin', '--password', password]
  let server = await at.serve('--source', '')
  await server.stop()
  await writeFile(file('password'), 'another\n')
  expect(await at.run('admin-password', '--new-password-file', 'password')).toMatchObject({ code: 0 })
  server = await at.serve('--source', '')
  expect(await at.run('token', '--server', server.url, ...flags('admin'))).toMatchObject({
    code: 1,
    err: `admin cannot log in at ${server.url}: Invalid user credentials\n`,
  })
  expect(await at.run('token', '--server', server.url, ...flags('another'))).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ey/),
  })
  expect(await server.stop()).toBe(0)
})

test.runIf(isFullRun)('an administrator changes their password on the running server', async () => {
  const server = await at.serve('--source', '')
  const flags = (password: string) => ['--server', server.url, '--user', 'admin', '--password', password]
  const change = (user: string, ...more: string[]) => at.run('admin-password', user, ...flags('admin'), ...more)
  expect(await change('nobody', '--new-password', 'x')).toMatchObject({
    code: 1,
    err: 'There is no user nobody in the master realm.\n',
  })
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
    err: `admin cannot log in at ${server.url}: Invalid user credentials\n`,
  })
  expect(await at.run('token', ...flags('another'))).toMatchObject({ code: 0 })
  expect(await server.stop()).toBe(0)
})

test.runIf(isFullRun)('sources of one realm go together: what moves from one to the other stays', async () => {
  const client = (name: string) => `realm: shared\nclients:\n  - clientId: ${name}\n`
  await writeFile(file('one.yaml'), `${client('moving')}  - clientId: staying\n`)
  await writeFile(file('two.yaml'), client('other'))
  const server = await at.serve('--source', 'one.yaml', '--source', 'two.yaml')
  const idOf = async (name: string) =>
    (JSON.parse((await at.run('get', `shared/clients?clientId=${name}`)).out) as { id: string }[])[0]?.id
  const before = await idOf('moving')
  expect(await idOf('other')).toBeDefined()
  await server.stop()
  await writeFile(file('one.yaml'), client('staying'))
  await writeFile(file('two.yaml'), `${client('other')}  - clientId: moving\n`)
  await at.serve('--source', 'one.yaml', '--source', 'two.yaml')
  expect(await idOf('moving')).toBe(before)
})
