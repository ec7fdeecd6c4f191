// Errors of commands: each exits with 1, names the next step, and changes nothing.
import { once } from 'node:events'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import type { CommandEntry } from '../../src/cli/command-entry.ts'
import { commands } from '../../src/cli/commands.ts'
import { lockFolder } from '../../src/store/database/folder-lock.ts'
import { adminFlags, type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(() => cli.remove())

const createStore = () => cli.run('admin-password', '--create', '--new-password', 'x')

const failedWith = (err: string | RegExp) => ({
  code: 1,
  err: typeof err === 'string' ? `${err}\n` : expect.stringMatching(err),
})

test('serve fails if the port is in use', async () => {
  const listener = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  const { port } = listener.address() as { port: number }
  expect(await cli.run('serve', '--port', String(port), '--source', '')).toMatchObject(
    failedWith(
      new RegExp(`Port ${port} is in use. Stop the process that listens on it, or choose another with --port`),
    ),
  )
  listener.close()
})

test.skipIf(inject('databaseUrl'))('serve fails if another server has the data folder open', async () => {
  const server = await cli.serve('--source', '')
  expect(await cli.run('serve', '--port', '0', '--source', '')).toMatchObject(
    failedWith(new RegExp(`data is in use by another process, which serves ${server.url}`)),
  )
  await server.stop()
})

test('a command prints the request id of an unexpected error of the server', async () => {
  let body = '{"error":"unknown_error","error_description":"For more on this error consult the server log: r-1"}'
  const failing = createServer((_request, response) => {
    response.writeHead(500, { 'content-type': 'application/json', 'x-request-id': 'r-1' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(failing, 'listening')
  const { port } = failing.address() as { port: number }
  const drift = () => cli.run('drift', '--server', `http://127.0.0.1:${port}`, '--token', 'x')
  expect(await drift()).toMatchObject(failedWith('For more on this error consult the server log: r-1'))
  body = ''
  expect(await drift()).toMatchObject(failedWith('The server returned status 500. The request id is r-1.'))
  failing.close()
})

test('a command fails if no server responds', async () => {
  expect(await cli.run('drift', '--server', 'http://127.0.0.1:1', '--token', 'x')).toMatchObject(
    failedWith(/No server responds at http:\/\/127.0.0.1:1 .*\. Start it with "regent serve"/),
  )
})

test('a server that redirects to another gets no second request', async () => {
  const redirecting = createServer((_request, response) =>
    response.writeHead(307, { location: 'http://b.test/' }).end(),
  )
  redirecting.listen(0, '127.0.0.1')
  await once(redirecting, 'listening')
  const { port } = redirecting.address() as { port: number }
  expect(await cli.run('drift', '--server', `http://127.0.0.1:${port}`, '--token', 'x')).toMatchObject(
    failedWith(new RegExp(`http://127.0.0.1:${port} redirects to http://b.test/. Pass that URL with --server`)),
  )
  redirecting.close()
})

test('a command fails without credentials for the server', async () => {
  expect(await cli.run('drift', '--server', 'http://127.0.0.1:1')).toMatchObject(
    failedWith(/requires credentials. Pass --token, or --user and --password/),
  )
})

test('a command fails if the database does not respond', async () => {
  await writeFile(join(cli.folder, 'key'), Buffer.alloc(32, 7).toString('base64url'))
  expect(await cli.run('drift', '--database', 'postgres://x:y@127.0.0.1:1/z', '--key-file', 'key')).toMatchObject(
    failedWith(/The database at 127.0.0.1:1 does not respond. Start it, or name another with --database/),
  )
})

test('invalid documents are refused by position, and the store does not change', async () => {
  const server = await cli.serve('--source', '')
  const flags = adminFlags(server.url)
  const good = 'realm: shop\nclients:\n  - clientId: web\n'
  await writeFile(join(cli.folder, 'realm.yaml'), good)
  await cli.run('apply', 'realm.yaml', ...flags)
  const before = (await cli.run('export', 'shop', '--ids', '--secrets', ...flags)).out
  const cases: [text: string, problem: RegExp][] = [
    [`${good}    enabled: perhaps\n`, /^realm.yaml:4:5: client web: enabled must be true or false/],
    [`${good}    defaultClientScopes: [nowhere]\n`, /^realm.yaml:4:27: client web: .*client scope nowhere/],
  ]
  for (const [text, problem] of cases) {
    await writeFile(join(cli.folder, 'realm.yaml'), text)
    expect(await cli.run('apply', 'realm.yaml', ...flags)).toMatchObject(failedWith(problem))
  }
  expect((await cli.run('export', 'shop', '--ids', '--secrets', ...flags)).out).toBe(before)
  await server.stop()
})

test('a missing file and an unknown command are errors', async () => {
  expect(await cli.run('plan', 'nowhere.yaml')).toMatchObject(failedWith('nowhere.yaml: no such file or folder'))
  expect(await cli.run('aply', 'x.yaml')).toMatchObject(failedWith(/Unknown command 'aply'/))
})

test('a path instead of a realm is refused by each command, and a missing address is reported', async () => {
  const listCommands = (entries: readonly CommandEntry[]): readonly CommandEntry[] =>
    entries.flatMap((entry) => [entry, ...listCommands(entry.commands ?? [])])
  const realmArguments = listCommands(commands)
    .flatMap(({ arguments: list = [] }) => list)
    .filter((argument) => argument.name() === 'realm')
  expect(realmArguments.length).toBeGreaterThan(8)
  for (const argument of realmArguments)
    expect(() => argument.parseArg!('acme/clients/web', undefined)).toThrow('Separate a path from it by a space.')
  expect(await cli.run('why', 'acme/clients/web')).toMatchObject(
    failedWith(/The argument <realm> cannot be acme\/clients\/web\. The name of a realm has no slash\./),
  )
  await writeFile(join(cli.folder, 'realm.yaml'), 'realm: acme\ndisplayName: Acme\n')
  await cli.run('apply', 'realm.yaml')
  expect(await cli.run('why', 'acme')).toMatchObject({ code: 0, out: expect.stringContaining('displayName: Acme') })
  expect(await cli.run('get', 'acme/nowhere')).toMatchObject(
    failedWith('There is nothing at /admin/realms/acme/nowhere. Check the path and the names in it.'),
  )
})

test('production mode requires its settings', async () => {
  expect(await cli.run('serve', '--production', '--source', '')).toMatchObject(
    failedWith(/--hostname \(REGENT_HOSTNAME\): required in production mode/),
  )
})

test.skipIf(inject('databaseUrl') || !isFullRun)(
  'the key file of the embedded store is created once, readable by its owner only',
  async () => {
    const file = join(cli.folder, 'data', 'key')
    await createStore()
    const key = await readFile(file, 'utf8')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await cli.run('drift')
    expect(await readFile(file, 'utf8')).toBe(key)
    expect((await stat(join(cli.folder, 'data'))).mode & 0o777).toBe(0o700)

    await rename(file, join(cli.folder, 'kept'))
    expect(await cli.run('drift')).toMatchObject(
      failedWith(/Without the key the secrets in the store are lost. Restore the file/),
    )
    await writeFile(file, Buffer.alloc(32, 7).toString('base64url'))
    expect(await cli.run('drift')).toMatchObject(
      failedWith(/protected by the key \w+, but the key file contains the key \w+\. Name the/),
    )
    expect(await cli.run('drift', '--key-file', 'kept')).toMatchObject({ code: 0 })
  },
)

test.skipIf(!inject('databaseUrl'))('the key file of a database is never created', async () => {
  await createStore()
  await writeFile(join(cli.folder, 'other'), Buffer.alloc(32, 7).toString('base64url'))
  expect(await cli.run('drift', '--key-file', 'nowhere')).toMatchObject(failedWith(/nowhere cannot be read \(ENOENT\)/))
  expect(await cli.run('drift', '--database', cli.database!, '--key-file', '')).toMatchObject(
    failedWith(/A database requires a key. .*openssl rand/),
  )
  expect(await cli.run('drift', '--key-file', 'other')).toMatchObject(
    failedWith(/protected by the key \w+, but the key file contains the key \w+\. Name the/),
  )
})

test.runIf(isFullRun)('replace-key keeps the content of the store', async () => {
  await writeFile(join(cli.folder, 'realm.yaml'), 'realm: kept\nclients: [{ clientId: shop, secret: hush }]\n')
  await cli.run('apply', 'realm.yaml')
  await writeFile(join(cli.folder, 'next'), Buffer.alloc(32, 9).toString('base64'))
  expect(await cli.run('replace-key', '--new-key-file', 'nowhere')).toMatchObject(failedWith(/nowhere cannot be read/))
  expect(await cli.run('replace-key', '--new-key-file', 'next', '--yes')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^The store now requires the key in next. Replace \S+key with it on every replica./),
  })
  expect(await cli.run('drift')).toMatchObject(
    failedWith(/protected by the key \w+, but the key file contains the key \w+\. Name the/),
  )
  expect(await cli.run('plan', 'realm.yaml', '--key-file', 'next', '--detailed-exitcode')).toMatchObject({ code: 0 })
  expect((await cli.run('export', 'kept', '--secrets', '--key-file', 'next')).out).toContain('secret: hush')
})

test('credentials are not sent to another machine named by a data folder', async () => {
  const folder = join(cli.folder, 'd')
  await mkdir(join(folder, 'pglite'), { recursive: true })
  await writeFile(join(folder, 'key'), Buffer.alloc(32, 7).toString('base64url'))
  const lock = await lockFolder(folder)
  await lock.announce('http://192.0.2.1:8080')
  expect(await cli.run('drift', '--data', 'd', '--user', 'ann', '--password', 'x')).toMatchObject(
    failedWith(
      /d is in use by another process, which serves http:\/\/192\.0\.2\.1:8080.*\. To use it, pass its URL with --server/,
    ),
  )
  lock.release()
})

test('admin-password on a server requires credentials', async () => {
  expect(await cli.run('admin-password', '--server', 'http://127.0.0.1:1', '--new-password', 'x')).toMatchObject(
    failedWith(/http:\/\/127\.0\.0\.1:1 requires credentials. Pass --token, or --user and --password/),
  )
  expect(await cli.run('admin-password', '--create', '--data', 'd', '--new-password-file', 'missing')).toMatchObject(
    failedWith(/The password file missing cannot be read \(ENOENT\)/),
  )
})

test('a folder that cannot be created is reported with its path', async () => {
  await writeFile(join(cli.folder, 'file'), '')
  await writeFile(join(cli.folder, 'realm.yaml'), 'realm: acme\n')
  expect(await cli.run('apply', 'realm.yaml', '--name', 'acme', '--data', 'file/data')).toMatchObject(
    failedWith(
      /The folder file\/data cannot be created \(ENOTDIR\). Check the path and its permissions, or pass another folder\.\n$/,
    ),
  )
  expect(await cli.run('init', 'nowhere/realm.yaml')).toMatchObject(
    failedWith('There is no folder nowhere (ENOENT). Create it, or pass another file name.'),
  )
})

test('an invalid token is reported with the flags that replace it', async () => {
  const server = await cli.serve('--source', '')
  expect(await cli.run('drift', '--server', server.url, '--token', 'x')).toMatchObject(
    failedWith(/^HTTP 401 Unauthorized: the access token is invalid or has expired\. Pass a new one with --token/),
  )
  await server.stop()
})

test('admin-password reports a short password', async () => {
  const setPassword = (password: string) => cli.run('admin-password', '--create', '--new-password', password)
  const message = 'The password has fewer than 8 characters. Choose a longer one, unless this is a test.'
  expect(await setPassword('1234567')).toMatchObject({ code: 0, err: expect.stringContaining(message) })
  expect(await setPassword('12345678')).toMatchObject({ code: 0, err: '' })
})

test('admin-password without a password fails at the end of the input', async () => {
  expect(await cli.shell('regent admin-password --create --data d < /dev/null', {})).toMatchObject(
    failedWith(/Pass the password with --new-password-file or REGENT_NEW_PASSWORD\.\n$/),
  )
})

test.skipIf(!inject('databaseUrl'))('serve --production fails if the store has no administrator', async () => {
  const start = ['serve', '--port', '0', '--production', '--hostname', 'http://127.0.0.1:1', '--source', '']
  expect(await cli.run(...start)).toMatchObject(failedWith(/This store has no administrator. Pass --admin-user/))
  await cli.run('admin-password', 'root', '--create', '--new-password', 'x')
  const server = await cli.serve(...start.slice(3))
  expect(await server.stop()).toBe(0)
})
